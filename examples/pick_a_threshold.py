"""Pick a threshold for your reranker: below which score should a result not be shown?"""

import numpy as np

import ranksift as rs
from ranksift.datasets.synthetic import synthetic_collection

GAINS = {-2: -10}  # what a forbidden result costs: as much as five of the best results give

# Replace this with your own: a row for each result, with its query, its score, and a label where somebody judged it.
qrels, runs = synthetic_collection(queries=300, depth=8, judged=8)
table = runs["weak"].to_frame().join(qrels.to_frame(), on=["query_id", "doc_id"], how="left")
lists = rs.Lists.from_arrays(
    table["score"].to_numpy(), table["label"].to_numpy(), table["query_id"].to_numpy(), gains=GAINS
)

cut = rs.GlobalCutoff("nDCG_f@5").fit_lists(lists)
expected = cut.cross_validated(lists)  # on queries that a threshold was not fitted to
low, high, _ = cut.interval(lists)
kept = cut.keep_lists(lists)
forbidden, good = lists.gain < 0, lists.gain > 0

print(
    f"Show results from a score of {cut.threshold_:.1f} on ({low:.1f} to {high:.1f} with other queries): "
    f"that leaves out {np.mean(~kept[forbidden]):.0%} of the forbidden results and "
    f"{np.mean(~kept[good]):.0%} of the good ones, and on new queries "
    f"nDCG_f@5 is {expected.value:.2f} instead of {expected.keep_all:.2f}."
)

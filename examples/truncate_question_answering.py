"""Truncate a QA system: where should a list of answers end, and which questions should get none?"""

import warnings

import numpy as np

import ranksift as rs
from ranksift import study
from ranksift.datasets.synthetic import synthetic_collection

warnings.simplefilter("ignore", rs.RankSiftWarning)  # nothing is forbidden here, and empty lists are meant

# Replace this with your own: answers with their scores, judged right (1) or wrong (0). Some questions have no answer.
qrels, runs = synthetic_collection(queries=400, depth=10, judged=10, forbidden=0.5)
answers = {q: {doc: int(label > 0) for doc, label in judged.items()} for q, judged in qrels.to_dict().items()}
system = runs["weak"].to_dict()

# The threshold is learned from half of the questions and evaluated on the others. AP_qwa gives credit for a list
# that ends in time, and for an empty one where there is no answer.
asked = sorted(answers)
learn, test = asked[::2], asked[1::2]
cut = rs.GlobalCutoff("AP_qwa").fit_run({q: answers[q] for q in learn}, {q: system[q] for q in learn})

truth, whole = {q: answers[q] for q in test}, {q: system[q] for q in test}
ends = {q: {doc: score for doc, score in found.items() if score >= cut.threshold_} for q, found in whole.items()}
both = {"whole": whole, "truncated": ends}
value = rs.evaluate(truth, both, "AP_qwa").mean_of("AP_qwa")
right = study.truncation(truth, both).nil_accuracy
without = np.mean([not any(truth[q].values()) for q in test])

print(
    f"End each list where scores fall below {cut.threshold_:.1f}: on {len(test)} other questions AP_qwa rises from "
    f"{value['whole']:.2f} to {value['truncated']:.2f}, and whether there is an answer ({without:.0%} have none) is "
    f"right for {right['truncated']:.0%} of them instead of {right['whole']:.0%}."
)

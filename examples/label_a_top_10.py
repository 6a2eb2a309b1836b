"""Label a top 10 and learn from it: ask people which of two is better, and train a ranker on the answers."""

import ranksift as rs
from ranksift.datasets.synthetic import synthetic_collection, synthetic_safety
from ranksift.labelling.simulation import SimulatedAssessor, Truth, label

K, MANY = 10, {"queries": 120, "depth": 30, "judged": 30}

# Replace this with your own: what is known of each document (scores of two engines and of a classifier of spam).
qrels, runs = synthetic_collection(**MANY)
known = [runs["unfiltered"].to_dict(), runs["weak"].to_dict(), synthetic_safety(**MANY).to_dict()]

# Simulated assessors stand in for people: they flag spam, and are wrong about one pair in twenty. The command
# `ranksift label serve` asks real ones, with the same strategy.
rows, labels, groups, questions = [], [], [], 0
for query, grades in qrels.to_dict().items():
    docs = list(grades)
    worth = {doc: grade + known[0][query][doc] / 100 for doc, grade in grades.items()}
    assessor = SimulatedAssessor(Truth(worth, frozenset(doc for doc in docs if grades[doc] < 0)), noise=0.05)
    state, _ = label("tournament", docs, assessor, k=K)
    questions += state.judgments
    found = rs.topk_labels(state.order, K) | dict.fromkeys(state.forbidden, -1)
    rows += [[scores[query][doc] for scores in known] for doc in docs]
    labels += [found[doc] for doc in docs]
    groups += [query] * len(docs)

learn, validate, test = rs.learning.three_parts(rs.Examples.from_arrays(rows, labels, groups))
model = rs.learning.LambdaMARTf(gains={-1: -10}, measure=f"nDCG_f@{K}").fit(learn, validate)
ours, engine = model.rank(test, name="ours"), test.run(test.features[:, 0], name="engine")
value = rs.evaluate(test.qrels(), [engine, ours], [f"kNDCG@{K}", f"Fdocs@{K}"])
ranked, spam = value.mean_of(f"kNDCG@{K}"), value.mean_of(f"Fdocs@{K}")

queries = len(qrels.query_ids)
print(
    f"{questions / queries:.0f} questions per query ordered its top {K} of {len(rows) / queries:.0f}; on "
    f"{len(test.query_ids)} new queries the ranker that learned from them has kNDCG@{K} {ranked['ours']:.2f} "
    f"(the engine {ranked['engine']:.2f}) and {spam['ours']:.0%} spam in its top {K} (the engine {spam['engine']:.0%})."
)

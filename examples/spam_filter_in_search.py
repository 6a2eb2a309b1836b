"""Evaluate a spam filter in search: is it worth what it hides, and from which price of spam on?"""

import ranksift as rs
from ranksift.datasets.synthetic import synthetic_collection

# Replace this with your own: judgments, the results of a search engine, and what two filters leave of them.
qrels, runs = synthetic_collection(queries=200)
before, filters = runs["unfiltered"], [runs["filtered"], runs["overfiltered"]]

found = rs.verdict(qrels, before, filters, gains={-2: -10})
# The usual measure sees what a filter hides, and not what spam costs.
usual = rs.evaluate(qrels, [before, *filters], "nDCG@10").mean_of("nDCG@10")

for each in found.filters:
    print(found.sentence(each))
    change = f"from {usual[before.name]:.4f} to {usual[each.run]:.4f}"
    print(f"nDCG@10, which takes spam for a useless result, goes {change}.")

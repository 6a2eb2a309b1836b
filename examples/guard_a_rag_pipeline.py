"""Guard a RAG pipeline: which passages must not reach the prompt, and what does the guard cost?"""

from pathlib import Path
from tempfile import mkdtemp

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

import ranksift as rs
from ranksift.datasets.synthetic import synthetic_collection, synthetic_safety
from ranksift.integrations import RankSiftCompressor

TOP, MANY = 3, {"queries": 400, "depth": 10, "judged": 10, "forbidden": 0.3}

# Replace this with your own: what a retriever finds, how safe a classifier thinks each passage is, and judgments
# (-2: it must not be quoted, because it is spam or a text that gives the model orders).
qrels, runs = synthetic_collection(**MANY)
retrieved, safety = runs["unfiltered"].to_dict(), synthetic_safety(**MANY).to_dict()
labels = qrels.to_dict()

# Half of the questions tell how safe a passage must be to be quoted. The retriever ranks, the classifier drops.
fit, test = list(labels)[::2], list(labels)[1::2]
part = [{q: given[q] for q in fit} for given in (labels, retrieved, safety)]
cutoff = Path(mkdtemp()) / "cutoff.json"
rs.GlobalCutoff(f"nDCG_f@{TOP}").fit_run(part[0], part[1], cut_scores=part[2], gains={-2: -10}).save(cutoff)


def retrieve(query: str) -> list[Document]:
    """Passages, best first."""
    best = sorted(retrieved[query], key=lambda doc: -retrieved[query][doc])
    return [Document(doc, metadata={"safety": safety[query][doc], "query": query}) for doc in best]


guard = RankSiftCompressor(model=cutoff, score_key="safety", top_n=TOP)
plain = RunnableLambda(lambda query: retrieve(query)[:TOP])
guarded = RunnableLambda(lambda query: guard.compress_documents(retrieve(query), query))


def counted(chain: RunnableLambda) -> tuple[int, int, int]:
    """Forbidden and useful passages in the prompts of all questions, and prompts without a passage."""
    prompts = chain.batch(test)
    found = [labels[passage.metadata["query"]].get(passage.page_content, 0) for prompt in prompts for passage in prompt]
    return sum(x < 0 for x in found), sum(x > 0 for x in found), sum(not prompt for prompt in prompts)


(bad, good, _), (still, kept, empty) = counted(plain), counted(guarded)
print(
    f"On {len(test)} other questions {bad} passages that must not be quoted reach a prompt without the guard and "
    f"{still} with it; of useful passages {good} and {kept}, and for {empty} questions nothing is left to quote."
)

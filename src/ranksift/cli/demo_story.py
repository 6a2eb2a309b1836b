"""The story of ``ranksift demo``, one function per chapter.

To add a chapter, write its function and name it in :data:`CHAPTERS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ranksift.cli.demo_service import asked, served
from ranksift.cli.demo_stage import Stage
from ranksift.cli.output import write
from ranksift.collection.examples import Examples, read_examples
from ranksift.collection.run import read_run
from ranksift.datasets.forum import synthetic_forum
from ranksift.datasets.reviews import product_reviews
from ranksift.datasets.synthetic import synthetic_safety
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import evaluate
from ranksift.evaluation.explain import explain
from ranksift.plotting import can_draw
from ranksift.report.charts import dumbbells, stacks, strips

if TYPE_CHECKING:
    from ranksift.labelling.judgments import Judgment
    from ranksift.labelling.records import Task
    from ranksift.labelling.simulation import Truth
    from ranksift.labelling.store import Store

MEASURE = "nDCG_f@10"
PRODUCTS = 2000
THREADS = 200
GAINS = "-1=-10,0=0.1"
ERRORS = 0.05

#: What chapters import beyond what RankSift always needs, by extra.
NEEDED = {
    "trees": ("lightgbm", "safetensors"),
    "label": ("sqlalchemy", "alembic"),
    "text": ("torch", "tokenizers", "lightgbm", "safetensors"),
    "serve": ("starlette", "uvicorn", "prometheus_client"),
}


def a_collection(stage: Stage) -> None:
    """Show what is in it."""
    stage.say(
        """Fifty synthetic queries. Assessors gave good documents the labels 1 to 3, harmless ones 0, and spam, which
        should never be shown, -2. Spam is written to look relevant."""
    )
    stage.run("ranksift describe qrels.txt")
    stage.say(
        """Five systems answer them. `unfiltered` ranks by relevance and is fooled by spam. `filtered` is the same
        ranker with a spam filter, `overfiltered` with a filter that drops too much. `weak` ranks worse, but is not
        fooled by spam. `perfect` shows what is relevant, best first, and nothing else; if nothing is relevant it
        shows nothing."""
    )


def blind_measures(stage: Stage) -> None:
    """Show nDCG beside the share of forbidden documents."""
    stage.run('ranksift evaluate qrels.txt *.run -m "nDCG@10 AP Fdocs@10"')
    scores = evaluate(stage.qrels, stage.runs, "nDCG@10 Fdocs@10")
    shown = dict(zip(scores.runs, scores.aggregate()[:, scores.column("Fdocs@10")], strict=True))
    hopeless = scores.degenerate.get("nDCG@10", 0)
    stage.say(
        f"""`Fdocs@10` is the share of forbidden documents among the first ten results. {shown["unfiltered"]:.0%} of
        what `unfiltered` shows is spam, against {shown["weak"]:.0%} of `weak`, but nDCG and AP still prefer it: to
        them, spam is just another irrelevant document. And `perfect` cannot reach 1, because in {hopeless}
        queries nothing is relevant: there the right answer is an empty list, and nDCG gives 0 to every system."""
    )


def unbounded_measures(stage: Stage) -> None:
    """Show the unbounded measures."""
    stage.run('ranksift evaluate qrels.txt *.run -m "nDCG_org@10 nDCG_min@10 UBQ@10"')
    names = ["nDCG_org@10", "nDCG_min@10", "nDCG_f@10"]
    scores = evaluate(stage.qrels, stage.runs, names)
    values = scores.values[scores.row("perfect")]
    org = dict(zip(scores.runs, scores.aggregate()[:, 0], strict=True))
    stage.say(
        f"""`nDCG_org` divides by an ideal that spam can make tiny or negative: `perfect` gets {org["perfect"]:.2f} and
        `unfiltered` {org["unfiltered"]:.2f}. `nDCG_min` measures between the worst and the best order of all judged
        documents; a system that leaves spam out does better than the best order, so its values exceed 1. `UBQ` counts
        the queries in which that happens."""
    )
    stage.draw(
        strips([(name, values[:, i].tolist()) for i, name in enumerate(names)], -3, 3),
        f"""The perfect system: every dot is one of {len(scores.queries)} queries. Inside the green band a measure can
        be read as a share of what is possible. Only nDCG_f, the subject of the next chapter, stays there.""",
    )


def ranking_and_filtering(stage: Stage) -> None:
    """Show nDCG_f and what filtering did."""
    stage.run('ranksift evaluate qrels.txt *.run -m "nDCG_f@10 Fdocs@10 GoodFiltered"')
    names = ("nDCG@10", "nDCG_f@10")
    scores = evaluate(stage.qrels, stage.runs, names)
    usual, ours = ({run: row[i] for run, row in zip(scores.runs, scores.aggregate(), strict=True)} for i in (0, 1))
    stage.say(
        f"""`nDCG_f` compares a list with the best and the worst sublist of the judged documents, so that values
        stay between 0 and 1 whatever is left out. Now `filtered` ({ours["filtered"]:.2f}) is far ahead of `unfiltered`
        ({ours["unfiltered"]:.2f}), and even `weak` ({ours["weak"]:.2f}) is: the order of the systems has changed.
        `GoodFiltered` is the price of a filter: the share of documents that are not forbidden and are not shown.
        `overfiltered` pays too high a price."""
    )
    order = sorted(scores.runs, key=lambda run: -ours[run])
    stage.answer_with(
        f"""nDCG counts spam as merely useless: it prefers `unfiltered` ({usual["unfiltered"]:.2f}) to `weak`
        ({usual["weak"]:.2f}), which shows less than half as much spam. By nDCG_f, for which spam does harm,
        `unfiltered` is the last of five systems ({ours["unfiltered"]:.2f})."""
    )
    stage.draw_first(
        dumbbells([(run, float(usual[run]), float(ours[run])) for run in order], names),
        "Five systems seen by nDCG and by nDCG_f: the order changes.",
    )


def significance(stage: Stage) -> None:
    """Compare with a test."""
    stage.run(
        "ranksift compare qrels.txt unfiltered.run filtered.run overfiltered.run weak.run "
        '-m "nDCG@10 nDCG_f@10 Fdocs@10" --baseline unfiltered --test randomization'
    )
    stage.say(
        """A letter after a number names the runs that are significantly worse: the table can go into a paper unchanged
        (`--format latex` or `markdown`). nDCG finds `unfiltered` significantly better than `weak`; nDCG_f finds the
        opposite, as significantly."""
    )


def explanation(stage: Stage) -> None:
    """Explain a run, and one query of it."""
    stage.run(f"ranksift explain qrels.txt unfiltered.run -m {MEASURE} --worst 5")
    losses = {name: explain(stage.qrels, run, MEASURE).overall for name, run in stage.runs.items()}
    stage.draw(
        stacks(
            [(name, [x.value, x.to_forbidden, x.to_misordering, x.to_missing]) for name, x in losses.items()],
            ["value", "lost to forbidden", "lost to misordering", "lost to missing"],
            ["good", "bad", "warn", "rest"],
        ),
        """What separates each system from the ideal list. unfiltered loses most to spam it shows, overfiltered to good
        documents it does not show, weak to their order. The ideal list is below 1 if no list can be better than
        another.""",
    )
    query = _telling_query(stage)
    stage.say("One query, document by document: what each one added or cost, and what filtering it would have gained.")
    stage.run(f"ranksift explain qrels.txt unfiltered.run -m {MEASURE} --query {query}")


def _telling_query(stage: Stage) -> str:
    """A query that loses much to spam, although it has several good documents."""
    relevant = stage.qrels.pool.sum(stage.qrels.pool.labels > 0)
    several = {q for q, n in zip(stage.qrels.query_ids, relevant, strict=True) if n >= 3}
    queries = explain(stage.qrels, stage.runs["unfiltered"], MEASURE).queries
    return next((q.query_id for q in queries if q.query_id in several), queries[0].query_id)


def release_gate(stage: Stage) -> None:
    """One system passes, one fails."""
    stage.say("In a pipeline the exit code decides: 0 lets the new system through, 1 stops it.")
    limits = '--require "Fdocs@10<=0.05 nDCG_f@10>=0.75"'
    stage.run(f"ranksift check qrels.txt filtered.run {limits} --not-worse-than unfiltered.run")
    stage.run(f"ranksift check qrels.txt overfiltered.run {limits}")


def knowing_when_to_stop(stage: Stage) -> None:
    """Show measures for truncated lists and for questions that are better left unanswered."""
    stage.run("""ranksift evaluate qrels.txt *.run -m 'nDCG nDCG_qwa(scale="max") c_at_1 Empty'""")
    stage.say(
        """`nDCG_qwa` puts a terminal document at the end of every list: stopping after the last good document is
        rewarded, and so is an empty list if there is nothing to find. `c_at_1` does the same for a system that
        gives one answer: none is better than a wrong one. `perfect` stops in time and returns nothing for questions
        without an answer; nDCG cannot see this."""
    )


def worth_of_measures(stage: Stage) -> None:
    """Study the measures on the same runs."""
    stage.say(
        """Back to the five systems. Which measure should decide? A good one has bounds, comes to the same conclusion
        on other topics, tells runs apart, and varies because of the runs and not because of the topics. All of this
        can be measured, on your own runs or on a table of scores."""
    )
    if not can_draw():
        stage.say("The report needs pictures: `pip install 'ranksift[report]'`, then `ranksift demo` shows it here.")
        return
    stage.run(
        'ranksift study qrels.txt *.run -m "nDCG@10 nDCG_org@10 nDCG_min@10 nDCG_f@10" --gains="-2=-10" --out study'
    )
    stage.say(
        """nDCG finds more pairs of runs different than nDCG_f does, but it is sure of the wrong thing: it sees
        spam as harmless. Stable does not mean right. Of the measures that see spam, nDCG_f is the one that is bounded,
        and it needs the fewest topics."""
    )
    stage.say(
        """The page `study/index.html` has every table and figure with an explanation in plain words; next to it are the
        figures as SVG and PDF and the tables as CSV and LaTeX. `--preset forbidden-2022` uses the parameters of the
        paper behind nDCG_f."""
    )


def cutoff(stage: Stage) -> None:
    """Fit a threshold on a second score, apply it, and judge it beside other rules."""
    stage.say(
        """`unfiltered` ranks well but shows spam. A separate classifier scores how safe each document looks, in
        `safety.scores`. Which of its scores are too low? The threshold that maximises nDCG_f is found exactly, over
        all cuts."""
    )
    synthetic_safety().save("safety.scores")
    second = "--cut-scores safety.scores"
    stage.run(f'ranksift cutoff fit qrels.txt unfiltered.run {second} -m nDCG_f@10 --gains="-2=-10" --out cutoff.json')
    stage.run(f"ranksift cutoff apply cutoff.json unfiltered.run {second} --out cut.trec")
    stage.run(
        'ranksift evaluate qrels.txt unfiltered.run filtered.run cut.trec -m "nDCG_f@10 Fdocs@10" --gains="-2=-10"'
    )
    stage.say(
        """`cutoff.json` is a few lines that an application can apply without RankSift. Here is how it does on queries
        that it has not seen, compared with other rules and with the best that any cutoff could do:"""
    )
    stage.run(f'ranksift cutoff compare qrels.txt unfiltered.run {second} --gains="-2=-10" --k 10')


def training(stage: Stage) -> None:
    """Train LambdaMART with the best threshold, and LambdaMART-f; judge both on products that they have not seen."""
    stage.say(
        """If documents have features, the ranker itself can be trained. The folder `reviews` has synthetic reviews
        of products: 14 features each, and a label that is -1 for spam, 0 without helpful votes, 1 or 2 with some. Spam
        is worth -10, a review without votes 0.1."""
    )
    if not _can(stage, "trees"):
        return
    _write_reviews(Path("reviews"))
    data = f'reviews/train.csv --validation reviews/validation.csv --gains="{GAINS}"'
    stage.say(
        """The usual way is to train a ranker, and then to find the threshold on its scores that is best on validation
        data:"""
    )
    stage.run(f"ranksift train {data} --model LambdaMART -m nDCG_f@10 --cutoff global --out models/lambdamart")
    stage.say(
        """LambdaMART-f learns both at once. Its score is what showing a document is expected to add to nDCG_f, so 0 is
        the natural cutoff. Held-out products check it: is the cutoff better than showing nothing, or everything?"""
    )
    stage.run(f"ranksift train {data} --model LambdaMARTf --out models/lambdamart-f")
    stage.say(
        """`GoodFiltered` is the price: more than half of the good reviews are hidden. If that is too many, set
        a limit, even on a saved model. All of this on new products:"""
    )
    for name in ("lambdamart", "lambdamart-f"):
        stage.run(f"ranksift rank models/{name} reviews/test.csv --out {name}.trec")
    limits = '--at-most "GoodFiltered<=0.3" --name limited --out limited.trec'
    stage.run(f"ranksift rank models/lambdamart-f reviews/test.csv {limits}")
    stage.run("ranksift rank models/lambdamart reviews/test.csv --keep-all --name all-shown --out all-shown.trec")
    stage.run(
        f"ranksift compare reviews/test.qrels all-shown.trec lambdamart.trec lambdamart-f.trec limited.trec "
        f'-m "nDCG_f@10 Fdocs@10 GoodFiltered" --gains="{GAINS}"'
    )
    runs = [read_run(f"{name}.trec") for name in ("lambdamart", "lambdamart-f")]
    scores = evaluate("reviews/test.qrels", runs, "nDCG_f@10 Fdocs@10", gains=GAINS)
    (usual, spam), (ours, less) = scores.aggregate().tolist()
    stage.say(
        f"""nDCG_f is {usual:.3f} with the threshold and {ours:.3f} with LambdaMART-f; {spam:.1%} and {less:.1%} of the
        first ten reviews are spam. The scores of LambdaMART are made to order the reviews of one product, but one
        threshold has to cut them all; those of LambdaMART-f are made to be cut. The folders in `models` hold
        everything that `ranksift rank` needs, as text and numbers: a card, the trees, the cutoff."""
    )
    stage.draw(
        dumbbells(
            [(name, _all_shown(name), value) for name, value in (("lambdamart", usual), ("lambdamart-f", ours))],
            ("nDCG_f@10 with everything shown", "as the model cuts"),
        ),
        "Both rankers on the test products, before and after they drop what should not be shown.",
    )


def labelling(stage: Stage) -> None:
    """Let assessors order the posts of a forum by few preferences, and export what they found."""
    stage.say(
        """So far, there were judgments to start from. `forum.jsonl` has synthetic threads: someone asks for a dentist
        or a plumber, others answer, chat, or name the wrong kind of place. Which posts are worth reading? Giving a post
        one of five grades is hard, and two people rarely agree on it; which of two posts is better is easier to say.
        `ranksift label` asks for few such preferences, on pages for teams with a key for each answer."""
    )
    if not _can(stage, "label"):
        return
    from ranksift.labelling.records import Project
    from ranksift.labelling.store import Store

    forum = synthetic_forum(THREADS).examples
    forum = forum.of_queries(np.flatnonzero(forum.lengths > 1))  # one post alone is compared with nothing
    forum.save("forum.jsonl")
    stage.run("ranksift split forum.jsonl --out forum")
    _remove_project(Path("labels"))
    with Store.create("labels", Project("A forum", k=10)) as store:
        for name in ("Bob", "Eve"):
            store.add_person(name, "assessor")
    stage.run("ranksift label import labels forum/train.jsonl forum/validation.jsonl")
    stage.run("ranksift label assign labels --overlap 0.25")
    stage.say(
        f"""Two simulated assessors, who are wrong about {ERRORS:.0%} of the pairs, put the useful posts in order and
        flag posts that nobody should have to read. A quarter of the threads goes to both."""
    )
    with Store.open("labels") as store:
        seconds = sum(_answered(store, task, _truth(forum, task.query_id)) for task in store.tasks())
        sizes = [len(store.items(query.query_id)) for query in store.queries()]
    stage.run("ranksift label status labels")
    pairs, given = np.mean([n * (n - 1) / 2 for n in sizes]), _judgments("labels") / len(sizes)
    stage.say(
        f"""It took {given:.0f} judgments per thread; comparing all pairs would take {pairs:.0f}. Real assessors, at
        5.5 seconds per pair, would need {seconds / 3600:.1f} hours in all. The export turns their answers into labels:
        the best post has 10, the next one 9, and so on, and flagged posts have -1. `ranksift label demo` opens such a
        project in the browser, with simulated assessors."""
    )
    stage.run("ranksift label export labels --what examples --out labelled.jsonl")


def texts(stage: Stage) -> None:
    """Train a ranker from words and those labels, and judge what it shows and hides."""
    stage.say(
        """These labels are examples to learn from. An encoder, MiniLM, reads each question with each post; with
        `--freeze` it is not changed, and LambdaMART-f learns from its vectors: no GPU is needed. Where to cut is
        learned as well, on threads that are held out in turn. A flagged post takes away half of what the best one
        gives."""
    )
    if not _can(stage, "label", "text"):
        return
    from ranksift.learning.text.ranker import TextRanker

    with TextRanker().remembering():  # each text is read once
        stage.run('ranksift train labelled.jsonl --model text+LambdaMARTf --freeze --gains="-1=-5" --out models/texts')
        stage.run("ranksift rank models/texts forum/test.jsonl --out texts.trec")
        stage.run("ranksift rank models/texts forum/test.jsonl --keep-all --name all-texts --out all-texts.trec")
        surest = _surest_to_hide("models/texts", "forum/test.jsonl")
    test = read_examples("forum/test.jsonl")
    test.qrels().save("forum/test.qrels")
    assert test.texts is not None
    assert test.texts.position is not None
    test.run(-test.texts.position, name="thread-order").save("thread-order.trec")
    test.run(np.array([len(doc) for doc in test.texts.docs]), name="longest-first").save("longest-first.trec")
    stage.say(
        f"""For comparison, there are two simple ways to order a thread: as it was written, and the longest post first.
        All on {len(test.query_ids)} threads that neither the assessors nor the ranker have seen, judged by the true
        labels of the forum: 2 for a post that helps, 1 for one that might, -1 for one that nobody should have to
        read."""
    )
    names = ("thread-order", "longest-first", "all-texts", "texts")
    measures, gains = "nDCG_f@10 Fdocs@10 GoodFiltered", "-1=-1"
    stage.run(
        f"ranksift evaluate forum/test.qrels {' '.join(f'{name}.trec' for name in names)} "
        f'-m "{measures}" --gains="{gains}"'
    )
    runs = [read_run(f"{name}.trec") for name in names]
    values = evaluate("forum/test.qrels", runs, measures, gains=gains).aggregate().tolist()
    (order, before, _), *_, (value, after, hidden) = values
    said = " ".join(f"“{text}”" for text in surest)
    stage.say(
        f"""Of the first ten posts of a thread, {before:.0%} are bad in the order in which it was written, and
        {after:.0%} in the order of the model. It hides {hidden:.0%} of the posts that are worth reading. What it is
        surest to hide: {said}"""
    )
    stage.draw(
        dumbbells(
            [(name, bad, value) for name, (value, bad, _) in zip(names, values, strict=True)],
            ("bad among the first ten", "nDCG_f@10"),
        ),
        "Four ways to show a thread: the share of bad posts among the first ten, and nDCG_f.",
    )
    stage.answer_with(
        f"""What not to show can be learned. A ranker that was trained on {_judgments("labels"):,} answers of two
        simulated assessors shows {after:.0%} bad posts among the first ten of a new thread instead of {before:.0%}, and
        hides {hidden:.0%} of the useful ones; nDCG_f rises from {order:.2f} to {value:.2f}."""
    )


def serving(stage: Stage) -> None:
    """Serve the ranker, and ask it once."""
    stage.say(
        """Finally, the ranker is served over HTTP. `ranksift serve` has the API of common rerank services, so an
        application that uses one of them can use this one. Documents that should not be shown are not among its
        results."""
    )
    if not _can(stage, "label", "text", "serve"):
        return
    question = _question("forum/test.jsonl", "texts.trec")
    write(json.dumps(question, ensure_ascii=False, indent=1) + "\n", Path("question.json"))
    stage.prompt("ranksift serve models/texts --port 0")
    with served("models/texts") as port:
        answer = asked(port, "/v1/rerank", question)
    stage.printed("ranksift serve models/texts --port 0", _exchange(question, answer))
    shown, dropped = len(answer["results"]), len(answer["dropped"])
    stage.say(
        f"""That was a real request over HTTP, about a thread that the ranker has not seen: {shown} of
        {shown + dropped} posts are shown, best first, and {dropped} are dropped; the margin says by how much their
        scores fall short. To ask it yourself: `ranksift serve models/texts`, and in another terminal
        `curl 127.0.0.1:8080/v1/rerank -d @question.json`."""
    )


def _question(data: str, shown: str) -> dict[str, Any]:
    """The first thread of some length from which the ranker drops posts, and not all, as a request."""
    examples, kept = read_examples(data), read_run(shown).to_dict()
    assert examples.texts is not None
    dropped = examples.lengths - [len(kept.get(query, ())) for query in examples.query_ids]
    q = int(
        np.argmax((examples.lengths >= 6) & (examples.lengths <= 8) & (dropped >= 2) & (dropped < examples.lengths))
    )
    posts = examples.texts.docs[slice(*examples.offsets[q : q + 2].tolist())]
    query = " ".join(examples.texts.queries[q].split())
    return {"query": query, "documents": list(posts), "return_documents": True, "return_dropped": True}


def _exchange(question: dict[str, Any], answer: dict[str, Any]) -> str:
    """What was asked and answered, a line for each post."""
    posts = question["documents"]
    lines = [f"POST /v1/rerank  {question['query']}"]
    lines += [f"shown    score  {one['relevance_score']:5.2f}  {posts[one['index']]}" for one in answer["results"]]
    lines += [f"dropped  margin {one['margin']:5.2f}  {posts[one['index']]}" for one in answer["dropped"]]
    return "\n".join(lines) + "\n"


def _judgments(project: str) -> int:
    from ranksift.labelling.store import Store

    with Store.open(project) as store:
        return sum(1 for _ in store.entries())


def _truth(forum: Examples, query: str) -> Truth:
    """What the posts of a thread are worth: by their labels; ties are broken at random."""
    from ranksift.labelling.simulation import Truth

    q = forum.query_ids.index(query)
    own = slice(*forum.offsets[q : q + 2].tolist())
    docs, labels = forum.docs[own], forum.labels[own]
    chance = np.random.default_rng(q).random(len(docs)) / 2
    worth = dict(zip(docs, (labels + chance).tolist(), strict=True))
    return Truth(worth, frozenset(doc for doc, label in zip(docs, labels.tolist(), strict=True) if label < 0))


def _answered(store: Store, task: Task, truth: Truth) -> float:
    """Work through a task; the seconds that it would take a person."""
    from ranksift.labelling.simulation import SimulatedAssessor
    from ranksift.labelling.task_state import task_state

    assessor = SimulatedAssessor(truth, ERRORS, seed=task.person)
    docs = [item.doc_id for item in store.items(task.query_id)]
    log: list[Judgment] = []
    seconds, state = 0.0, task_state(task, docs, log)
    while state.question is not None:
        said, took = assessor.answer(state.question), assessor.seconds(state.question)
        state = task_state(task, docs, [*log, said])
        store.append(task.key, str(len(log)), said, after=len(log), active_seconds=took, done=state.done)
        log.append(said)
        seconds += took
    return seconds


def _can(stage: Stage, *extras: str) -> bool:
    """Whether everything that a chapter needs is installed; if not, the chapter says what is missing."""
    from ranksift.learning.libraries import require

    try:
        for extra in extras:
            require("This chapter", *NEEDED[extra])
        if "text" in extras:
            from ranksift.learning.text.encoder import find_encoder

            find_encoder("minilm")
    except InputError as missing:
        stage.say(f"{missing}, then `ranksift demo` shows it.")
        return False
    return True


def _remove_project(folder: Path) -> None:
    """Remove the project of an earlier demo."""
    for file in folder.glob("labels.db*"):
        file.unlink()


def _surest_to_hide(model: str, data: str, most: int = 3) -> list[str]:
    """Posts of the lowest scores, each text once."""
    from ranksift.learning.saved_model import load

    examples = read_examples(data)
    assert examples.texts is not None
    lowest = np.argsort(load(model).score(examples), kind="stable").tolist()
    return list(dict.fromkeys(examples.texts.docs[row] for row in lowest))[:most]


def _write_reviews(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    others, test = product_reviews(PRODUCTS).examples.split(0.75)
    training, validation = others.split(2 / 3)
    for name, part in (("train", training), ("validation", validation), ("test", test)):
        part.save(folder / f"{name}.csv")
    test.qrels().save(folder / "test.qrels")


def _all_shown(model: str) -> float:
    from ranksift.learning.saved_model import load

    return load(f"models/{model}").value("reviews/test.csv", "nDCG_f@10")


#: Titles and chapters, in order.
CHAPTERS: tuple[tuple[str, Callable[[Stage], None]], ...] = (
    ("A collection in which some documents are forbidden", a_collection),
    ("The usual measures cannot see the spam", blind_measures),
    ("Letting negative labels act breaks the scale", unbounded_measures),
    ("nDCG_f measures ranking and filtering together", ranking_and_filtering),
    ("Is the difference more than luck?", significance),
    ("Where does it go wrong?", explanation),
    ("A gate before the release", release_gate),
    ("Knowing when to stop", knowing_when_to_stop),
    ("Which results should not be shown?", cutoff),
    ("A ranker that learns what not to show", training),
    ("Judgments from people", labelling),
    ("A ranker that learns from their answers", texts),
    ("What is a measure worth?", worth_of_measures),
    ("The ranker as a service", serving),
)

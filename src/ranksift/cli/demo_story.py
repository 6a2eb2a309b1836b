"""The story that ``ranksift demo`` tells, one function per chapter.

To add a chapter, write its function and name it in :data:`CHAPTERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ranksift.cli.demo_stage import Stage
from ranksift.collection.examples import read_examples
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
    from ranksift.labelling.records import Query, Task
    from ranksift.labelling.store import Store

MEASURE = "nDCG_f@10"
PRODUCTS = 2000
THREADS = 200
GAINS = "-1=-10,0=0.1"
LABELLED, FEWEST_TO_LABEL, ERRORS = 8, 15, 0.05


def a_collection(stage: Stage) -> None:
    """Show what is in it."""
    stage.say(
        """Fifty synthetic queries. Assessors gave good documents the labels 1 to 3, harmless ones 0, and spam, which
        nobody should ever see, -2. Spam is written to look relevant."""
    )
    stage.run("ranksift describe qrels.txt")
    stage.say(
        """Five systems answer them. `unfiltered` ranks by relevance and falls for spam. `filtered` is the same ranker
        with a spam filter, `overfiltered` with a filter that drops too much. `weak` ranks worse, but is not fooled
        by spam. `perfect` shows what is relevant, best first, and nothing else; where nothing is relevant it shows
        nothing."""
    )


def blind_measures(stage: Stage) -> None:
    """Show nDCG beside the share of forbidden documents."""
    stage.run('ranksift evaluate qrels.txt *.run -m "nDCG@10 AP Fdocs@10"')
    scores = evaluate(stage.qrels, stage.runs, "nDCG@10 Fdocs@10")
    shown = dict(zip(scores.runs, scores.aggregate()[:, scores.column("Fdocs@10")], strict=True))
    hopeless = scores.degenerate.get("nDCG@10", 0)
    stage.say(
        f"""`Fdocs@10` is the share of forbidden documents among the first ten results. {shown["unfiltered"]:.0%} of
        what `unfiltered` shows is spam, against {shown["weak"]:.0%} of `weak`, and still nDCG and AP prefer it: to
        them spam is just another document without relevance. And `perfect` cannot reach 1, because in {hopeless}
        queries nothing is relevant: there the right answer is an empty list, and nDCG gives 0 to everybody."""
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
        documents; a system that leaves spam out does better than the best order, so its values pass 1. `UBQ` counts
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
        f"""`nDCG_f` compares a list with the best and the worst sublist of the judged documents, so that 0 and 1 hold
        whatever is left out. Now `filtered` ({ours["filtered"]:.2f}) is far ahead of `unfiltered`
        ({ours["unfiltered"]:.2f}), and even `weak` ({ours["weak"]:.2f}) is: the order of the systems has changed.
        `GoodFiltered` is the price of a filter: the share of documents that are not forbidden and are not shown.
        `overfiltered` pays too much."""
    )
    order = sorted(scores.runs, key=lambda run: -ours[run])
    stage.draw_first(
        dumbbells([(run, float(usual[run]), float(ours[run])) for run in order], names),
        """Five systems seen by nDCG and by nDCG_f. By nDCG, which takes spam for useless at worst, unfiltered is better
        than weak and overfiltered; by nDCG_f, for which showing spam does harm, it is the last of all.""",
    )


def significance(stage: Stage) -> None:
    """Compare with a test."""
    stage.run(
        "ranksift compare qrels.txt unfiltered.run filtered.run overfiltered.run weak.run "
        '-m "nDCG@10 nDCG_f@10 Fdocs@10" --baseline unfiltered --test randomization'
    )
    stage.say(
        """A letter behind a number names the runs that are significantly worse: the table can go into a paper as it is
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
        documents it does not show, weak to their order. The ideal list is below 1 where no list can be better than
        another.""",
    )
    query = _telling_query(stage)
    stage.say("One query, document by document: what each gave or cost, and what filtering it would have gained.")
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
        rewarded, and so is an empty list where there is nothing to find. `c_at_1` does the same for a system that
        gives one answer: none is better than a wrong one. `perfect` stops in time and leaves questions without an
        answer alone; nDCG cannot tell."""
    )


def worth_of_measures(stage: Stage) -> None:
    """Study the measures on the same runs."""
    stage.say(
        """Which measure should decide? A good one has bounds, comes to the same conclusion on other topics, tells runs
        apart, and owes its variance to the runs and not to the topics. All of that can be measured, on one's own runs
        or on a table of scores."""
    )
    if not can_draw():
        stage.say("The report needs pictures: `pip install 'ranksift[report]'`, then `ranksift demo` shows it here.")
        return
    stage.run(
        'ranksift study qrels.txt *.run -m "nDCG@10 nDCG_org@10 nDCG_min@10 nDCG_f@10" --gains="-2=-10" --out study'
    )
    stage.say(
        """nDCG finds more pairs of runs different than nDCG_f does, and is sure of the wrong thing: to it spam is
        harmless. Being stable is not being right. Of the measures that see spam, nDCG_f is the one that is bounded, and
        it needs the fewest topics."""
    )
    stage.say(
        """The page `study/index.html` has every table and figure with a reading in plain words; beside it lie the
        figures as SVG and PDF and the tables as CSV and LaTeX. `--preset forbidden-2022` takes the parameters of the
        paper behind nDCG_f."""
    )


def cutoff(stage: Stage) -> None:
    """Fit a threshold on a second score, apply it, and judge it beside other rules."""
    stage.say(
        """`unfiltered` ranks well and shows spam. Beside it stands a classifier that scores how safe a document looks,
        in `safety.scores`. Which of its scores is too low? The threshold that maximises nDCG_f is found exactly, over
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
        """`cutoff.json` is a few lines that an application can apply without RankSift. What it gives on queries that it
        has not seen, beside other rules and beside the best that any cut could do:"""
    )
    stage.run(f'ranksift cutoff compare qrels.txt unfiltered.run {second} --gains="-2=-10" --k 10')


def training(stage: Stage) -> None:
    """Train LambdaMART with the best threshold, and LambdaMART-f; judge both on products that they have not seen."""
    stage.say(
        """Where documents have features, the ranker itself can be trained. The folder `reviews` has synthetic reviews
        of products: 14 features each, and a label that is -1 for spam, 0 without helpful votes, 1 or 2 with some. Spam
        is worth -10, a review without votes 0.1."""
    )
    if not _can_train(stage):
        return
    _write_reviews(Path("reviews"))
    data = f'reviews/train.csv --validation reviews/validation.csv --gains="{GAINS}"'
    stage.say(
        """The usual way is to train a ranker, then to look for the threshold on its scores that is best on validation
        data:"""
    )
    stage.run(f"ranksift train {data} --model LambdaMART -m nDCG_f@10 --cutoff global --out models/lambdamart")
    stage.say(
        """LambdaMART-f learns both at once. Its score is what showing a document is expected to add to nDCG_f, so 0 is
        where to cut. Held-out products check that: is the cut better than to show nothing, or everything?"""
    )
    stage.run(f"ranksift train {data} --model LambdaMARTf --out models/lambdamart-f")
    stage.say(
        """`GoodFiltered` is the price: more than half of the good reviews are hidden. Whoever cannot accept that sets a
        limit, also on a saved model. All of it on products that nobody has seen:"""
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
        first ten reviews are spam. The scores of LambdaMART are made to order the reviews of one product, and one
        threshold has to cut them all; those of LambdaMART-f are made to be cut. The folders in `models` hold all that
        `ranksift rank` needs, as text and numbers: a card, the trees, the cut."""
    )
    stage.draw(
        dumbbells(
            [(name, _all_shown(name), value) for name, value in (("lambdamart", usual), ("lambdamart-f", ours))],
            ("nDCG_f@10 with everything shown", "as the model cuts"),
        ),
        "Both rankers on the test products, before and after they drop what should not be shown.",
    )


def texts(stage: Stage) -> None:
    """Train a ranker from the words of a forum, and judge what it shows and hides."""
    from ranksift.learning.text.ranker import TextRanker

    stage.say(
        """Where there are no features, a ranker reads the words. `forum.jsonl` has synthetic threads: somebody asks for
        a dentist or a plumber, others answer. An answer that helps has the label 2, one that might 1, and what answers
        nothing, or names the wrong kind of place, -1: nobody should have to read it."""
    )
    if not _can_read(stage):
        return
    forum = synthetic_forum(THREADS).examples
    forum.save("forum.jsonl")
    stage.run("ranksift split forum.jsonl --out forum")
    stage.say(
        """An encoder, MiniLM, reads each question with each answer. With `--freeze` it stays as it is, and what stands
        on it is trained: seconds here, and no GPU is needed. A threshold is fitted on the validation threads."""
    )
    with TextRanker().remembering():  # each text is read once
        stage.run(
            "ranksift train forum/train.jsonl --validation forum/validation.jsonl --model text --freeze "
            "--set context=false --cutoff global --out models/texts"
        )
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
        """Beside it stand two plain ways to order a thread: as it was written, and the longest answer first. All on
        threads that nobody has seen:"""
    )
    names = ("thread-order", "longest-first", "all-texts", "texts")
    stage.run(
        f"ranksift evaluate forum/test.qrels {' '.join(f'{name}.trec' for name in names)} "
        '-m "nDCG_f@10 Fdocs@10 GoodFiltered"'
    )
    runs = [read_run(f"{name}.trec") for name in names]
    values = evaluate("forum/test.qrels", runs, "nDCG_f@10 Fdocs@10 GoodFiltered").aggregate().tolist()
    (_, before, _), *_, (_, after, hidden) = values
    said = " ".join(f"“{text}”" for text in surest)
    stage.say(
        f"""{before:.0%} of the first ten posts of a thread are bad as it was written, and {after:.0%} as the model
        shows it. It hides {hidden:.0%} of the posts that are worth reading. What it is surest to hide: {said}"""
    )
    stage.draw(
        dumbbells(
            [(name, bad, value) for name, (value, bad, _) in zip(names, values, strict=True)],
            ("bad among the first ten", "nDCG_f@10"),
        ),
        "Four ways to show a thread: the share of bad posts among the first ten, and nDCG_f.",
    )


def labelling(stage: Stage) -> None:
    """Let assessors order the top 10 of some queries by few preferences, and evaluate with what they found."""
    stage.say(
        f"""All of this rests on judgments. Giving a document one of five grades is hard, and two people rarely agree on
        it; which of two documents is better is easier to say, and `ranksift label` asks for few such preferences: pages
        for teams, with a key for each answer. Here two simulated assessors, who err in {ERRORS:.0%} of their answers,
        order the top 10 of {LABELLED} queries of the collection, and flag what nobody should see."""
    )
    if not _can_label(stage):
        return
    from ranksift.labelling.records import NewTask, Project
    from ranksift.labelling.store import Store

    queries = _to_label(stage)
    _remove_project(Path("labels"))
    with Store.create("labels", Project("Of the demo", k=10)) as store:
        store.add(queries)
        people = [store.add_person(name, "assessor")[0] for name in ("Bob", "Eve")]
        tasks = store.assign(
            NewTask(query.query_id, person.id, "pairs", "overlap" if number else "label")
            for number, person in enumerate(people)
            for query in queries
        )
        for task in tasks:
            _answer(store, stage, task, seed=task.person)
    stage.run("ranksift label status labels")
    sizes = np.array([len(query.items) for query in queries])
    pairs = (sizes * (sizes - 1) / 2).mean()
    stage.say(
        f"""To compare all pairs of {sizes.mean():.0f} documents would take {pairs:.0f} judgments for each query and
        assessor. What comes out is a file of judgments: the best document has the label 10, the next one 9, and so on.
        `kNDCG` is made for such an order."""
    )
    stage.run("ranksift label export labels --out labels/top10.qrels")
    for name, run in stage.runs.items():
        of_run = run.to_dict()
        read_run({query.query_id: of_run.get(query.query_id, {}) for query in queries}).save(f"labels/{name}.run")
    runs = [f"labels/{name}.run" for name in stage.runs]
    stage.run(f'ranksift evaluate labels/top10.qrels {" ".join(runs)} -m "kNDCG@10 Fdocs@10"')
    best = float(evaluate("labels/top10.qrels", "labels/perfect.run", "kNDCG@10").aggregate()[0, 0])
    stage.say(
        f"""Not even `perfect` has more than {best:.2f}: the grades of the collection say nothing about which of two
        documents with the same grade is better, and the assessors do. `ranksift label demo` opens such a project in the
        browser, with assessors that play along."""
    )


def _can_label(stage: Stage) -> bool:
    from ranksift.learning.libraries import require

    try:
        require("This chapter", "sqlalchemy", "alembic")
    except InputError as missing:
        stage.say(f"{missing}, then `ranksift demo` tells it.")
        return False
    return True


def _to_label(stage: Stage) -> list[Query]:
    """The first queries with many documents, as they are labelled: no grade is known."""
    from ranksift.labelling.records import Item, Query

    judged = stage.qrels.to_dict()
    many = [query for query, labels in judged.items() if len(labels) >= FEWEST_TO_LABEL][:LABELLED]
    return [
        Query(query, f"Query {query}", items=tuple(Item(doc, f"Document {doc}") for doc in sorted(judged[query])))
        for query in many
    ]


def _answer(store: Store, stage: Stage, task: Task, seed: int) -> None:
    """Work through a task: the grades of the collection are the truth, and equal ones are told apart by lot."""
    from ranksift.labelling.simulation import SimulatedAssessor, Truth
    from ranksift.labelling.task_state import task_state

    labels = stage.qrels.to_dict()[task.query_id]
    chance = np.random.default_rng(len(labels)).random(len(labels)) / 2
    worth = {doc: label + extra for (doc, label), extra in zip(sorted(labels.items()), chance.tolist(), strict=True)}
    bad = frozenset(doc for doc, label in labels.items() if label < 0)
    assessor = SimulatedAssessor(Truth(worth, bad), ERRORS, seed=seed)
    docs = sorted(labels)
    log: list[Judgment] = []
    state = task_state(task, docs, log)
    while state.question is not None:
        said, took = assessor.answer(state.question), assessor.seconds(state.question)
        state = task_state(task, docs, [*log, said])
        store.append(task.key, str(len(log)), said, after=len(log), active_seconds=took, done=state.done)
        log.append(said)


def _remove_project(folder: Path) -> None:
    """Remove the project of an earlier demo."""
    for file in folder.glob("labels.db*"):
        file.unlink()


def _can_read(stage: Stage) -> bool:
    from ranksift.learning.libraries import require

    try:
        require("This chapter", "torch", "tokenizers", "safetensors")
        from ranksift.learning.text.encoder import find_encoder

        find_encoder("minilm")
    except InputError as missing:
        stage.say(f"{missing}, then `ranksift demo` tells it.")
        return False
    return True


def _surest_to_hide(model: str, data: str, most: int = 3) -> list[str]:
    """Posts of the lowest scores, each text once."""
    from ranksift.learning.saved_model import load

    examples = read_examples(data)
    assert examples.texts is not None
    lowest = np.argsort(load(model).score(examples), kind="stable").tolist()
    return list(dict.fromkeys(examples.texts.docs[row] for row in lowest))[:most]


def _can_train(stage: Stage) -> bool:
    from ranksift.learning.libraries import require

    try:
        require("This chapter", "lightgbm", "safetensors")
    except InputError as missing:
        stage.say(f"{missing}, then `ranksift demo` tells it.")
        return False
    return True


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
    ("What is a measure worth?", worth_of_measures),
    ("Which results should not be shown?", cutoff),
    ("A ranker that learns what not to show", training),
    ("A ranker that reads", texts),
    ("Where judgments come from", labelling),
)

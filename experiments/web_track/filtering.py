"""Does spam filtering help? The runs, the pairs, the orders, and how much depends on the setting."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from experiments.markdown import (
    best_bold,
    between,
    bullets,
    number,
    paragraph,
    percent,
    probability,
    says,
    table,
    word,
)
from experiments.web_track.statistics import ALPHA, Change, changes, kendall_tau, places
from experiments.web_track.years import KS, NDCGS, Floats, Year, at, label

Years = Mapping[int, Year]

SAME = 1e-12
HEADINGS = {f"{measure}@{k}": at(measure, k) for k, measure in product(KS, NDCGS)}


def changes_by_heading(year: Year) -> dict[str, Change]:
    """What filtering changed, by the measures' headings."""
    found = changes(year, HEADINGS.values())
    return {heading: found[name] for heading, name in HEADINGS.items()}


def equal(a: Floats, b: Floats) -> bool:
    """The same values, topic by topic."""
    return bool((np.abs(a - b) <= SAME).all())


def plain_and_filtered(year: Year, measure: str) -> tuple[list[float], list[float]]:
    """Means of the unfiltered runs of the pairs, and of the filtered ones."""
    plain, filtered = zip(*year.pairs, strict=True)
    return [year.mean(measure, run) for run in plain], [year.mean(measure, run) for run in filtered]


def percents(shares: list[float]) -> str:
    """The range of some shares."""
    return f"{between([100 * s for s in shares], 1 if max(shares) < 0.05 else 0)} %"


def empty_list(year: Year, k: int) -> float:
    """Mean nDCG_f@k of the empty list."""
    return float(year.means(f"Difficulty@{k}")[0])


# -- the runs ------------------------------------------------------------------------------------------


def the_runs(years: Years) -> str:
    """Section: each run, and what the filter took out."""
    rows = [
        [
            str(year.year),
            label(name),
            f"{len(year.runs[name]):,}",
            number(year.mean("NumRet", name) / len(year.topics), 1),
            percent(year.mean("Judged@20", name), 0),
            percent(year.mean("Fdocs@20", name)),
            percent(year.mean("GoodFiltered", name)),
            number(year.mean("Empty", name) * len(year.topics), 0),
        ]
        for year in years.values()
        for name in year.names
    ]
    head = ["year", "run", "rows", "judged a topic", "Judged@20", "Fdocs@20", "GoodFiltered", "empty topics"]
    pairs = [(year, *pair) for year in years.values() for pair in year.pairs]
    sublists = says(
        all(year.is_sublist(filtered, plain) for year, plain, filtered in pairs),
        f"Each of the {word(len(pairs))} filtered runs is its unfiltered run with some documents left out, in the same "
        "order and with nothing added. All changes in a pair are therefore due to the filter.",
        "The filtered runs are not all sublists of their unfiltered ones: a pair differs by more than the filter.",
    )
    removed = []
    for year, plain, filtered in pairs:
        cells = [str(year.year), label(plain)]
        for before, after in zip(shown(year, plain), shown(year, filtered), strict=True):
            cells.append(f"{before:.0f} → {after:.0f} ({number(100 * (after / before - 1), 0)} %)")
        removed.append(cells)
    return f"""
## The runs, and what the filter took out

{table(head, rows, words=2)}

Judged@20 is the share of judged documents in the first 20 before unjudged ones are dropped; all other columns are
computed afterwards. Fdocs@k is the forbidden share of the documents shown. GoodFiltered is the share of the judged
documents other than forbidden ones that the run does not show; it is large for every run, because documents that a
run did not find count as filtered here, as in the paper. The runs ql- and rm- are Indri's: ql is query likelihood, rm
a relevance model, and cata and catb are the two categories of the ClueWeb collections: the whole collection, and a
part of it.

{sublists} What it left out, counted over the judged documents of the whole lists:

{table(["year", "run", "forbidden (−2)", "relevant (1 to 4)", "judged 0"], removed, words=2)}

{filter_in_words(years)}
"""


def shown(year: Year, run: str) -> tuple[float, float, float]:
    """Judged documents that a run shows: forbidden, relevant, and the rest."""
    i = year.names.index(run)

    def totals(measure: str) -> tuple[float, float]:
        m = year.scores.column(measure)
        return float(year.scores.numerators[i, :, m].sum()), float(year.scores.denominators[i, :, m].sum())

    forbidden, everything = totals("Fdocs")
    missing, relevant = totals('GoodFiltered(good="positive")')
    return forbidden, relevant - missing, everything - forbidden - (relevant - missing)


def lost_shares(year: Year) -> Floats:
    """What the filter took out of each pair: pairs × (forbidden, relevant, rest), as shares."""
    counts = np.array([[shown(year, run) for run in pair] for pair in year.pairs])
    return 1 - counts[:, 1] / counts[:, 0]


def filter_in_words(years: Years) -> str:
    """How well the filter tells spam from the rest."""
    lost = {year: lost_shares(years[year]) for year in (2012, 2013)}
    facts = [
        f"In {year} the filter took out {percents(shares[:, 0].tolist())} of the forbidden documents and "
        f"{percents(shares[:, 1].tolist())} of the relevant ones."
        for year, shares in lost.items()
    ]
    sharp = lost[2012][:, 0].min() > 2 * lost[2012][:, 1].max()
    blunt = (lost[2013][:, 1] > 0.75 * lost[2013][:, 0]).all()
    return paragraph(
        *facts,
        says(sharp, "The filter of 2012 separates spam from the rest, at a price."),
        says(bool(blunt), "The one of 2013 takes relevant documents nearly as readily as spam."),
    )


# -- the results of a year -----------------------------------------------------------------------------


def results(year: Year, k: int) -> str:
    """Every run by every measure."""
    rows = []
    cells = best_bold([year.means(at(measure, k)).tolist() for measure in NDCGS])
    for name, means in zip(year.names, cells, strict=True):
        over, under = (number(100 * year.mean(at(measure, k), name), 0) for measure in ("UBQ_over", "UBQ_under"))
        rows.append([label(name), *means, f"{over} / {under} %", percent(year.mean(at("Fdocs", k), name))])
    return table([f"at {k}", *NDCGS, "UBQ", "Fdocs"], rows)


def pair_table(found: Mapping[str, Change], year: Year) -> str:
    """Each filtered run against its unfiltered one."""
    rows = []
    for heading, change in found.items():
        cells = [heading]
        for mean, gained, lost, p in zip(change.means, change.gained, change.lost, change.corrected, strict=True):
            difference = number(mean, 3, sign=True)
            cells.append(f"{f'**{difference}**' if p < ALPHA else difference} ({gained} / {lost})")
        low, high = probability(min(change.corrected)), probability(max(change.corrected))
        rows.append([*cells, low if low == high else f"{low} to {high}"])
    return table(["filtered − unfiltered", *(label(plain) for plain, _ in year.pairs), "p"], rows)


def year_2012(year: Year) -> str:
    """Section: the four pairs of 2012."""
    found = changes_by_heading(year)
    return f"""
## 2012: does spam filtering help?

`nDCG_0` counts negative gains as 0 and uses the other labels as gains, as Gienapp et al. do; `nDCG_0 exp` has the
track's own gains max(0, 2^l − 1), which Carmel et al. call nDCG_0. `nDCG_org`, `nDCG_min` and `nDCG_f` count the −10.
UBQ is the share of topics in which nDCG_min is above 1 / below 0 (over / under). The best of each column is bold.

{results(year, 20)}

{results(year, 300)}

Each filtered run against its unfiltered one: mean difference (topics that gain / lose), and the p-values of paired
t-tests over the {len(year.topics)} topics, after Holm's correction over the pairs, measure by measure. Bold: p <
{ALPHA}.

{pair_table(found, year)}

What this means:

{bullets(*meaning_2012(year, found))}
"""


def meaning_2012(year: Year, found: Mapping[str, Change]) -> list[str]:
    """What the tables of 2012 say."""
    fdocs_plain, fdocs_filtered = plain_and_filtered(year, "Fdocs@20")
    share = float(np.mean(found["nDCG_0@20"].means) / np.mean(found["nDCG_f@20"].means))
    longest = int(year.by_topic("NumRet").max())
    ideal = year.bounds(300)["I"]
    org, org_values = found["nDCG_org@300"], year.by_topic("nDCG_org@300")
    sound = [topic for topic, best in zip(year.topics, ideal, strict=True) if best > 0]
    elsewhere = changes(year, ["nDCG_org@300"], topics=sound)["nDCG_org@300"]
    swings = min(org.p) > ALPHA > max(elsewhere.p)
    fewer = [f - o for f, o in zip(found["nDCG_f@300"].gained, org.gained, strict=True)]
    f_300, min_300 = found["nDCG_f@300"], found["nDCG_min@300"]
    cedr, ql = (year.by_topic("nDCG_f@20")[year.names.index(n)] for n in ("cedr-initial-top100", "indri-ql-cata"))
    return [
        paragraph(
            "**At 20, nDCG_f shows that spam is removed, nDCG_0 only what moves up in its place.** Forbidden "
            "documents are "
            f"{percents(fdocs_plain)} of what the unfiltered runs show and {percents(fdocs_filtered)} of what the "
            "filtered ones do.",
            says(0 < share < 0.5, f"The gain by nDCG_0 is about {percent(share, 0)} of that by nDCG_f."),
            "It is not surprising that a measure which penalises spam rewards its removal; what it adds is the "
            "weighing "
            "against the relevant documents that went too, and 2013 shows that this can go either way.",
        ),
        paragraph(
            "**At 300 nDCG_0 and nDCG_f contradict each other.**",
            says(
                found["nDCG_0@300"].clear_loss and f_300.clear_gain and longest <= 300,
                f"No list has more than {longest} judged documents, so all of them fit into 300 places. By nDCG_0 the "
                "spam among them costs no more than the places it takes, and what shows of the filter is mainly the "
                "relevant documents lost. By nDCG_f the spam removed is worth more.",
                f"By nDCG_0@300 {found['nDCG_0@300']}; by nDCG_f@300 {f_300}.",
            ),
        ),
        paragraph(
            f"**nDCG_org breaks down at 300.** In {int((ideal < 0).sum())} of {len(year.topics)} topics even the ideal "
            "order of the pool has a negative DCG@300, because it has to show the spam in the end. Dividing by it "
            "turns the order of the runs around",
        )
        + says(
            min(fewer) > 0, f": the filter wins in {between(fewer, 0)} topics fewer than by nDCG_f, on the same lists"
        )
        + ". "
        + paragraph(
            f"Values of single topics run from {number(org_values.min(), 1)} to {number(org_values.max(), 1)}.",
            says(
                swings,
                f"So large a mean difference as {between(org.means, 2, sign=True)} has p-values of "
                f"{between(org.p, 2)}; without those topics they would be {between(elsewhere.p, 3)}.",
            ),
        ),
        paragraph(
            "**nDCG_min is nDCG_f at 20 and exaggerates at 300.**"
            if np.mean(min_300.means) > np.mean(f_300.means)
            else "**nDCG_min is close to nDCG_f.**",
            f"At 300 it puts the gain at {between(min_300.means, sign=True)} instead of "
            f"{between(f_300.means, sign=True)}: the filtered runs are above 1 in "
            f"{percents(plain_and_filtered(year, 'UBQ_over@300')[1])} of the topics.",
        ),
        says(
            equal(cedr, ql),
            "cedr-initial-top100 is not an independent run: topic by topic it has the nDCG_f@20 of ql-cata. Like "
            "cwindri it lists judged documents only.",
        ),
    ]


def year_2013(year: Year, before: Year) -> str:
    """Section: the two pairs of 2013."""
    found = changes_by_heading(year)
    share, share_before = (float(y.forbidden.sum() / len(y.qrels)) for y in (year, before))
    silent = year.means("Empty") * len(year.topics)
    catb = [f"{year.mean('NumRet', run) / len(year.topics):.0f}" for run in ("indri-ql-catb", "indri-ql-catb-filtered")]
    little = says(
        found["nDCG_f@20"].significant == 0 and share < 0.5 * share_before,
        f"There is little to gain: {percent(share)} of the judged documents are forbidden (2012: "
        f"{percent(share_before)}), and {percents(plain_and_filtered(year, 'Fdocs@20')[0])} of what the unfiltered "
        "runs show in the first 20.",
    )
    weighed = says(
        found["nDCG_f@300"].clear_loss,
        "To rank 300 the relevant documents that the filter took along weigh more than the spam, and nDCG_f "
        "shows this, although it is the measure that penalises spam.",
    )
    return f"""
## 2013: the same question, another answer

{results(year, 20)}

{results(year, 300)}

The pairs, as above:

{pair_table(found, year)}

By nDCG_f@20 {found["nDCG_f@20"]}; by nDCG_f@300 {found["nDCG_f@300"]}. {paragraph(little, weighed)}

In {word(int((silent > 0).sum()))} of the {word(len(silent))} runs {word(int(silent.max()))} topics have no judged
document and count as empty lists. The Indri runs are an early version of the track's baselines; those of cat B retrieve
{catb[0]} judged documents a topic, {catb[1]} after filtering.
"""


def other_years(years: Years) -> str:
    """Section: years without pairs."""
    tables = "\n\n".join(
        f"### {year}\n\n{results(years[year], 20)}\n\n{results(years[year], 300)}" for year in (2010, 2011, 2014)
    )
    means = {year: years[year].means("nDCG_org@300") for year in (2011, 2014)}
    absurd = says(
        bool(means[2014].max() > 1 and means[2011].min() < -1),
        f"Means of nDCG_org@300 of {number(means[2014].max(), 2)} in 2014 and {number(means[2011].min(), 2)} in 2011 "
        "show the consequences of reading the measure as a share of the ideal.",
    )
    return f"""
## 2010, 2011 and 2014

There are one or two runs per year, without filtered counterparts.

{tables}

{absurd}
"""


def orders(year: Year) -> str:
    """Section: the systems in order."""
    means = {heading: year.means(name) for heading, name in HEADINGS.items()}
    by_measure = [places(m) for m in means.values()]
    place_rows = [[label(run), *(str(p[i]) for p in by_measure)] for i, run in enumerate(year.names)]
    tau = {a: {b: kendall_tau(x, y) for b, y in means.items()} for a, x in means.items()}
    short = [heading.replace("nDCG_", "").replace("0 exp", "0exp") for heading in means]
    tau_rows = [[name, *(number(v, 2) for v in row.values())] for name, row in zip(short, tau.values(), strict=True)]
    shallow, deep = tau["nDCG_0@20"]["nDCG_f@20"], tau["nDCG_0@300"]["nDCG_f@300"]
    min_20, min_300 = tau["nDCG_min@20"]["nDCG_f@20"], tau["nDCG_min@300"]["nDCG_f@300"]
    leaders = {
        run for run, place in zip(year.names, places(means["nDCG_f@300"]), strict=True) if place <= len(year.pairs)
    }
    words = paragraph(
        f"nDCG_0 and nDCG_f agree with tau = {number(shallow, 2)} at 20 and {number(deep, 2)} at 300.",
        says(deep < 0, "At 300 more pairs of runs disagree than agree."),
        says(
            leaders == {filtered for _, filtered in year.pairs},
            f"By nDCG_f@300 the {word(len(leaders))} filtered runs are the first {word(len(leaders))}, by nDCG_0@300 "
            f"they take the places {between([places(means['nDCG_0@300'])[year.names.index(r)] for r in leaders], 0)}.",
        ),
        f"nDCG_min and nDCG_f have tau = {number(min_20, 2)} at 20 and {number(min_300, 2)} at 300.",
        says(
            min_300 < 1,
            "For a single topic they cannot disagree, unless all orders of its pool are equal; means over topics can, "
            "because nDCG_min stretches the scale of some topics more than that of others.",
        ),
    )
    return f"""
## The order of the systems, 2012

Places of the {word(len(year.names))} runs by each measure, whose "nDCG_" is left out; equal means share a place.

{table(["run", *short], place_rows)}

Kendall's tau-b between these orders:

{table(["tau-b", *short], tau_rows)}

{words} The {word(len(year.names))} runs are variants of a few systems, not independent ones: these orders say little
more than filtered or not, cat A or cat B.
"""


# -- how much depends on the setting -------------------------------------------------------------------


def choices(years: Years) -> str:
    """Section: other gains, other treatment of unjudged documents."""
    names = [at(measure, k) for measure in ("nDCG_0", "nDCG_f") for k in KS]
    rows = []
    means: dict[tuple[int, str], list[float]] = {}
    for year, gain, unjudged in product((2012, 2013), (-10, -2), ("drop", "zero")):
        found = changes(years[year], names, {-2: gain}, unjudged)
        rows.append([str(year), number(gain, 0), unjudged])
        for name, change in found.items():
            means.setdefault((year, name), []).extend(change.means)
            rows[-1].append(f"{between(change.means, 3, sign=True)} ({change.significant})")
    always = all(min(means[2012, name]) > 0 for name in ("nDCG_f@20", "nDCG_f@300"))
    torn = min(means[2012, "nDCG_0@300"]) < 0 < max(means[2012, "nDCG_0@300"])
    judged = [years[2012].mean("Judged@20", run) for run in ("indri-ql-cata", "indri-rm-cata")]
    words = paragraph(
        says(always, "In 2012 nDCG_f prefers the filtered run in every pair under every choice."),
        says(
            torn,
            "The sign of nDCG_0@300 depends on what is done with unjudged documents. Of the first 20 documents of the "
            f"unfiltered cat A runs only {percents(judged)} are judged, so under `zero` they lose to whatever is "
            "judged more completely, filtered or not.",
        ),
        "`drop` ignores that the runs were judged to different depths, `zero` treats documents that nobody has "
        "looked at as useless.",
    )
    return f"""
## Does it depend on the choices?

Filtered − unfiltered, as a range over the pairs of a year, for two gains of the label −2 and for what is done with
unjudged documents: `drop`, or `zero`, by which they keep their rank and have gain 0, as is usual at TREC. In
brackets: pairs that differ significantly (Holm, p < {ALPHA}), of four in 2012 and two in 2013.

{table(["year", "gain of −2", "unjudged", *names], rows, words=3)}

{words}
"""


def nothing_at_all(years: Years) -> str:
    """Section: runs against the empty list."""
    rows = []
    for year in years.values():
        below = (year.by_topic("nDCG_f@20") < year.by_topic("Difficulty@20") - SAME).mean(axis=1)
        rows.append(
            [
                str(year.year),
                percent(float(year.forbidden.sum() / len(year.qrels))),
                number(np.minimum(year.forbidden, 20).mean(), 1),
                number(empty_list(year, 20), 3),
                number(empty_list(year, 300), 3),
                between(year.means("nDCG_f@20")),
                f"{int((year.means('nDCG_f@20') < empty_list(year, 20)).sum())} of {len(year.names)}",
                percents(below.tolist()),
            ]
        )
    head = ["year", "forbidden labels", "in the worst 20", "empty list at 20", "at 300", "runs' nDCG_f@20"]
    head += ["runs below the empty list", "topics below it, by run"]
    runs, nothing = milder(years[2012])
    caveat = says(
        bool((runs > nothing).all()),
        f"This depends on the gain: were it −2, an empty list would score {number(nothing, 3)} in 2012 and every run "
        f"more ({between(runs)}).",
        f"With a gain of −2 an empty list would score {number(nothing, 3)} in 2012, the runs {between(runs)}.",
    )
    return f"""
## Against showing nothing

nDCG_f of the empty list is what Carmel et al. call the filtering difficulty of a topic (`Difficulty@k` here): a list
that scores less shows more bad than good. Means over the topics:

{table(head, rows)}

"In the worst 20" is the number of forbidden documents among the worst 20 of a topic's pool, on average: each of them
costs 10, which is what lifts the empty list so high. {caveat}
"""


def milder(year: Year) -> tuple[Floats, float]:
    """nDCG_f@20 of the runs and of the empty list if a forbidden document cost 2 instead of 10."""
    means = year.evaluate(["nDCG_f@20", "Difficulty@20"], gains={-2: -2}).aggregate()
    return means[:, 0], float(means[0, 1])

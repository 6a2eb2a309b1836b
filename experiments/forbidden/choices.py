"""Whether the findings depend on how the papers are read."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from experiments.forbidden.carmel import interval
from experiments.forbidden.studies import CARMEL, GIENAPP, Study
from experiments.markdown import paragraph, percent, says, table

Studies = Mapping[int, Study]

SIZE = 25
READINGS = tuple(product(("trials", "topics"), ("absolute", "relative")))


def choices(deep: Studies, shallow: Studies) -> str:
    """Section: other readings of stability, and of unjudged documents."""
    return f"""
## Other readings

**Stability.** An error can be counted over samples of topics (Buckley and Voorhees, and what Carmel et al. describe)
or, as Gienapp et al. write, over the topics of a sample; a difference can be a tie by its size or by its share of the
larger score. The error rate with {SIZE} topics, and the share of ties in brackets:

{stability_table(deep, shallow)}

{stability_in_words(deep, shallow)}

**Unjudged documents.** Φ if they keep their rank and have gain 0, as is usual at TREC, instead of being dropped:

{unjudged_table(deep, shallow)}

{unjudged_in_words(deep, shallow)}
"""


def columns(deep: Studies, shallow: Studies) -> list[tuple[int, Study, dict[str, str]]]:
    """Year, study, and its measures by their headings: all at 500, then all at 20."""
    at_500 = [(year, s, {heading: f"{name}@500" for heading, name in CARMEL.items()}) for year, s in deep.items()]
    at_20 = [(year, s, {heading: f"{name}@20" for heading, name in GIENAPP.items()}) for year, s in shallow.items()]
    return at_500 + at_20


def stability_table(deep: Studies, shallow: Studies) -> str:
    """Error rates in four readings."""
    rows = []
    for year, s, names in columns(deep, shallow):
        for counts, fuzz in READINGS:
            found = s.stability_as(counts=counts, fuzz=fuzz, sizes=[SIZE])
            cells = [
                f"{percent(found.error_rate[m][SIZE])} ({percent(found.tie_rate[m][SIZE], 0)})" for m in names.values()
            ]
            rows.append([_setting(year, names), counts, fuzz, *cells])
    return table(["", "counted", "threshold", "nDCG_org", "nDCG_0", "nDCG_min", "nDCG_f"], rows, words=3)


def _setting(year: int, names: Mapping[str, str]) -> str:
    return f"{year}, k = {next(iter(names.values())).split('@')[1]}"


def stability_in_words(deep: Studies, shallow: Studies) -> str:
    """What holds in all of them."""
    rates = []
    for _, s, names in columns(deep, shallow):
        for counts, fuzz in READINGS:
            found = s.stability_as(counts=counts, fuzz=fuzz, sizes=[SIZE]).error_rate
            rates.append({heading: found[m][SIZE] for heading, m in names.items()})
    growing = [
        rates
        for _, s, _ in columns(deep, shallow)
        for rates in s.stability_as(counts="topics", sizes=[10, 40]).error_rate.values()
    ]
    return paragraph(
        says(
            all(r["nDCG_f"] <= r["nDCG_org"] for r in rates),
            "By every reading nDCG_f errs no more than nDCG_org.",
            "Not by every reading does nDCG_f err less than nDCG_org.",
        ),
        says(
            all(r["nDCG_f"] <= r["nDCG_min"] + 0.001 for r in rates),
            "Nor does it err more than nDCG_min by more than a tenth of a point.",
        ),
        says(
            all(rates[40] >= rates[10] for rates in growing),
            "Counting topics gives much higher rates, which do not fall with the number of topics: they show how "
            "often a single topic contradicts the rest, not how often a set of topics does.",
        ),
    )


def _other(s: Study) -> Study:
    return Study(s.year, s.preset, [str(m) for m in s.scores.measures], unjudged="zero")


def unjudged_table(deep: Studies, shallow: Studies) -> str:
    """Φ with unjudged documents in their places."""
    rows = []
    for year, s, names in columns(deep, shallow):
        found = _other(s).reliability
        rows.append([_setting(year, names), *(interval(found.phi[m], *found.phi_interval[m]) for m in names.values())])
    return table(["", "nDCG_org", "nDCG_0", "nDCG_min", "nDCG_f"], rows)


def unjudged_in_words(deep: Studies, shallow: Studies) -> str:
    """What changes."""
    drop, zero = shallow[2012].reliability.phi, _other(shallow[2012]).reliability.phi
    gain = {measure: zero[f"{measure}@20"] - drop[f"{measure}@20"] for measure in GIENAPP}
    kept = {year: _other(s).reliability.phi for year, s in deep.items()}
    return paragraph(
        says(
            all(p["nDCG_f@500"] >= p["nDCG_min@500"] > p["nDCG_org@500"] for p in kept.values()),
            "At 500 the order of nDCG_org, nDCG_min and nDCG_f stays.",
            "At 500 the order of nDCG_org, nDCG_min and nDCG_f does not stay.",
        ),
        says(
            gain["nDCG_0"] > 0 > max(gain["nDCG_org"], gain["nDCG_min"]),
            "At 20 in 2012 only nDCG_0 gains: the runs [were judged to different depths]"
            "(web-track.md#does-it-depend-on-the-choices), which nDCG_0 takes into account.",
        ),
    )

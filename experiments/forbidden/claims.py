"""What the papers say of their measures, beside what these runs say."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.forbidden import carmel, gienapp
from experiments.forbidden.bounds import at_300, unbounded_up_to_50
from experiments.forbidden.carmel import MIN, ORG, F
from experiments.forbidden.printed import DEPTHS
from experiments.forbidden.studies import KS, Study
from experiments.markdown import number, percent, table
from experiments.web_track.printed import TABLE_5

ALPHAS = np.linspace(0.005, 0.2, 79)

Studies = Mapping[int, Study]


def claims(deep: Studies, shallow: Studies) -> str:
    """A table: each claim, and what is seen in 2012 and 2013."""
    of_carmel = [
        ["nDCG_min is never unbounded up to k = 50", *(_none_up_to_50(s) for s in deep.values())],
        [f"At 300 it is in {_printed(deep)} of lists", *(percent(sum(pair)) for pair in at_300(deep).values())],
        ["nDCG_min and nDCG_f err less than nDCG_org", *(_more_stable(s) for s in deep.values())],
        ["nDCG_f is as stable as nDCG_min", *(_as_stable(s) for s in deep.values())],
        ["nDCG_min and nDCG_f tell more pairs apart than nDCG_org", *(_more_sensitive(s) for s in deep.values())],
        ["nDCG_f tells as many apart as nDCG_min", *(_as_sensitive(s) for s in deep.values())],
        ["nDCG_org is the least reliable", *(_least_reliable(s) for s in deep.values())],
        ["nDCG_f is more reliable than nDCG_min", *(_more_reliable(s) for s in deep.values())],
    ]
    of_gienapp = [
        ["No run's mean nDCG_org is negative", *(_not_negative(s) for s in shallow.values())],
        ["nDCG_min keeps nDCG_org's order, nDCG_0 less so", *(_keeps_order(year, s) for year, s in shallow.items())],
        ["nDCG_min is the most reliable at every k", *(_most_reliable(s) for s in shallow.values())],
        ["nDCG_min errs least at k = 20", *(_errs_least(s) for s in shallow.values())],
        ["nDCG_org and nDCG_0 err more at larger k", *(_errs_more(s) for s in shallow.values())],
        ["nDCG_0 tells the fewest pairs apart", *(_fewest(s) for s in shallow.values())],
    ]
    heads = [["**Carmel et al., k = 500, −2 costs 10**", "", ""], ["**Gienapp et al., k ≤ 20, −2 costs 2**", "", ""]]
    rows = [heads[0], *of_carmel, heads[1], *of_gienapp]
    return table(["what the papers say", *map(str, deep)], rows, words=3)


def _verdict(holds: bool, detail: str) -> str:
    return f"{'yes' if holds else '**no**'}: {detail}"


def _printed(deep: Studies) -> str:
    return " and ".join(f"{TABLE_5[year][0]} %" for year in deep)


def _none_up_to_50(s: Study) -> str:
    share = unbounded_up_to_50(s.year)
    return _verdict(share == 0, percent(share))


def _at_25(s: Study, *measures: str) -> str:
    return " / ".join(number(100 * s.stability.error_rate[m][25], 1) for m in measures)


def _more_stable(s: Study) -> str:
    holds = all((s.error_rates(m) < s.error_rates(ORG)).all() for m in (MIN, F))
    return _verdict(holds, f"{_at_25(s, MIN, F, ORG)} % with 25 topics")


def _as_stable(s: Study) -> str:
    holds = bool((s.error_rates(F) <= s.error_rates(MIN) + 0.005).all())
    return _verdict(
        holds, f"{number(100 * (s.error_rates(F) - s.error_rates(MIN)).mean(), 1, sign=True)} points on average"
    )


def _more_sensitive(s: Study) -> str:
    curve, at_5 = s.sensitivity["sakai"].curve(ALPHAS), s.sensitivity["sakai"].curve([0.05])
    holds = all((curve[m] > curve[ORG]).all() for m in (MIN, F))
    return _verdict(holds, f"{' / '.join(number(100 * at_5[m][0], 0) for m in (MIN, F, ORG))} % at 0.05")


def _as_sensitive(s: Study) -> str:
    curve = s.sensitivity["sakai"].curve(ALPHAS)
    apart = float(np.abs(curve[F] - curve[MIN]).max())
    pairs = round(s.pairs * apart)
    return _verdict(apart < 0.1, f"up to {pairs} pair{'s' * (pairs != 1)} of {s.pairs} apart")


def _least_reliable(s: Study) -> str:
    phi = s.reliability.phi
    return _verdict(phi[ORG] == min(phi.values()), f"Φ = {number(phi[ORG], 2)}")


def _more_reliable(s: Study) -> str:
    gap = s.gap(F, MIN)
    return _verdict(gap[1] > 0, carmel.interval(*gap, sign=True))


def _not_negative(s: Study) -> str:
    lowest = np.min([s.means(f"nDCG_org@{k}") for k in KS], axis=0)
    negative = int((lowest < 0).sum())
    return _verdict(negative == 0, f"{negative} of {len(lowest)} at some k, lowest {number(lowest.min(), 2)}")


def _keeps_order(year: int, s: Study) -> str:
    with_zero, with_min, _ = gienapp.rho(s, DEPTHS[year])
    return _verdict(with_min > with_zero, f"ρ = {number(with_min, 2)} and {number(with_zero, 2)}")


def _most_reliable(s: Study) -> str:
    phi = s.reliability.phi
    holds = all(phi[f"nDCG_min@{k}"] > phi[f"{m}@{k}"] for k in KS for m in ("nDCG_org", "nDCG_0"))
    at_20 = " / ".join(number(phi[f"{m}@20"], 2) for m in ("nDCG_min", "nDCG_org", "nDCG_0"))
    return _verdict(holds, f"{at_20} at 20")


def _errs_least(s: Study) -> str:
    means = [100 * gienapp.mean_error(s, m, 20) for m in ("nDCG_min", "nDCG_org", "nDCG_0")]
    return _verdict(gienapp.least_at_20(s), f"{' / '.join(number(m, 2) for m in means)} % on average")


def _errs_more(s: Study) -> str:
    change = [100 * (gienapp.mean_error(s, m, 20) - gienapp.mean_error(s, m, 5)) for m in ("nDCG_org", "nDCG_0")]
    return _verdict(min(change) > 0, f"{' / '.join(number(c, 2, sign=True) for c in change)} points from 5 to 20")


def _fewest(s: Study) -> str:
    holds = all(
        gienapp.told_apart(s, "nDCG_0", k) < gienapp.told_apart(s, m, k) for k in KS for m in ("nDCG_org", "nDCG_min")
    )
    at_20 = " / ".join(number(100 * gienapp.told_apart(s, m, 20), 0) for m in ("nDCG_min", "nDCG_org", "nDCG_0"))
    return _verdict(holds, f"{at_20} % at 20")

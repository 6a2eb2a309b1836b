"""What the papers claim of their measures, whether it holds on these runs, and numbers that take a little computing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.forbidden import measure, printed
from experiments.forbidden.bounds import FITTING
from experiments.forbidden.studies import GIENAPP, KS
from experiments.markdown import number
from experiments.web_track import printed as track
from experiments.web_track.years import label

#: Levels at which curves are compared.
ALPHAS = [i / 400 for i in range(2, 81)]
F, MIN, ORG = "nDCG_f", "nDCG_min", "nDCG_org"

Results = Mapping[str, Any]


def words(r: Results) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    deep, shallow = r["deep"], r["shallow"]
    return {
        "printed": printed,
        "track": track,
        "fitting": FITTING,
        "ks": KS,
        "gienapps": list(GIENAPP),
        "two": measure.TWO,
        "label": label,
        "interval": interval,
        "outside": lambda pair: f"{number(100 * pair[0], 1)} / {number(100 * pair[1], 1)} %",
        "told_apart": told_apart,
        "error": error,
        "rates": rates,
        "mean_error": mean_error,
        "curve": curve,
        "carmels": {of: carmels_claims(s) for of, s in deep.items()},
        "gienapps_claims": {of: gienapps_claims(s) for of, s in shallow.items()},
        "apart": {of: pairs_apart(s) for of, s in deep.items()},
        "undecided": undecided(shallow["2012"]),
        **of_readings(r["readings"]),
    }


def interval(found: Sequence[float], sign: bool = False) -> str:
    """A number with its interval."""
    value, low, high = found
    return f"{number(value, 3, sign)} ({number(low, 2, sign)} to {number(high, 2, sign)})"


def told_apart(found: Results, alpha: float, method: str = "sakai") -> float:
    """The share of pairs whose achieved significance level is below α."""
    levels = found["asl"][method]
    return float(np.searchsorted(levels, alpha, side="left") / len(levels))


def error(s: Results, name: str, size: int) -> float:
    """The error rate with some number of topics."""
    return float(s["measures"][name]["errors"][s["sizes"].index(size)])


def rates(s: Results, name: str) -> Any:
    """Error rates by all numbers of topics but the last, at which it is 0 for every measure."""
    found = zip(s["sizes"], s["measures"][name]["errors"], strict=True)
    return np.array([rate for size, rate in found if size < s["topics"]])


def mean_error(s: Results, name: str) -> float:
    """The error rate, averaged over all numbers of topics."""
    return float(rates(s, name).mean())


def curve(s: Results, name: str, method: str = "sakai") -> Any:
    """Pairs told apart at many levels."""
    return np.array([told_apart(s["measures"][name], alpha, method) for alpha in ALPHAS])


def pairs_apart(s: Results) -> int:
    """By how many pairs nDCG_f and nDCG_min differ at most, at any level and by either method."""
    most = max(float(abs(curve(s, F, method) - curve(s, MIN, method)).max()) for method in ("sakai", "sign"))
    return round(s["pairs"] * most)


def carmels_claims(s: Results) -> dict[str, bool]:
    """What Carmel et al. say, by name."""
    phi = {name: found["phi"][0] for name, found in s["measures"].items()}
    return {
        "err less": all((rates(s, m) < rates(s, ORG)).all() for m in (MIN, F)),
        "as stable": bool((rates(s, F) <= rates(s, MIN) + 0.005).all()),
        "tell more apart": all(
            (curve(s, m, method) > curve(s, ORG, method)).all() for m in (MIN, F) for method in ("sakai", "sign")
        ),
        "as sensitive": pairs_apart(s) < 0.1 * s["pairs"],
        "nDCG_org least reliable": phi[ORG] == min(phi.values()),
        "more reliable": s["gap"][1] > 0,
    }


def gienapps_claims(s: Results) -> dict[str, bool]:
    """What Gienapp et al. say, by name."""

    phi = {name: found["phi"][0] for name, found in s["measures"].items()}
    others = (ORG, "nDCG_0")
    apart = {name: told_apart(found, 0.05) for name, found in s["measures"].items()}
    return {
        "never negative": min(s["lowest nDCG_org of each run"]) >= 0,
        "keeps the order": s["rho"][1] > s["rho"][0],
        "most reliable": all(phi[f"{MIN}@{k}"] > phi[f"{m}@{k}"] for k in KS for m in others),
        "errs least at 20": all(mean_error(s, f"{MIN}@20") < mean_error(s, f"{m}@20") for m in others),
        "err more at 20": all(mean_error(s, f"{m}@20") > mean_error(s, f"{m}@5") for m in others),
        "err less at 20": all(mean_error(s, f"{m}@20") < mean_error(s, f"{m}@5") for m in others),
        "fewest apart": all(apart[f"nDCG_0@{k}"] < apart[f"{m}@{k}"] for k in KS for m in (ORG, MIN)),
        "org > min > zero": all(phi[f"{ORG}@{k}"] > phi[f"{MIN}@{k}"] > phi[f"nDCG_0@{k}"] for k in KS),
    }


def undecided(s: Results) -> bool:
    """Whether neither of nDCG_org and nDCG_min is surely the more reliable, and both more than nDCG_0."""
    phi = {name: found["phi"][0] for name, found in s["measures"].items()}
    ahead = all(phi[f"{m}@{k}"] > phi[f"nDCG_0@{k}"] for m in (ORG, MIN) for k in KS)
    return ahead and all(low < 0 < high for _, low, high in s["gaps"].values())


def of_readings(found: Results) -> dict[str, bool]:
    """What holds by every reading of stability."""
    rows = found["rows"]
    errors = {
        (row["setting"], row["counts"], row["fuzz"], heading): rate
        for row in rows
        for heading, (rate, _) in row["rates"].items()
    }
    return {
        "never_worse_than_org": all(row["rates"][F][0] <= row["rates"][ORG][0] for row in rows),
        "never_worse_than_min": all(row["rates"][F][0] <= row["rates"][MIN][0] + 0.001 for row in rows),
        "much_higher_over_topics_but_for_org": all(
            (rate > errors[setting, "trials", fuzz, heading] + 0.05) != (heading == ORG and setting.endswith("500"))
            for (setting, counts, fuzz, heading), rate in errors.items()
            if counts == "topics"
        ),
        "never_falling": all(later >= first for first, later in found["over topics, with 10 and 40"]),
    }

"""Every measure once more, from the papers, with plain loops over dicts: what the library is held against.

Nothing of the library is used here. A measure is a function of one :class:`Topic`; it gives the query's
value, or its numerator and denominator where the measure is a ratio of sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from math import log, log2
from typing import Any

TINY = 1e-12


@dataclass(frozen=True)
class Topic:
    """One query: the list as it came, its judgments, and how to read them."""

    ranking: list[str]
    labels: dict[str, float]
    collection: dict[str, dict[str, float]]
    gains: Any = "linear"
    unjudged: str = "zero"

    def shown(self, nil=None):
        """The documents that count, in rank order; NIL is an answer, not an unjudged document."""
        if self.unjudged == "zero":
            return list(self.ranking)
        return [d for d in self.ranking if d in self.labels or (nil is not None and d == nil)]

    def gain(self, document, gains=None):
        if document not in self.labels:
            return 0.0
        return worth(self.labels[document], self.gains if gains is None else gains)

    def list_gains(self, gains=None):
        return [self.gain(d, gains) for d in self.shown()]

    def pool_gains(self, gains=None):
        return [self.gain(d, gains) for d in self.labels]


def worth(label, gains):
    if gains == "linear":
        return float(label)
    if gains == "exp":
        return 2.0**label - 1.0
    return float(gains[label]) if label in gains else float(label)


def by_score(scores):
    """Highest score first; the larger document id first where scores are equal."""
    order = sorted(scores, reverse=True)
    return sorted(order, key=lambda d: -scores[d])


def largest_gain(topic, gains=None):
    most = 0.0
    for labels in topic.collection.values():
        for label in labels.values():
            most = max(most, worth(label, topic.gains if gains is None else gains))
    return most


def no_negatives(values):
    return [max(0.0, v) for v in values]


def top(values, k):
    return list(values) if k is None else list(values)[:k]


def same(a, b):
    return abs(a - b) <= TINY * max(1.0, abs(a), abs(b))


# -- cumulative: papers 1 and 4 ---------------------------------------------------------------------------


def dcg(gains, k=None, base=None):
    """With a base, as Järvelin and Kekäläinen define it, recursively: no discount before rank b."""
    total = 0.0
    for rank, gain in enumerate(top(gains, k), start=1):
        if base is None:
            total += gain / log2(rank + 1)
        elif rank < base:
            total += gain
        else:
            total += gain / log(rank, base)
    return total


def bounds_of_all(pool, k, base=None):
    """W_k and I_k."""
    return dcg(sorted(pool), k, base), dcg(sorted(pool, reverse=True), k, base)


def bounds_of_sublists(pool, k, base=None):
    """W_kf and I_kf."""
    worst = dcg(sorted(g for g in pool if g <= 0), k, base)
    best = dcg(sorted((g for g in pool if g >= 0), reverse=True), k, base)
    return worst, best


def between(value, low, high):
    return 0.0 if same(low, high) else (value - low) / (high - low)


def DCG(topic, k=None, gains=None, base=None):
    return dcg(topic.list_gains(gains), k, base)


def nDCG(topic, k=None, gains=None, base=None, nil=None):
    pool = no_negatives(topic.pool_gains(gains))
    answerless = not any(g > 0 for g in pool)
    listed = []
    for document in topic.shown(nil):
        if nil is not None and document == nil:
            listed.append(1.0 if answerless else 0.0)
        else:
            listed.append(max(0.0, topic.gain(document, gains)))
    if nil is not None and answerless:
        pool = [1.0]
    return between(dcg(listed, k, base), 0.0, dcg(sorted(pool, reverse=True), k, base))


nDCG_0 = nDCG  # noqa: N816


def nDCG_org(topic, k=None, gains=None, base=None):
    return between(DCG(topic, k, gains, base), 0.0, bounds_of_all(topic.pool_gains(gains), k, base)[1])


def nDCG_min(topic, k=None, gains=None, base=None):
    return between(DCG(topic, k, gains, base), *bounds_of_all(topic.pool_gains(gains), k, base))


def nDCG_f(topic, k=None, gains=None, base=None):
    return between(DCG(topic, k, gains, base), *bounds_of_sublists(topic.pool_gains(gains), k, base))


# -- filtering: paper 1 -----------------------------------------------------------------------------------


def Fdocs(topic, k=None, average="micro", gains=None):
    seen = top(topic.list_gains(gains), k)
    forbidden = sum(1 for g in seen if g < 0)
    if average == "micro":
        return forbidden, len(seen)
    return forbidden / len(seen) if seen else 0.0


def GoodFiltered(topic, good="nonnegative", gains=None):
    missing = there = 0
    for document in topic.labels:
        gain = topic.gain(document, gains)
        if gain > 0 or (good == "nonnegative" and gain == 0):
            there += 1
            missing += document not in topic.ranking
    return missing, there


def RelevantFiltered(topic, gains=None):
    relevant = [d for d in topic.labels if topic.gain(d, gains) > 0]
    return len([d for d in relevant if d not in topic.ranking]), len(relevant)


def Empty(topic):
    return 1.0 if not topic.shown() else 0.0


def Difficulty(topic, k=None, gains=None, base=None):
    return nDCG_f(replace(topic, ranking=[]), k, gains, base)


def UBQ_over(topic, k=None, gains=None, base=None):
    return 1.0 if DCG(topic, k, gains, base) > bounds_of_all(topic.pool_gains(gains), k, base)[1] + TINY else 0.0


def UBQ_under(topic, k=None, gains=None, base=None):
    return 1.0 if DCG(topic, k, gains, base) < bounds_of_all(topic.pool_gains(gains), k, base)[0] - TINY else 0.0


def UBQ(topic, k=None, gains=None, base=None):
    return max(UBQ_over(topic, k, gains, base), UBQ_under(topic, k, gains, base))


# -- classic: trec_eval -----------------------------------------------------------------------------------


def relevance(topic, rel=1, nil=None):
    """Whether each shown document is relevant, and how many documents are."""
    count = sum(1 for label in topic.labels.values() if label >= rel)
    hits = []
    for document in topic.shown(nil):
        if nil is not None and document == nil:
            hits.append(count == 0)
        else:
            hits.append(document in topic.labels and topic.labels[document] >= rel)
    if nil is not None and count == 0:
        count = 1
    return hits, count


def P(topic, k=None, rel=1, nil=None):
    hits, _ = relevance(topic, rel, nil)
    depth = len(hits) if k is None else k
    return sum(top(hits, k)) / depth if depth else 0.0


def R(topic, k=None, rel=1):
    hits, count = relevance(topic, rel)
    return sum(top(hits, k)) / count if count else 0.0


def sum_of_precisions(hits):
    total, found = 0.0, 0
    for rank, hit in enumerate(hits, start=1):
        if hit:
            found += 1
            total += found / rank
    return total


def AP(topic, k=None, rel=1, nil=None):
    hits, count = relevance(topic, rel, nil)
    return sum_of_precisions(top(hits, k)) / count if count else 0.0


def GMAP(topic, rel=1):
    return AP(topic, rel=rel)


def infAP(topic, rel=1):
    """Documents above a relevant one are looked at one after another, as in the definition by Yilmaz and Aslam."""
    value = 0.0
    ranking = topic.shown()
    for rank, document in enumerate(ranking, start=1):
        if topic.labels.get(document, -99) < rel or document not in topic.labels:
            continue
        if rank == 1:
            value += 1.0
            continue
        above = [topic.labels[d] for d in ranking[: rank - 1] if d in topic.labels]
        relevant = sum(1 for label in above if label >= rel)
        irrelevant = sum(1 for label in above if 0 <= label < rel)
        of_the_judged = (relevant + 0.00001) / (relevant + irrelevant + 2 * 0.00001)
        value += 1 / rank + (rank - 1) / rank * (len(above) / (rank - 1)) * of_the_judged
    count = sum(1 for label in topic.labels.values() if label >= rel)
    return value / count if count else 0.0


def IPrec(topic, recall=0.5, rel=1):
    hits, count = relevance(topic, rel)
    needed = int(recall * count + 0.5)  # the nearest whole number, a half up
    best = 0.0
    for depth in range(1, len(hits) + 1):
        if sum(hits[:depth]) >= needed:
            best = max(best, sum(hits[:depth]) / depth)
    return best


def AP_11pt(topic, rel=1):
    return sum(IPrec(topic, tenth / 10, rel) for tenth in range(11)) / 11


def SetF(topic, rel=1, beta=1):
    precision, recall = P(topic, rel=rel), R(topic, rel=rel)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall) if precision else 0.0


def NumRelRet(topic, rel=1):
    return sum(relevance(topic, rel)[0])


def RR(topic, k=None, rel=1, nil=None):
    for rank, hit in enumerate(top(relevance(topic, rel, nil)[0], k), start=1):
        if hit:
            return 1 / rank
    return 0.0


def Rprec(topic, rel=1):
    hits, count = relevance(topic, rel)
    return sum(hits[:count]) / count if count else 0.0


def Bpref(topic, rel=1):
    relevant = sum(1 for label in topic.labels.values() if label >= rel)
    irrelevant = sum(1 for label in topic.labels.values() if 0 <= label < rel)
    total, above = 0.0, 0
    for document in topic.shown():
        label = topic.labels.get(document, -1)
        if label >= rel:
            total += 1.0 if above == 0 else 1.0 - min(above, relevant) / min(irrelevant, relevant)
        elif label >= 0:
            above += 1
    return total / relevant if relevant else 0.0


def Success(topic, k=None, rel=1):
    return 1.0 if any(top(relevance(topic, rel)[0], k)) else 0.0


def RBP(topic, p=0.8, k=None, rel=1, gains=None, residual=False, nil=None, over="collection"):
    most = 1.0 if gains is None else largest_gain(topic, gains)
    if gains is not None and over == "query":
        most = max([0.0, *topic.pool_gains(gains)])
    if gains is None:
        answerless = not any(label >= rel for label in topic.labels.values())
    else:
        answerless = not any(g > 0 for g in topic.pool_gains(gains))
    value, known = 0.0, 0.0
    for i, document in enumerate(top(topic.shown(nil), k)):
        weight = (1 - p) * p**i
        if nil is not None and document == nil:
            value += weight * answerless
            known += weight
        elif document in topic.labels:
            known += weight
            if gains is None:
                value += weight * (topic.labels[document] >= rel)
            elif most > 0:
                value += weight * max(0.0, topic.gain(document, gains)) / most
    return 1.0 - known if residual else value


def Q(topic, k=None, beta=1, gains=None, nil=None):
    ideal = sorted(no_negatives(topic.pool_gains(gains)), reverse=True)
    answers = sum(1 for g in ideal if g > 0)
    if nil is not None and answers == 0:
        ideal, answers = [1.0], 1
        got = [float(document == nil) for document in topic.shown(nil)]
    else:
        got = [max(0.0, topic.gain(d, gains)) if d in topic.labels else 0.0 for d in topic.shown(nil)]
    total = 0.0
    for i in range(1, len(top(got, k)) + 1):
        if got[i - 1] > 0:
            count = sum(1 for g in got[:i] if g > 0)
            total += (beta * sum(got[:i]) + count) / (beta * sum(ideal[:i]) + i)
    return total / answers if answers else 0.0


def cascade(satisfactions):
    value, going_on = 0.0, 1.0
    for rank, satisfied in enumerate(satisfactions, start=1):
        value += going_on * satisfied / rank
        going_on *= 1.0 - satisfied
    return value


def ERR(topic, k=None, max_grade=None):
    if max_grade == "query":
        most = max(topic.labels.values(), default=0)
    elif max_grade is None:
        most = max((label for labels in topic.collection.values() for label in labels.values()), default=0)
    else:
        most = max_grade
    return cascade((2.0 ** max(0, topic.labels.get(d, 0)) - 1) / 2.0**most for d in top(topic.shown(), k))


def Judged(topic, k=None):
    seen = top(topic.ranking, k)
    return sum(1 for d in seen if d in topic.labels) / len(seen) if seen else 0.0


def NumRet(topic):
    return len(topic.shown())


def NumRel(topic, rel=1):
    return sum(1 for label in topic.labels.values() if label >= rel)


# -- truncation: paper 2 ----------------------------------------------------------------------------------


def truncated(topic, limit=None, nil=None, scale=None, gains=None):
    """r_1 … r_d, r_t (None where the list did not end on purpose), and the gains of the pool."""
    ranking, on_purpose = topic.ranking, True
    if nil is not None and nil in ranking:
        ranking = ranking[: ranking.index(nil)]
    elif limit is not None and len(ranking) >= limit:
        on_purpose = False
    most = largest_gain(topic, gains) if scale == "max" else 1.0
    unit = most if most > 0 else 1.0
    r = [g / unit for g in no_negatives(replace(topic, ranking=ranking).list_gains(gains))]
    pool = [g / unit for g in no_negatives(topic.pool_gains(gains))]
    total = sum(pool)
    terminal = 1.0 if total == 0 else sum(r) / total
    return r, terminal if on_purpose else None, pool


def extended(r, terminal):
    return r if terminal is None else [*r, terminal]


def RR_qwa(topic, **how):
    r, terminal, _ = truncated(topic, **how)
    for rank, gain in enumerate(extended(r, terminal), start=1):
        if gain > 0:
            return 1 / rank
    return 0.0


def P_qwa(topic, k, **how):
    r, terminal, _ = truncated(topic, **how)
    return sum(extended(r, terminal)[:k]) / k


def RBP_qwa(topic, p=0.5, **how):
    r, terminal, _ = truncated(topic, **how)
    value = sum((1 - p) * gain * p**i for i, gain in enumerate(r))
    return value if terminal is None else value + terminal * p ** len(r)


def nDCG_qwa(topic, **how):
    r, terminal, pool = truncated(topic, **how)
    ideal = sorted((g for g in pool if g > 0), reverse=True)
    if terminal is not None:
        ideal.append(1.0)
    listed = extended(r, terminal)
    best = dcg(ideal, len(listed))
    return dcg(listed) / best if best > 0 else 0.0


def AP_qwa(topic, **how):
    r, terminal, pool = truncated(topic, **how)
    total = sum(pool) + (terminal is not None)
    value, collected = 0.0, 0.0
    for rank, gain in enumerate(extended(r, terminal), start=1):
        collected += gain
        value += gain * collected / rank
    return value / total if total > 0 else 0.0


def answer(topic, nil=None, gains=None):
    """1 for a correct first answer, 0 for a wrong one, None where there is none (c@1)."""
    r, _, _ = truncated(topic, nil=nil, gains=gains)
    return None if not r else float(r[0] > 0)


# -- bounds: paper 3 --------------------------------------------------------------------------------------


def SP(topic, k):
    return sum_of_precisions(top([topic.labels.get(d, 0) > 0 for d in topic.shown()], k))


def MSP(topic, k):
    return SP(topic, k) / k


def E_DCG(topic, k, gains=None, base=None):
    pool = no_negatives(topic.pool_gains(gains))
    return dcg([sum(pool) / len(pool)] * len(pool), k, base) if pool else 0.0


def positive_DCG(topic, k=None, gains=None, base=None):
    return dcg(no_negatives(topic.list_gains(gains)), k, base)


def perfect_dcg(topic, k, gains=None, base=None):
    return dcg(sorted(no_negatives(topic.pool_gains(gains)), reverse=True), k, base)


def E_nDCG(topic, k, gains=None, base=None):
    return between(E_DCG(topic, k, gains, base), 0.0, perfect_dcg(topic, k, gains, base))


def E_SP(topic, k, expected="exact"):
    n = len(topic.labels)
    relevant = sum(1 for label in topic.labels.values() if label > 0)
    if n == 0:
        return 0.0
    p = relevant / n
    if expected == "paper":
        return k * p * p
    total = 0.0
    for i in range(1, min(k, n) + 1):
        others = (i - 1) * (relevant - 1) / (n - 1) if i > 1 else 0.0
        total += p / i * (1 + others)
    return total


def E_MSP(topic, k, expected="exact"):
    return E_SP(topic, k, expected) / k


def v1(value, random, perfect):
    if same(perfect, 0.0) or same(value + random, 0.0):
        return 0.0
    return value / perfect * value / (value + random)


def v2(value, random, perfect):
    if same(perfect, 0.0) or same(perfect, random) or same(value, random):
        return 0.0
    return (value - random) / (perfect - random if value >= random else random)


def DCG_ul1(topic, k, gains=None, expected="exact", base=None):  # the paper's expectation is exact
    return v1(*(of(topic, k, gains, base) for of in (positive_DCG, E_DCG, perfect_dcg)))


def DCG_ul2(topic, k, gains=None, expected="exact", base=None):
    return v2(*(of(topic, k, gains, base) for of in (positive_DCG, E_DCG, perfect_dcg)))


def perfect_msp(topic, k, upper):
    return 1.0 if upper == "k" else min(k, sum(1 for label in topic.labels.values() if label > 0)) / k


def MSP_ul1(topic, k, expected="exact", upper="k"):
    return v1(MSP(topic, k), E_MSP(topic, k, expected), perfect_msp(topic, k, upper))


def MSP_ul2(topic, k, expected="exact", upper="k"):
    return v2(MSP(topic, k), E_MSP(topic, k, expected), perfect_msp(topic, k, upper))


def rankings(topic):
    """All orders of the pool that differ in labels, each as often as it occurs: (topic, how often)."""
    orders: dict[tuple[float, ...], tuple[list[str], int]] = {}
    for order in permutations(topic.labels):
        key = tuple(topic.labels[d] for d in order)
        first, often = orders.get(key, (list(order), 0))
        orders[key] = first, often + 1
    return [(replace(topic, ranking=order, unjudged="zero"), often) for order, often in orders.values()]


def expectation(topic, name, **parameters):
    """Mean of a measure over all orders of the pool: small pools only."""
    total = count = 0
    for ranked, often in rankings(topic):
        total += often * value(ranked, name, **parameters)
        count += often
    return total / count


def perfection(topic, name, **parameters):
    """The highest value that any order of the pool has; paper 3 takes k for SP and 1 for MSP."""
    if name in ("SP", "MSP"):
        return parameters["k"] if name == "SP" else 1.0
    return max(value(ranked, name, **parameters) for ranked, _ in rankings(topic))


# -- top-k: paper 5 ---------------------------------------------------------------------------------------


def kNDCG(topic, k=None):
    return nDCG(topic, k, "exp")


def kERR(topic):
    return ERR(topic, None, "query")


# -- all queries ------------------------------------------------------------------------------------------

MICRO = {("Fdocs", "micro"), ("GoodFiltered", None), ("RelevantFiltered", None)}
SUMS = {"NumRet", "NumRel", "NumRelRet"}


def value(topic, name, **parameters):
    found = globals()[name](topic, **parameters)
    return found if not isinstance(found, tuple) else found[0] / found[1] if found[1] else 0.0


def evaluate(qrels, run, queries, name, parameters, *, gains="linear", unjudged="zero", around=None):
    """Each query's value in the order of ``queries``, and the aggregate.

    ``around`` is V1 or V2 (1 or 2), to be applied to the measure.
    """
    topics = [Topic(by_score(run.get(q, {})), qrels.get(q, {}), qrels, gains, unjudged) for q in queries]
    if name == "c_at_1":
        answers = [answer(t, **parameters) for t in topics]
        share = sum(a == 1 for a in answers) / len(answers)
        values = [share if a is None else a for a in answers]
        return values, sum(values) / len(values)
    if around is not None:
        normalise = v1 if around == 1 else v2
        name = "positive_DCG" if name == "DCG" else name
        values = [normalise(*(f(t, name, **parameters) for f in (value, expectation, perfection))) for t in topics]
        return values, sum(values) / len(values)
    values = [value(t, name, **parameters) for t in topics]
    if name == "GMAP":
        product = 1.0
        for ap in values:
            product *= max(ap, 0.00001) ** (1 / len(values))
        return values, product
    if name in SUMS:
        return values, sum(values)
    if (name, parameters.get("average", "micro" if name == "Fdocs" else None)) in MICRO:
        parts = [globals()[name](t, **parameters) for t in topics]
        bottom = sum(p[1] for p in parts)
        return values, sum(p[0] for p in parts) / bottom if bottom else 0.0
    return values, sum(values) / len(values)

"""The examples run, and what they print is an answer."""

import re

import pytest

from docs.generate.examples_page import printed, scripts

#: What each one prints, with # for a number, and what the numbers must say.
ANSWERS = {
    "guard_a_rag_pipeline": (
        "On # other questions # passages that must not be quoted reach a prompt without the guard and # with it; of "
        "useful passages # and #, and for # questions nothing is left to quote.",
        lambda asked, bad, still, good, kept, empty: still < bad / 5 and kept > good and empty < asked / 10,
    ),
    "label_a_top_10": (
        "# questions per query ordered its top 10 of #; on # new queries the ranker that learned from them has "
        "kNDCG@10 # (the engine #) and #% spam in its top 10 (the engine #%).",
        lambda asked, docs, _, ours, engine, spam, theirs: asked < docs * 2 and ours > engine and spam < theirs / 5,
    ),
    "pick_a_threshold": (
        "Show results from a score of # on (# to # with other queries): that leaves out #% of the forbidden "
        "results and #% of the good ones, and on new queries nDCG_f@5 is # instead of #.",
        lambda cut, low, high, bad, good, new, before: low <= cut <= high and bad > good and new > before,
    ),
    # The last two are nDCG@10: it does not see what a filter is for, and does see what it hides.
    "spam_filter_in_search": (
        "overfiltered is worth it: nDCG_f@10 goes from # to # (+#, uncorrected 95% interval +# to +#, p <# after "
        "Holm's correction for 2 filters, 200 queries). nDCG@10, which takes spam for a useless result, goes "
        "from # to #.",
        lambda before, after, _, __, ___, ____, usual, hidden: after > before and hidden < usual,
    ),
    "truncate_question_answering": (
        "End each list where scores fall below #: on # other questions AP_qwa rises from # to #, and whether "
        "there is an answer (#% have none) is right for #% of them instead of #%.",
        lambda _, __, before, after, ___, right, wrong: after > before and right > wrong,
    ),
}


@pytest.mark.parametrize("script", scripts(), ids=lambda path: path.stem)
def test_it_prints_an_answer(script):
    sentence, holds = ANSWERS[script.stem]
    said = " ".join(printed(script).split())
    found = re.search(re.escape(sentence).replace(r"\#", r"(\d+(?:\.\d+)?)"), said)
    assert found, said
    assert holds(*map(float, found.groups())), said


@pytest.mark.parametrize("script", scripts(), ids=lambda path: path.stem)
def test_it_is_short(script):
    assert len(script.read_text().splitlines()) < 60

"""Features of answers, worked out by hand."""

import numpy as np
import pytest

import ranksift as rs
from ranksift.collection.text_features import words_of
from ranksift.datasets import Answer, Thread, percqa_threads, semeval2016_threads, thread_features

THREAD = Thread(
    "q",
    "Cheap car?\nA cheap car for a month",  # 8 words, 5 of them different
    (
        Answer("c1", "Try the car of Oasis! Cheap!! see http://oasis.example", "Good", "ann"),
        Answer("c2", "THANKS Ann? where?", "Bad", "asker"),
        Answer("c3", "", "PotentiallyUseful", "ann"),
        Answer("c4", "...", None, "asker"),
    ),
    asker="asker",
)
# The answers have 10, 3, 0 and 0 words: 3.25 in the mean.
BY_HAND = {
    "place": [1, 2, 3, 4],
    "answers": [4, 4, 4, 4],
    "words": [10, 3, 0, 0],
    "question_words": [8, 8, 8, 8],
    "question_covered": [2 / 5, 0, 0, 0],  # cheap and car, of cheap, car, a, for, month
    "answer_covered": [2 / 9, 0, 0, 0],  # "oasis" occurs twice
    "question_marks": [0, 2, 0, 0],
    "exclamation_marks": [3, 0, 0, 0],
    "link": [1, 0, 0, 0],
    "thanks": [0, 1, 0, 0],
    "mean_words": [3.25, 3.25, 3.25, 3.25],
    "asker": [0, 1, 0, 1],
    "author_answers": [2, 2, 2, 2],
    "author_before": [0, 0, 1, 1],
    "asker_again": [1, 1, 1, 0],
    "asker_again_place": [2, 4, 4, 0],
    "asker_again_soon": [1, 1 / 2, 1, 0],
}
BY_AUTHOR = ("asker", "author_answers", "author_before", "asker_again", "asker_again_place", "asker_again_soon")


def columns(examples):
    return dict(zip(examples.feature_names, examples.features.T.tolist(), strict=True))


def test_seventeen_features():
    examples = thread_features([THREAD])
    assert columns(examples) == {name: pytest.approx(values) for name, values in BY_HAND.items()}
    assert len(examples.feature_names) == 17
    assert examples.docs == ("c1", "c2", "c3", "c4")
    assert examples.query_ids == ("q",)
    assert np.array_equal(examples.labels, [2, -1, 1, np.nan], equal_nan=True)


def without_authors(thread):
    answers = tuple(Answer(answer.id, answer.text, answer.word) for answer in thread.answers)
    return Thread("anonymous", thread.question, answers)


def test_without_authors_there_are_eleven():
    found = columns(thread_features([without_authors(THREAD)]))
    assert found == {name: pytest.approx(values) for name, values in BY_HAND.items() if name not in BY_AUTHOR}


def test_unknown_authors_are_missing_values():
    found = columns(thread_features([THREAD, without_authors(THREAD)]))
    for name, values in BY_HAND.items():
        others = [np.nan] * 4 if name in BY_AUTHOR else values
        assert np.allclose(found[name], [*values, *others], equal_nan=True), name


def test_an_unknown_author_among_known_ones():
    answers = (Answer("c1", "x", "Good"), Answer("c2", "y", "Bad", "asker"))
    found = columns(thread_features([Thread("q", "?", answers, asker="asker")]))
    values = [found[name] for name in BY_AUTHOR]
    assert np.array_equal(values, [[np.nan, 1], [np.nan, 1], [np.nan, 0], [1, 0], [2, 0], [1, 0]], equal_nan=True)


def test_persian():
    thread = Thread("q", "چه مي‌كنم؟", (Answer("1", "من میکنم، مرسی؟ www.example.org"), Answer("2", "نه")))
    found = columns(thread_features([thread]))
    assert found["question_covered"] == [0.5, 0]
    assert found["answer_covered"] == [1 / 6, 0]
    assert found["question_marks"] == found["thanks"] == found["link"] == [1, 0]


@pytest.mark.parametrize("same", ["É", "E\u0301", "e", "Ｅ"])
def test_words_without_case_and_accents(same):
    assert words_of(f"<{same}>") == ["e"]


def test_labels_of_ones_own():
    assert thread_features([THREAD], {"Good": 1, "PotentiallyUseful": 0, "Bad": -10}).labels[:3].tolist() == [1, -10, 0]
    with pytest.raises(
        rs.InputError, match="no label for 'Bad', the word for answer 'c2' of question 'q'; name a label"
    ):
        thread_features([THREAD], {"Good": 1})


@pytest.mark.parametrize(
    ("threads", "says"),
    [
        ([], "threads: there is no question; give at least one"),
        ([THREAD, THREAD], "question 'q' occurs twice; give each question once, with its answers"),
        ([Thread("q", "?", ())], "question 'q' has no answers; give each question once, with its answers"),
    ],
)
def test_threads_that_are_refused(threads, says):
    with pytest.raises(rs.InputError) as error:
        thread_features(threads)
    assert str(error.value) == says


@pytest.mark.parametrize(
    ("read", "name", "queries", "labelled"),
    [(semeval2016_threads, "semeval2016_task3_cqa", 670, 6_700), (percqa_threads, "percqa", 990, 21_919)],
)
def test_real_collections(data_dir, read, name, queries, labelled):
    if not (data_dir / name).is_dir():
        pytest.skip(f"no {name} in {data_dir}: set RANKSIFT_DATA")
    examples = thread_features(read(data_dir / name))
    assert len(examples.query_ids) == queries
    assert int(np.isfinite(examples.labels).sum()) == labelled
    assert np.isfinite(examples.features).all()
    # Each tells some answers from others: a pattern that never matches would not. All lists of SemEval have ten.
    spread = dict(zip(examples.feature_names, np.ptp(examples.features, axis=0), strict=True))
    assert {feature for feature, width in spread.items() if width == 0} <= {"answers"}

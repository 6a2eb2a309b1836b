"""Threads with text: the files of SemEval-2016 and of PerCQA, and what is refused of them."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

import ranksift as rs
from ranksift.datasets import Answer, Thread, distinct_threads, percqa_threads, semeval2016_threads
from ranksift.learning import three_way


def comment(answer="Q1_R2_C1", word="Good", author="U1", text="Try Oasis &amp; co"):
    return (
        f'<RelComment RELC_ID="{answer}" RELC_USERID="{author}" RELC_RELEVANCE2ORGQ="Bad" '
        f'RELC_RELEVANCE2RELQ="{word}">\n<RelCText>{text}</RelCText></RelComment>\n'
    )


def thread(comments, question="Q1_R2", asker="U9", original="Q1"):
    return (
        f'<OrgQuestion ORGQ_ID="{original}">\n<OrgQSubject>o</OrgQSubject><OrgQBody/>\n<Thread>\n'
        f'<RelQuestion RELQ_ID="{question}" RELQ_USERID="{asker}"><RelQSubject>Car?</RelQSubject>'
        f"<RelQBody>Cheap</RelQBody></RelQuestion>\n{comments}</Thread>\n</OrgQuestion>\n"
    )


def semeval(tmp_path: Path, text: str) -> list[Thread]:
    (tmp_path / "CQA-QL-train-part2.xml.gz").write_bytes(gzip.compress(text.encode()))
    return semeval2016_threads(tmp_path)


def percqa(tmp_path: Path, *records: object) -> list[Thread]:
    lines = (one if isinstance(one, str) else json.dumps(one) for one in records)
    (tmp_path / "percqa.trimmed.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return percqa_threads(tmp_path)


def record(**others):
    comments = [{"cid": "5", "label": "Good", "text": "تولد"}, {"cid": "6", "label": None, "text": ""}]
    return {"qid": "1", "date": "2018-01-01", "subject": "قهر", "body": "چه کنم؟", "comments": comments} | others


def test_semeval2016(tmp_path):
    comments = comment() + comment("Q1_R2_C2", "?", "-", "")
    found = semeval(tmp_path, f"<xml>\n{thread(comments)}{thread(comment(), 'Q1_R3', '-')}</xml>")
    answers = (Answer("Q1_R2_C1", "Try Oasis & co", "Good", "U1"), Answer("Q1_R2_C2", "", None, None))
    assert found[0] == Thread("Q1_R2", "Car?\nCheap", answers, "U9", "Q1")
    assert (found[1].id, found[1].asker, found[1].group) == ("Q1_R3", None, "Q1")


def test_semeval2016_under_its_own_name_and_another_part(tmp_path):
    (tmp_path / "SemEval2016-Task3-CQA-QL-dev.xml").write_text(f"<xml>{thread(comment())}</xml>")
    assert len(semeval2016_threads(tmp_path, "dev")) == 1
    with pytest.raises(
        rs.InputError, match=r"there is no CQA-QL-train-part2\.xml; name a folder of SemEval-2016 Task 3"
    ):
        semeval2016_threads(tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<root/>", "1: <root>: not a file of SemEval-2016, which begins with <xml>"),
        ("<xml/>", "there is no question"),
        ("<xml>\n<Question/></xml>", "2: <Question>: not expected in <xml>"),
        (f"<xml>\n{thread('')}</xml>", "4: <Thread>: question 'Q1_R2' has no answers"),
        (f"<xml>\n{thread(comment())}{thread(comment())}</xml>", "12: <Thread>: question 'Q1_R2' occurs twice"),
        (
            f"<xml>\n{thread(comment() * 2)}</xml>",
            "4: <Thread>: answer 'Q1_R2_C1' of question 'Q1_R2' occurs twice",
        ),
        (f"<xml>\n{thread(comment(answer=''))}</xml>", "4: <Thread>: an id is empty"),
        (f"<xml>\n{thread(comment())}</xml>".replace("RELC_ID", "CID"), "6: <RelComment>: it has no RELC_ID"),
        (f"<xml>\n{thread(comment())}</xml>".replace("ORGQ_ID", "ID"), "2: <OrgQuestion>: it has no ORGQ_ID"),
        (f"<xml>\n{thread(comment(text='a <b>c</b>'))}</xml>", "7: <b>: not expected in the text of <RelCText>"),
        (f"<xml>\n{thread(comment() + 'lost')}</xml>", "4: <Thread>: text stands between its elements"),
        (f"<xml>\n{thread(comment())[:-20]}", "damaged XML"),
    ],
)
def test_semeval2016_refused(tmp_path, text, says):
    with pytest.raises(rs.InputError) as error:
        semeval(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'CQA-QL-train-part2.xml.gz'}:")
    assert says in str(error.value)


def test_percqa(tmp_path):
    empty = [{"cid": "7", "label": "", "text": "x", "user": "passed over"}]
    found = percqa(tmp_path, record(), "", record(qid="2", comments=empty))
    assert found[0] == Thread("1", "قهر\nچه کنم؟", (Answer("5", "تولد", "Good"), Answer("6", "")))
    assert found[1].answers == (Answer("7", "x"),)
    assert found[1].group == "2"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ('{"qid": ', "2: damaged JSON ("),
        ('{"qid": "2", "qid": "3"}', "2: damaged JSON ('qid' occurs twice)"),
        ([], "2: this line is not an object but a list; write each line as: {"),
        (record(), "2: question '1' occurs twice"),
        (record(qid="2", comments=[]), "2: question '2' has no answers"),
        (record(qid=2), "2: 'qid' of this line is a int"),
        (record(qid=""), "2: an id is empty"),
        ({"qid": "2"}, "2: this line has no 'comments'"),
        (record(qid="2", comments=["x"]), "2: comment 1 is not an object but a str"),
        (record(qid="2", comments=[{"cid": "1", "text": "x"}]), "2: comment 1 has no 'label'"),
        (record(qid="2", comments=[{"cid": "1", "text": "x", "label": 2}]), "2: 'label' of comment 1 is a int"),
        (record(qid="2", comments=[{"cid": "1", "text": None, "label": ""}]), "2: 'text' of comment 1 is a NoneType"),
    ],
)
def test_percqa_refused(tmp_path, wrong, says):
    with pytest.raises(rs.InputError) as error:
        percqa(tmp_path, record(), wrong)
    assert str(error.value).startswith(f"{tmp_path / 'percqa.trimmed.jsonl.gz'}:{says}")


def test_percqa_without_anything(tmp_path):
    with pytest.raises(rs.InputError, match=r"there is no percqa\.jsonl; name a folder of PerCQA"):
        percqa_threads(tmp_path)
    with pytest.raises(rs.InputError, match="there is no question; give at least one"):
        percqa(tmp_path, "", "")
    with pytest.raises(rs.InputError, match=r"the file is empty; write each line as: \{"):
        percqa(tmp_path)


def test_a_thread_with_another_answer_is_not_a_copy():
    first, other = (Answer("c1", "yes", "Good"),), (Answer("c1", "no", "Good"),)
    threads = [Thread("1", "q", first), Thread("2", "q", other), Thread("3", "q", first), Thread("4", "r", first)]
    assert [thread.id for thread in distinct_threads(threads)] == ["1", "2", "4"]


# -- real data ---------------------------------------------------------------------------------------------------------


def real(data_dir: Path, name: str) -> Path:
    if not (data_dir / name).is_dir():
        pytest.skip(f"no {name} in {data_dir}: set RANKSIFT_DATA")
    return data_dir / name


def test_real_semeval2016(data_dir):
    threads = semeval2016_threads(real(data_dir, "semeval2016_task3_cqa"))
    assert (len(threads), len({thread.original for thread in threads})) == (670, 67)
    assert {len(thread.answers) for thread in threads} == {10}
    words = Counter(answer.word for thread in threads for answer in thread.answers)
    assert words == {"Bad": 3058, "PotentiallyUseful": 1159, "Good": 2483}
    distinct = distinct_threads(threads)
    assert len(distinct) == 583
    examples = rs.datasets.thread_features(distinct)
    folds = three_way(examples, groups={thread.id: thread.group for thread in distinct})
    assert sum(len(fold.test.query_ids) for fold in folds) == 583
    original = {thread.id: thread.original for thread in threads}
    for fold in folds:
        parts = [{original[query] for query in part.query_ids} for part in fold]
        assert sum(map(len, parts)) == len(set.union(*parts)) == 66  # one question's threads are all copies


def test_real_percqa(data_dir):
    threads = percqa_threads(real(data_dir, "percqa"))
    words = Counter(answer.word for thread in threads for answer in thread.answers)
    assert len(threads) == len(distinct_threads(threads)) == 990
    assert words == {"Bad": 10_700, "Good": 10_468, "Potential": 751, None: 67}
    assert all(thread.asker is None and thread.group == thread.id for thread in threads)

"""compare, explain, describe, check: what the library finds, in every format."""

import csv
import io
import json
from pathlib import Path

import pytest

import ranksift as rs
from tests.cli.conftest import Command

Files = dict[str, Path]
NAMES = ["unfiltered", "filtered", "weak"]


def keys(text: str) -> list[str]:
    return list(json.loads(text))


# -- compare -------------------------------------------------------------------------------------------


@pytest.fixture
def compared(ranksift: Command, files: Files):
    def command(*options: object):
        return ranksift("compare", files["qrels"], *(files[n] for n in NAMES), "-m", "nDCG_f@10 AP", *options)

    return command


@pytest.mark.parametrize("test", ["t", "randomization", "bootstrap", "wilcoxon", "tukey", "unpaired"])
@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", "none"])
def test_compare_is_the_librarys(compared, files: Files, test, correction):
    scores = rs.evaluate(files["qrels"], {n: files[n] for n in NAMES}, "nDCG_f@10 AP")
    expected = rs.compare(scores, "unfiltered", test, correction, samples=500, seed=7).to_dict()
    options = ["--baseline", "unfiltered", "--test", test, "--correction", correction, "--samples", 500, "--seed", 7]
    found = json.loads(compared("-f", "json", *options).out)
    assert found == {"ranksift": rs.__version__, **expected}


def test_compare_json_has_exactly_these_keys(compared):
    found = json.loads(compared("-f", "json").out)
    assert list(found) == [
        "ranksift", "test", "correction", "alpha", "confidence", "samples", "seed", "queries", "baseline", "measures",
        "runs", "comparisons",
    ]  # fmt: skip
    assert list(found["comparisons"][0]) == [
        "measure", "run", "baseline", "mean", "baseline_mean", "difference", "relative_difference", "low", "high",
        "effect_size", "statistic", "p", "corrected_p", "significant", "wins", "ties", "losses",
    ]  # fmt: skip


def test_compare_formats(compared):
    assert "A letter means significantly better" in compared().out
    assert "interval" in compared("--details").out
    assert compared("-f", "markdown").out.splitlines()[2].startswith("|")
    assert r"\begin{tabular}" in compared("-f", "latex").out
    rows = list(csv.DictReader(io.StringIO(compared("-f", "csv").out)))
    assert len(rows) == 3 * 2
    assert {row["significant"] for row in rows} <= {"true", "false"}


def test_a_baseline_is_named_by_name_or_path(compared, files: Files):
    by_name, by_path = (compared("-f", "json", "--baseline", b).out for b in ("weak", files["weak"]))
    assert json.loads(by_name)["baseline"] == "weak"
    assert by_name == by_path


@pytest.mark.parametrize("options", [["--baseline", "nobody"], ["--alpha", "2"], ["--samples", "0"], ["--seed", "-1"]])
def test_compare_refuses(compared, options: list[str]):
    code, out, err = compared(*options)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_compare_needs_two_runs(ranksift: Command, files: Files):
    assert ranksift("compare", files["qrels"], files["weak"]).code == 2
    alone = ranksift("compare", files["qrels"], files["weak"], "--baseline", files["filtered"])
    assert alone.err == ("a comparison needs at least 2 runs; give the file of the baseline among the runs too\n")


# -- explain -------------------------------------------------------------------------------------------


def test_explain_a_run(ranksift: Command, files: Files):
    base = ["explain", files["qrels"], files["unfiltered"], "-m", "nDCG_f@10", "--gains=-2=-10"]
    expected = rs.explain(files["qrels"], files["unfiltered"], "nDCG_f@10", gains={-2: -10}, worst=3)
    found = json.loads(ranksift(*base, "--worst", 3, "-f", "json").out)
    assert found == {"ranksift": rs.__version__, **expected.to_dict()}
    assert list(found) == [
        "ranksift", "run", "measure", "higher_is_better", "number_of_queries", "overall", "queries",
    ]  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(ranksift(*base, "-f", "csv").out)))
    assert [row["query_id"] for row in rows] == [q.query_id for q in expected.queries]
    assert float(rows[0]["lost_to_forbidden"]) == expected.queries[0].losses.to_forbidden
    rows = list(csv.DictReader(io.StringIO(ranksift(*base, "--worst", 3, "-f", "csv").out)))
    assert [row["query_id"] for row in rows] == [q.query_id for q in expected.queries[:3]]
    assert "The 3 queries that lose most" in ranksift(*base, "--worst", 3).out
    assert "| query" in ranksift(*base, "-f", "markdown").out


def test_explain_a_query(ranksift: Command, files: Files):
    query = rs.read_qrels(files["qrels"]).query_ids[0]
    base = ["explain", files["qrels"], files["unfiltered"], "-m", "nDCG_f@5", "--query", query]
    expected = rs.explain(files["qrels"], files["unfiltered"], "nDCG_f@5", query=query)
    found = json.loads(ranksift(*base, "-f", "json").out)
    assert found == {"ranksift": rs.__version__, **expected.to_dict()}
    assert list(found) == [
        "ranksift", "query_id", "run", "measure", "higher_is_better", "length", "value", "empty", "best",
        "lost_to_forbidden", "lost_to_misordering", "lost_to_missing", "most_harmful", "documents", "ideal", "missing",
    ]  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(ranksift(*base, "-f", "csv").out)))
    assert [row["doc_id"] for row in rows] == [d.doc_id for d in expected.documents]
    assert query in ranksift(*base).out


def test_explain_an_empty_list_as_csv(ranksift: Command, tiny):
    tiny["run"].write_text("# nothing\n")
    out = ranksift("explain", tiny["qrels"], tiny["run"], "--query", "q1", "-f", "csv").out
    assert out == "rank,doc_id,score,label,gain,discount,contribution,forbidden,if_filtered\n"


def test_explain_an_unknown_query(ranksift: Command, tiny):
    code, _, err = ranksift("explain", tiny["qrels"], tiny["run"], "--query", "q3")
    assert code == 2
    assert "'q3'" in err


# -- describe ------------------------------------------------------------------------------------------


def test_describe(ranksift: Command, files: Files):
    base = ["describe", files["qrels"], files["weak"], files["perfect"]]
    expected = rs.describe(files["qrels"], [files["weak"], files["perfect"]])
    found = json.loads(ranksift(*base, "-f", "json").out)
    assert found == {"ranksift": rs.__version__, **expected.to_dict()}
    assert list(found) == [
        "ranksift", "qrels", "topics", "judgments", "labels", "judged_per_topic", "relevant_per_topic",
        "forbidden_per_topic", "topics_without_relevant", "topics_with_forbidden", "topics_with_only_forbidden",
        "share_by_documents", "per_topic", "runs", "judged_length_over_runs",
    ]  # fmt: skip
    assert str(expected) + "\n" == ranksift(*base).out
    assert "|" in ranksift(*base, "-f", "markdown").out


def test_describe_judgments_alone_and_other_depths(ranksift: Command, files: Files):
    assert json.loads(ranksift("describe", files["qrels"], "-f", "json").out)["runs"] == []
    found = json.loads(ranksift("describe", files["qrels"], files["weak"], "-k", 3, "-k", 1, "-f", "json").out)
    assert list(found["runs"][0]["judged_at"]) == ["1", "3"]


# -- check ---------------------------------------------------------------------------------------------


def test_check_decides_the_exit_code(ranksift: Command, files: Files):
    base = ["check", files["qrels"], files["filtered"], "--require"]
    value = rs.evaluate(files["qrels"], files["filtered"], "nDCG_f@10").mean_of("nDCG_f@10")
    passed, failed = ranksift(*base, f"nDCG_f@10>={value - 0.01}"), ranksift(*base, f"nDCG_f@10>={value + 0.01}")
    assert (passed.code, failed.code) == (0, 1)
    assert "PASSED" in passed.out
    assert "missed by 0.01" in failed.out
    assert (passed.err, failed.err) == ("", "")


def test_check_json(ranksift: Command, files: Files):
    base = ["check", files["qrels"], files["weak"], "-r", "AP>0.99 Fdocs@3<0.5", "--not-worse-than", files["filtered"]]
    code, out, _ = ranksift(*base, "-f", "json")
    expected = rs.check(files["qrels"], files["weak"], "AP>0.99 Fdocs@3<0.5", not_worse_than=files["filtered"])
    assert json.loads(out) == {"ranksift": rs.__version__, **expected.to_dict()}
    assert code == 1
    assert keys(out) == [
        "ranksift",
        "passed",
        "run",
        "baseline",
        "test",
        "alpha",
        "requirements",
        "differences",
        "coverage",
        "notes",
    ]
    assert "|" in ranksift(*base, "-f", "markdown").out


def test_check_against_a_baseline_alone(ranksift: Command, files: Files):
    base = ["check", files["qrels"], files["weak"], "--not-worse-than"]
    assert ranksift(*base, files["weak"]).code == 0
    worse = ranksift(*base, files["perfect"], "-f", "json")
    assert worse.code == 1
    assert json.loads(worse.out)["differences"][0]["measure"] == "nDCG_f@10"


@pytest.mark.parametrize("options", [[], ["-r", "AP"], ["-r", "AP>"], ["-r", "AP>x"], ["-r", "XY>0.1"], ["-m", "AP"]])
def test_check_refuses(ranksift: Command, tiny, options: list[str]):
    code, out, err = ranksift("check", tiny["qrels"], tiny["run"], *options)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_check_finds_a_typing_error_before_it_reads(ranksift: Command):
    assert "XY" in ranksift("check", "no.qrels", "no.run", "-r", "XY>0.1").err


@pytest.mark.parametrize("command", ["evaluate", "explain"])
def test_numbers_too_large_are_refused(ranksift: Command, files: Files, command: str):
    outcome = ranksift(command, files["qrels"], files["filtered"], "-m", "nDCG_f@10", "--gains=-2=-1e308,2=1e308")
    assert (outcome.code, outcome.out) == (2, "")
    assert "too large" in outcome.err


def test_a_check_of_nothing_is_an_error_in_the_words_of_the_command(ranksift, tmp_path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 b 0\n")
    (tmp_path / "new.run").write_text("q Q0 a 1 0.5 new\n")
    (tmp_path / "empty.run").write_text("# nothing was found\n")
    gate = ["check", tmp_path / "qrels.txt"]
    done = ranksift(*gate, tmp_path / "new.run", "--require", "Fdocs@3<=0.02")
    assert (done.code, done.out) == (2, "")
    assert 'say which label is, with --gains="0=-1" for example, or allow it on purpose: --allow-empty' in done.err
    assert ranksift(*gate, tmp_path / "new.run", "--require", "Fdocs@3<=0.02", "--allow-empty").code == 0
    assert ranksift(*gate, tmp_path / "new.run", "--require", "AP>=0.5").code == 0
    assert "lists no document" in ranksift(*gate, tmp_path / "empty.run", "--require", "AP>=0").err
    assert ranksift(*gate, tmp_path / "new.run", "--require", "Fdocs@3<=1", "--gains=-1=-10").code == 2


# -- verdict -------------------------------------------------------------------------------------------


@pytest.fixture
def judged_filter(ranksift: Command, files: Files):
    def command(*options: object):
        return ranksift("verdict", files["qrels"], files["unfiltered"], files["filtered"], *options)

    return command


def test_verdict_is_the_librarys(judged_filter, files: Files):
    found = rs.verdict(files["qrels"], files["unfiltered"], files["filtered"], "nDCG_f@5", gains={-2: -10}, samples=99)
    out = judged_filter("-m", "nDCG_f@5", "--gains", "-2=-10", "--samples", 99, "-f", "json").out
    assert json.loads(out) == {"ranksift": rs.__version__, **json.loads(json.dumps(found.to_dict()))}


def test_verdict_formats(judged_filter):
    sentence = "filtered is worth it: nDCG_f@10 goes from "
    assert judged_filter().out.startswith(sentence)
    assert judged_filter("-f", "markdown").out.startswith(sentence)
    assert r"\begin{tabular}" in judged_filter("-f", "latex").out
    rows = list(csv.DictReader(io.StringIO(judged_filter("-f", "csv").out)))
    assert len(rows) == 20
    assert set(rows[0]) >= {"run", "query_id", "before", "after", "difference", "forbidden"}


@pytest.mark.parametrize("name", ["compare", "evaluate", "verdict"])
@pytest.mark.parametrize(("suffix", "form"), [("md", "markdown"), ("tex", "latex"), ("json", "json"), ("csv", "csv")])
def test_the_name_of_the_file_tells_the_format(ranksift: Command, files: Files, tmp_path: Path, name, suffix, form):
    command, target = [name, files["qrels"], files["unfiltered"], files["filtered"]], tmp_path / f"results.{suffix}"
    assert ranksift(*command, "--out", target).code == 0
    assert target.read_text() == ranksift(*command, "--format", form).out
    assert ranksift(*command, "--format", "table", "--out", target).code == 0
    assert target.read_text() == ranksift(*command).out


def test_verdict_writes_a_page(judged_filter, tmp_path: Path):
    page = tmp_path / "verdict.html"
    found = judged_filter("--out", page)
    assert found.out.splitlines()[0].startswith("filtered is worth it")
    html = page.read_text()
    assert "<h1>filtered is worth it</h1>" in html
    assert "ranksift verdict" in html
    assert judged_filter("--out", page, "-f", "json").code == 2
    assert page.read_text() == html


def test_verdict_says_in_one_line_what_is_wrong(ranksift: Command, tiny: Files):
    for wrong in (
        ["verdict", tiny["qrels"], tiny["run"], tiny["run"].with_name("absent.run")],
        ["verdict", tiny["qrels"], tiny["run"], tiny["run"], "-m", "Fdocs@10"],
        ["verdict", "-", "-", tiny["run"]],
    ):
        found = ranksift(*wrong)
        assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("compare", ["-m", "nDCG_f@5"]),
        ("verdict", []),
        ("explain", []),
        ("check", ["--allow-empty", "--require", "nDCG_f@5>=0"]),
    ],
)
def test_a_label_that_says_unjudged(ranksift: Command, tmp_path, command: str, words: list[str]):
    qrels, one, two = (tmp_path / name for name in ("qrels.txt", "one.run", "two.run"))
    qrels.write_text("".join(f"{q} 0 a 1\n{q} 0 b -1\n" for q in range(3)))
    one.write_text("".join(f"{q} Q0 b 1 {2 + q} x\n{q} Q0 a 2 1 x\n" for q in range(3)))
    two.write_text("".join(f"{q} Q0 a 1 2 x\n" for q in range(3)))
    base = [command, qrels, one, *([two] if command in ("compare", "verdict") else []), *words]
    found = ranksift(*base)
    assert (found.code, found.err.count("--unjudged-label -1")) == (0, 1)
    assert "--unjudged-label" not in ranksift(*base, "--gains=-1=-1").err
    without = ranksift(*base, "--unjudged-label", "-1")
    assert without.code == 0
    assert "--unjudged-label" not in without.err
    assert without.out != found.out

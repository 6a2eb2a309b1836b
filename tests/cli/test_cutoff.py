"""ranksift cutoff: from labelled documents to a rule, and from a rule to a shorter run."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from tests.cli.conftest import Command

Files = dict[str, Path]


@pytest.fixture
def fitted(ranksift: Command, files: Files, tmp_path: Path):
    def command(*options: object):
        out = tmp_path / "cutoff.json"
        return ranksift(
            "cutoff", "fit", files["qrels"], files["unfiltered"], "--out", out, "--samples", 50, *options
        ), out

    return command


def test_fit_writes_a_rule_and_says_what_it_does(fitted, files: Files):
    done, out = fitted("--measure", "nDCG_f@5", "--gains=-2=-10")
    assert (done.code, done.err) == (0, "")
    cut = rs.load_cutoff(out)
    expected = rs.GlobalCutoff("nDCG_f@5")
    with pytest.warns(rs.RankSiftWarning, match="have no label"):
        expected.fit_run(files["qrels"], files["unfiltered"], gains={-2: -10})
    assert cut.threshold_ == expected.threshold_
    assert f"{expected.value_:.4f}" in done.out
    lists = rs.Lists.from_run(files["qrels"], files["unfiltered"], gains={-2: -10})
    assert f"{expected.cross_validated(lists).value:.4f}" in done.out
    assert "promise" in done.out


def test_fit_tells_the_risk_that_it_was_asked_for(fitted):
    done, out = fitted("--rule", "risk", "--alpha", 0.5, "--delta", "none", "--k", 2)
    told = {line.rsplit("  ", 1)[0].strip(): line.split()[-1] for line in done.out.splitlines() if "risk" in line}
    cut = rs.load_cutoff(out)
    assert (told["risk"], told["risk, compared with 0.5"]) == (f"{cut.risk_:.4f}", f"{cut.bound_:.4f}")
    assert told["risk, everything shown"] == f"{cut.fitted_on_['risk']['keep_all']:.4f}"


def test_fit_says_that_queries_are_too_few_for_folds(fitted):
    done, _ = fitted("--folds", 100_000)
    assert "new queries (" not in done.out
    assert "fewer queries than 100000 folds" in done.out


def test_fit_as_json(fitted):
    done, out = fitted("--format", "json")
    said = json.loads(done.out)
    assert said["threshold"] == json.loads(out.read_text())["threshold"]
    assert said["summary"]["queries"] == 20
    assert set(said) >= {"format", "rule", "parameters", "keep", "promise", "fitted_on", "notes", "summary"}


def test_a_table_is_judgments_and_run_at_once(ranksift: Command, tmp_path):
    table = tmp_path / "scored.csv"
    table.write_text("query,document,score,label\nq,a,0.9,1\nq,b,0.4,-1\nr,c,0.7,2\nr,d,0.2,-1\n")
    assert ranksift("cutoff", "fit", table, "--out", tmp_path / "c.json").code == 0
    assert rs.load_cutoff(tmp_path / "c.json").threshold_ == 0.7


@pytest.mark.parametrize("rule", ["normalized", "shape", "expected-gain", "risk"])
def test_every_rule(fitted, rule):
    done, out = fitted("--rule", rule, "--gains=-2=-10")
    assert done.code == 0
    assert rs.load_cutoff(out).rule == rule
    assert f"Cutoff: {rule}" in done.out


def test_parameters_of_a_rule(fitted):
    assert rs.load_cutoff(fitted("--rule", "normalized", "--set", "by=zscore")[1]).by == "zscore"
    cut = rs.load_cutoff(fitted("--rule", "risk", "--alpha", 0.5, "--delta", "none", "--k", 2)[1])
    assert (cut.alpha, cut.delta, cut.k) == (0.5, None, 2)


def test_two_scores(ranksift: Command, tmp_path):
    table, run = tmp_path / "scored.csv", tmp_path / "new.run"
    table.write_text(
        "query,document,score,cut_score,label\nq,a,3,0.9,2\nq,b,2,0.1,-1\nq,c,1,0.8,1\nr,a,3,0.9,2\nr,b,2,0.1,-1\nr,c,1,0.8,1\n"
    )
    assert ranksift("cutoff", "fit", table, "--out", tmp_path / "c.json").code == 0
    run.write_text("s Q0 x 1 3 t\ns Q0 y 2 2 t\n")
    spam = tmp_path / "spam.run"
    spam.write_text("s Q0 x 1 0.2 t\ns Q0 y 2 0.85 t\n")
    done = ranksift("cutoff", "apply", tmp_path / "c.json", run)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "--cut-scores" in done.err
    done = ranksift("cutoff", "apply", tmp_path / "c.json", run, "--cut-scores", spam, "--out", tmp_path / "short.run")
    assert done.code == 0
    assert rs.read_run(tmp_path / "short.run").to_dict() == {"s": {"y": 2.0}}


def test_apply_drops_and_counts(fitted, ranksift: Command, files: Files, tmp_path):
    _, out = fitted("--gains=-2=-10")
    done = ranksift("cutoff", "apply", out, files["unfiltered"], "--out", tmp_path / "short.run")
    assert done.code == 0
    run, short = rs.read_run(files["unfiltered"]), rs.read_run(tmp_path / "short.run")
    threshold = rs.load_cutoff(out).threshold_
    kept = {q: {d: s for d, s in docs.items() if s >= threshold} for q, docs in run.to_dict().items()}
    assert {q: d for q, d in short.to_dict().items() if d} == {q: d for q, d in kept.items() if d}
    assert f"{len(run) - len(short)} of {len(run)} documents dropped" in done.err
    assert ranksift("cutoff", "apply", out, files["unfiltered"]).out == (tmp_path / "short.run").read_text()


def test_another_scale_is_refused(fitted, ranksift: Command, tmp_path):
    _, out = fitted()
    run = tmp_path / "probabilities.run"
    run.write_text("".join(f"q Q0 d{i} {i} {1 - i / 100} t\n" for i in range(1, 60)))
    done = ranksift("cutoff", "apply", out, run, "--out", tmp_path / "short.run")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "--any-scale" in done.err
    assert not (tmp_path / "short.run").exists()
    assert ranksift("cutoff", "apply", out, run, "--any-scale", "--out", tmp_path / "short.run").code == 0


@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png"])
def test_pictures(fitted, tmp_path, suffix):
    done, _ = fitted("--plot", tmp_path / f"curve{suffix}")
    assert done.code == 0
    first = (tmp_path / f"curve{suffix}").read_bytes()
    assert first.startswith({".svg": b"<?xml", ".pdf": b"%PDF", ".png": b"\x89PNG"}[suffix])
    fitted("--plot", tmp_path / f"curve{suffix}")
    assert (tmp_path / f"curve{suffix}").read_bytes() == first


def test_compare_is_the_librarys(ranksift: Command, files: Files, tmp_path):
    options = [
        "--gains=-2=-10",
        "--k",
        5,
        "--folds",
        4,
        "--seed",
        2,
        "--rules",
        "rank-only global oracle",
        "--rules",
        "12",
    ]
    done = ranksift("cutoff", "compare", files["qrels"], files["unfiltered"], *options, "--format", "json")
    assert (done.code, done.err) == (0, "")
    with pytest.warns(rs.RankSiftWarning):
        expected = rs.compare_cutoffs(
            rs.read_qrels(files["qrels"]), rs.read_run(files["unfiltered"]),
            rules=["rank-only", "global", "oracle", 12.0], gains={-2: -10}, k=5, folds=4, seed=2,
        )  # fmt: skip
    found = json.loads(done.out)
    assert [row["rule"] for row in found["rules"]] == ["rank-only", "global", "oracle", "12"]
    assert {row["rule"]: row["nDCG_f@5"] for row in found["rules"]} == {
        r: expected.value(r) for r in expected.scores.runs
    }


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv"])
def test_compare_in_every_format(ranksift: Command, files: Files, tmp_path, form):
    command = ["cutoff", "compare", files["qrels"], files["unfiltered"], "--rules", "global oracle", "--format", form]
    done = ranksift(*command, "--plot", tmp_path / "t.svg", "--out", tmp_path / "t.txt")
    assert done.code == 0
    assert "oracle" in (tmp_path / "t.txt").read_text()
    assert (tmp_path / "t.svg").stat().st_size > 1000


@pytest.fixture
def lone(tmp_path: Path) -> Path:
    """Twelve queries with one document, a third of them forbidden, and six with two."""
    rows = [f"one{i},d,{i},{-1 if i % 3 == 0 else 1}" for i in range(12)]
    rows += [f"two{i},{d},{i + v},{v}" for i in range(6) for d, v in (("a", 1), ("b", -1))]
    table = tmp_path / "lone.csv"
    table.write_text("\n".join(["query_id,doc_id,score,label", *rows]) + "\n")
    return table


def test_single_documents_apart(ranksift: Command, lone: Path):
    command = ["cutoff", "compare", lone, "--rules", "filter-all rank-only", "--folds", 3, "--apart"]
    text = ranksift(*command)
    assert (text.code, text.err) == (0, "")
    assert [line for line in text.out.splitlines() if line.startswith("Rules on")] == [
        "Rules on 18 queries",
        "Rules on 12 queries",
        "Rules on 6 queries",
    ]
    assert "Single-document queries; " in text.out
    found = json.loads(ranksift(*command, "--format", "json").out)
    assert list(found["apart"]) == ["single-document queries", "other queries"]
    assert [row["nDCG_f@3"] for row in found["apart"]["single-document queries"]["rules"]] == [4 / 12, 8 / 12]
    rows = ranksift(*command, "--format", "csv").out.splitlines()
    assert rows[0].startswith("of,rule,")
    assert [row.partition(",")[0] for row in rows[1:]] == [
        name for name in ("all queries", "single-document queries", "other queries") for _ in range(2)
    ]
    assert ranksift(*command, "--format", "markdown").out.count("**Rules on") == 3
    assert ranksift(*command, "--format", "latex").out.count("\\begin{tabular}") == 3


def test_nothing_to_set_apart_is_told(ranksift: Command, files: Files):
    command = ["cutoff", "compare", files["qrels"], files["unfiltered"], "--rules", "global"]
    done = ranksift(*command, "--apart")
    assert done.err == "note: there is nothing to show separately: no query has a single document\n"
    assert done.out == ranksift(*command).out


def test_judged_on_other_data(ranksift: Command, files: Files, tmp_path):
    command = ["cutoff", "compare", files["qrels"], files["unfiltered"], "--rules", "global", "--format", "json"]
    other = ["--judge-on", files["qrels"], "--judge-on", files["weak"]]
    found = json.loads(ranksift(*command, *other).out)
    with pytest.warns(rs.RankSiftWarning):
        cut = rs.GlobalCutoff("nDCG_f@3").fit_run(files["qrels"], files["unfiltered"])
    expected = rs.evaluate(files["qrels"], cut.apply(files["weak"]), "nDCG_f@3").mean_of("nDCG_f@3")
    assert found["rules"][0]["nDCG_f@3"] == pytest.approx(expected, abs=1e-12)


def test_audit(fitted, ranksift: Command, files: Files):
    _, out = fitted("--gains=-2=-10")
    command = ["cutoff", "audit", out, files["qrels"], files["unfiltered"], "--gains=-2=-10"]
    done = ranksift(*command, "--worst", 3)
    assert done.code == 0
    assert "Most costly false drops" in done.out
    assert "Queries that lose most" in done.out
    assert len(json.loads(ranksift(*command, "--format", "json").out)["false_drops"]) <= 10
    rows = ranksift(*command, "--format", "csv").out.splitlines()
    assert len(rows) == 1 + len(rs.read_run(files["unfiltered"]))
    query = rs.read_run(files["unfiltered"]).query_ids[0]
    assert query in ranksift(*command, "--query", query).out


def test_rules_are_listed(ranksift: Command):
    done = ranksift("cutoff", "rules")
    assert done.code == 0
    assert "global" in done.out
    assert "alpha=0.05" in done.out


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["fit", "{qrels}"], "is not a table"),
        (["fit", "{qrels}", "{run}", "{run}"], "3 files are given"),
        (["fit", "{qrels}", "{run}", "--rule", "magic"], "rule 'magic' is unknown"),
        (["fit", "{qrels}", "{run}", "--set", "by=max"], "the rule global has no parameter 'by'"),
        (["fit", "{qrels}", "{run}", "--set", "by"], "is not of the form NAME=VALUE"),
        (["fit", "{qrels}", "{run}", "--alpha", "0.1"], "the rule global has no parameter 'alpha'"),
        (["fit", "{qrels}", "{run}", "--measure", "beauty"], "beauty"),
        (["fit", "{qrels}", "{run}", "--measure", "AP RR"], "is 2 measures"),
        (["fit", "{qrels}", "{run}", "--plot", "x.jpg"], "x.jpg"),
        (["fit", "absent.csv"], "absent.csv"),
        (["apply", "absent.json", "{run}"], "absent.json"),
        (["apply", "{qrels}", "{run}"], "is not JSON"),
        (["fit", "{qrels}", "{run}", "--delta", "often", "--rule", "risk"], "--delta 'often'"),
    ],
)
def test_bad_input_is_one_line(ranksift: Command, tiny, tmp_path, monkeypatch, arguments, fault):
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    done = ranksift("cutoff", *(str(a).format(**tiny) for a in arguments))
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert fault in done.err
    assert set(tmp_path.iterdir()) == before


class TestAtMost:
    """``cutoff fit --at-most``: the best threshold within limits."""

    def test_fit_keeps_the_limits_and_says_what_they_come_to(self, fitted, files: Files):
        limits = "GoodFiltered<=0.3 Empty<=0.1"
        done, out = fitted("--measure", "nDCG_f@5", "--gains=-2=-10", "--at-most", limits)
        assert (done.code, done.err) == (0, "")
        lists = rs.Lists.from_run(files["qrels"], files["unfiltered"], gains={-2: -10})
        expected = rs.GlobalCutoff("nDCG_f@5", at_most=limits).fit_lists(lists)
        assert rs.load_cutoff(out).threshold_ == expected.threshold_
        assert expected.threshold_ < rs.GlobalCutoff("nDCG_f@5").fit_lists(lists).threshold_
        shorter = rs.load_cutoff(out).apply(files["unfiltered"])
        means = rs.evaluate(files["qrels"], shorter, "Fdocs@5 GoodFiltered Empty", gains={-2: -10})
        told = {line.rsplit("  ", 1)[0].strip(): line.split()[-1] for line in done.out.split("\n") if line}
        assert told["GoodFiltered"] == f"{means.mean_of('GoodFiltered'):.4f}"
        assert told["Fdocs@5"] == f"{means.mean_of('Fdocs@5'):.4f}"
        folds = sum(expected.cross_validated(lists).kept)
        assert f"GoodFiltered {told['GoodFiltered, new queries (5 folds)']} (" in done.out
        assert f"and all were kept in {folds} of 5 folds" in done.out

    def test_as_json(self, fitted):
        said = json.loads(fitted("--at-most", "GoodFiltered<=0.3", "--format", "json")[0].out)
        assert said["parameters"]["at_most"] == "GoodFiltered<=0.3"
        assert said["summary"]["limits"] == ["GoodFiltered<=0.3"]
        assert said["summary"]["costs"]["GoodFiltered"]["fitted"] <= 0.3
        assert len(said["summary"]["limits_kept_in_folds"]) == 5

    def test_the_picture(self, fitted, tmp_path):
        pytest.importorskip("matplotlib")
        done, _ = fitted("--at-most", "GoodFiltered<=0.3", "--plot", tmp_path / "curve.svg")
        assert done.code == 0
        assert (tmp_path / "curve.svg").read_text().startswith("<?xml")

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (("--at-most", "GoodFiltered"), "'GoodFiltered' is not understood; write limits as 'Empty<=0.1"),
            (("--at-most", "GoodFiltered<0.3"), "the limit GoodFiltered<0.3 has <; use <= or >="),
            (("--at-most", ""), "no limit is given"),
            (("--at-most", "Empty<=0", "--rule", "risk"), "the rule risk cannot keep limits; leave --at-most out"),
        ],
    )
    def test_what_is_written_wrongly_is_told_before_files_are_read(self, ranksift: Command, options, said):
        done = ranksift("cutoff", "fit", "not-there.csv", *options)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert said in done.err

    def test_limits_that_cannot_be_kept(self, fitted):
        done, out = fitted("--at-most", "Fdocs@3<=0 GoodFiltered<=0.01")
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert "no threshold keeps Fdocs@3<=0 and GoodFiltered<=0.01: with GoodFiltered<=0.01 the least" in done.err
        assert not out.exists()

    def test_limits_that_a_part_of_the_queries_cannot_keep(self, ranksift: Command, tmp_path):
        table = tmp_path / "scored.csv"
        table.write_text("query,document,score,label\nq,a,3,1\nr,b,2,1\nr,c,1,-1\ns,d,4,1\n")
        done = ranksift("cutoff", "fit", table, "--at-most", "NumRet>=4", "--folds", 3, "--samples", 20)
        assert done.code == 0
        assert (
            "limits: kept on the documents that it was fitted on; their values on other queries are not known"
            in done.out
        )
        assert "is not known: without one of the 3 folds no threshold keeps NumRet>=4: the most NumRet is" in done.out
        assert "new queries (" not in done.out


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_picture_without_matplotlib_is_refused_before_anything_is_written(
    ranksift: Command, files: Files, tmp_path, monkeypatch, command
):
    monkeypatch.setattr("ranksift.plotting.can_draw", lambda: False)
    out = ["--out", tmp_path / "cutoff.json"] if command == "fit" else []
    done = ranksift("cutoff", command, files["qrels"], files["weak"], *out, "--plot", tmp_path / "curve.svg")
    assert done.code == 2
    assert done.err.startswith("pictures need matplotlib; pip install 'ranksift[report]'")
    assert list(tmp_path.iterdir()) == []


class TestVerdict:
    """The last paragraph of fit: is it worth it?"""

    @pytest.fixture
    def said(self, ranksift: Command, tmp_path):
        def command(rows, *options: object) -> str:
            table = tmp_path / "scored.csv"
            table.write_text("query_id,doc_id,score,label\n" + "".join(f"{q},d{i},{s},{x}\n" for i, (q, s, x) in rows))
            done = ranksift("cutoff", "fit", table, "--samples", 0, *options)
            assert done.code == 0
            return done.out.rstrip().rpartition("\n\n")[2]

        return command

    def test_a_score_that_tells_good_from_forbidden(self, said):
        rows = [(q, 0.9 - 0.001 * q, 1) for q in range(40)] + [(q, 0.1 + 0.001 * q, -1) for q in range(40)]
        told = said(enumerate(rows))
        assert told.startswith("The cutoff is worth it. On new queries it beats showing everything by +0.")
        assert told.endswith("p <0.0001) in nDCG_f@3.")

    def test_a_score_that_says_nothing(self, said):
        rows = [(q, (7 * (2 * q + i)) % 41, x) for q in range(40) for i, x in enumerate((1, -3))]
        told = said(enumerate(rows))
        assert told.startswith("It is better to show nothing. On new queries nDCG_f@3 is 0.")
        assert "this score does not separate good from forbidden documents well enough for these gains" in told
        assert "It is better to show nothing" not in said(
            enumerate(rows), "--at-most", "Empty<=0.5"
        )  # that is not wanted

    def test_few_queries(self, said):
        rows = [(q, (q + i) % 3, x) for q in range(5) for i, x in enumerate((2, 2, -1))]
        told = said(enumerate(rows))
        assert "which may be chance: label more queries to find out" in told or "the same with the cutoff as" in told

    def test_a_cutoff_that_no_new_query_notices(self, said):
        """What is forbidden stands below the top 3, and the measure sees nothing of it: no document is dropped."""
        rows = [(q, 9 - i, x) for q in range(20) for i, x in enumerate((1, 1, 1, 0, -1))]
        told = said(enumerate(rows))
        assert told == (
            "The cutoff does not change nDCG_f@3. On every new query it is the same with the cutoff as with everything "
            "shown. The cutoff drops nothing."
        )

    def test_a_cutoff_that_drops_nothing_is_not_called_worse_than_everything_shown(self, said):
        """Fitted to all queries it shows everything; fitted to parts of them it does not, and loses by it."""
        draw = np.random.default_rng(38)
        rows = [(q, round(draw.normal() + 0.4 * (x > 0), 3), x) for q in range(40) for x in (2, 1, -1, -1)]
        told = said(enumerate(rows))
        assert re.fullmatch(
            r"The cutoff drops nothing. Fitted to all of these queries, it shows everything. Fitted to some of them, "
            r"it changes nDCG_f@3 on the others by -0.\d{4} \(95% interval -0.\d{4} to [+-]0.\d{4}, p .*\).",
            told,
        )

    def test_fewer_queries_than_folds(self, said):
        told = said(enumerate([("a", 1, 1), ("b", 0, -1)]))
        assert told == (
            "It is not known whether the cutoff is worth it. Its effect on queries that it was not fitted on is not "
            "known."
        )

    def test_binary_labels_and_what_to_do_about_them(self, said):
        rows = [(q, 0.9 - 0.001 * q, 1) for q in range(20)] + [(q, 0.1, 0) for q in range(20)]
        told = said(enumerate(rows))
        assert told.startswith("There is nothing to gain. No label is forbidden")
        assert '--gains="0=-1"' in told
        assert said(enumerate(rows), "--gains", "0=-1").startswith("The cutoff is worth it.")

    def test_by_other_scores_a_cutoff_gains_where_nothing_is_forbidden(self, ranksift: Command, tmp_path):
        """What is useless makes room for what is relevant."""
        qrels, run, cut = (tmp_path / name for name in ("qrels.txt", "a.run", "b.run"))
        qrels.write_text("".join(f"{q} 0 good 1\n{q} 0 dull 0\n" for q in range(20)))
        run.write_text("".join(f"{q} Q0 dull 1 2 a\n{q} Q0 good 2 1 a\n" for q in range(20)))
        cut.write_text("".join(f"{q} Q0 good 1 2 b\n{q} Q0 dull 2 1 b\n" for q in range(20)))
        done = ranksift("cutoff", "fit", qrels, run, "--cut-scores", cut, "--samples", 0)
        assert "The cutoff is worth it. On new queries it beats showing everything by +0." in done.out
        assert "no label is forbidden" in done.out

    def test_what_is_said_is_said_once(self, ranksift: Command, tmp_path):
        table, page = tmp_path / "scored.csv", tmp_path / "page.html"
        table.write_text("query_id,doc_id,score,label\n" + "".join(f"{q},d,{q},{q % 2}\n" for q in range(20)))
        done = ranksift("cutoff", "fit", table, "--samples", 20, "--out", tmp_path / "cutoff.json", "--page", page)
        assert done.out.count("must not be shown") == page.read_text().count("must not be shown") == 1
        assert "-∞ (nothing is dropped) to" not in done.out

    def test_the_numbers_are_those_of_compare(self, fitted, files: Files):
        done, _ = fitted("--format", "json", "--gains=-2=-10")
        summary = json.loads(done.out)["summary"]
        found = summary["advantage"]
        assert found["difference"] == pytest.approx(summary["expected"] - summary["keep_all"])
        assert found["low"] <= found["difference"] <= found["high"]
        assert found["better"] == (found["p"] <= 0.05) * (1 if found["difference"] > 0 else -1)
        assert summary["verdict"]


class TestPage:
    """fit --page: the slider."""

    def test_it_is_written_and_says_so(self, fitted, tmp_path):
        page = tmp_path / "page.html"
        done, _ = fitted("--gains=-2=-10", "--page", page)
        assert f"The page: {page}" in done.out
        html = page.read_text(encoding="utf-8")
        assert done.out.rstrip().rpartition("\n\n")[2].split(". ")[0] in html
        assert "--gains=-2=-10" in html  # how it was made
        assert not re.search(r"""(src|href)=["'](?!#|data:)""", html)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["--rule", "normalized", "--page", "page.html"], "has no single threshold"),
            (["--page", "page.pdf"], "page.pdf: a page is HTML; name it .html"),
        ],
    )
    def test_what_has_no_page_is_told_before_files_are_read(self, ranksift: Command, options, said):
        code, out, err = ranksift("cutoff", "fit", "none.csv", *options)
        assert (code, out) == (2, "")
        assert said in err

"""ranksift study: runs or ready scores in, a folder out."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Command

Files = dict[str, Path]
NAMES = ["unfiltered", "filtered", "weak"]
QUICK = ["--samples", 50, "--topic-sets", 10]


@pytest.fixture
def studied(ranksift: Command, files: Files, tmp_path: Path):
    def command(*options: object, out: str = "out"):
        return ranksift("study", files["qrels"], *(files[n] for n in NAMES), *QUICK, "--out", tmp_path / out, *options)

    return command


def test_a_folder_and_a_table(studied, tmp_path):
    done = studied("-m", "nDCG@5 nDCG_f@5", "--gains=-2=-10", "--only", "boundedness agreement")
    assert (done.code, done.err) == (0, "")
    assert "nDCG_f@5" in done.out
    assert f"The page: {tmp_path / 'out' / 'index.html'}" in done.out
    page = (tmp_path / "out" / "index.html").read_text()
    assert "--gains=-2=-10" in page
    assert "--out DIR" in page
    assert str(tmp_path / "out") not in page


def test_same_seed_same_bytes_in_any_folder(studied, tmp_path):
    for out in ("one", "two"):
        assert studied("-m", "nDCG_f@5 AP", "--seed", 3, "--only", "stability", out=out).code == 0
    names = sorted(p.name for p in (tmp_path / "one").iterdir())
    assert [n for n in names if (tmp_path / "one" / n).read_bytes() != (tmp_path / "two" / n).read_bytes()] == []
    assert studied("-m", "nDCG_f@5 AP", "--seed", 4, "--only", "stability", out="three").code == 0
    assert (tmp_path / "one/stability.csv").read_bytes() != (tmp_path / "three/stability.csv").read_bytes()


@pytest.mark.parametrize("preset", ["forbidden-2022", "negative-2020", "bounds-2022", "topk-2012"])
def test_presets(studied, tmp_path, preset):
    assert studied("--preset", preset, "--only", "reliability agreement").code == 0
    assert preset in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.parametrize(("size", "queries"), [("7", 7), ("0.25", 5)])
def test_the_size_of_query_types(studied, tmp_path, size, queries):
    import polars as pl

    assert studied("-m", "nDCG@5", "--only", "query-types", "--types-size", size).code == 0
    types = pl.read_csv(tmp_path / "out" / "query-types.csv")
    assert len(types) == 20
    assert types["uninformative"].sum() == types["ideal"].sum() == queries


@pytest.mark.parametrize("size", ["many", "26", "0", "-1", "0.7", "nan", "2.5", ""])
def test_bad_sizes_of_query_types(studied, tmp_path, size):
    done = studied("-m", "nDCG@5", "--only", "query-types", f"--types-size={size}")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert not (tmp_path / "out").exists()


def test_options_reach_the_procedures(studied, tmp_path):
    options = ["--fuzziness", 0.1, "--fuzz", "relative", "--counts", "topics", "--method", "sign", "--alpha", 0.1]
    assert studied("-m", "AP RR", *options, "--only", "stability", "--only", "sensitivity discrimination").code == 0
    page = (tmp_path / "out" / "index.html").read_text()
    assert "counting topics, fuzziness 0.1 (relative)" in page
    assert "sign method, 50 samples" in page
    assert "p &lt;= 0.1" in page


def test_lists_that_end(studied, tmp_path):
    assert studied("-m", "AP", "--limit", 5, "--only", "truncation").code == 0
    assert (tmp_path / "out" / "truncation.csv").is_file()


def test_what_two_runs_cannot_show_is_left_out_unless_it_is_named(ranksift: Command, tmp_path):
    (tmp_path / "ap.csv").write_text("topic,a,b\n1,0.5,0.1\n2,0.5,0.4\n3,0.2,0.4\n")
    done = ranksift("study", "--scores", tmp_path / "ap.csv", *QUICK, "--out", tmp_path / "all")
    assert (done.code, done.err) == (0, "")
    assert re.match(r"Scores, by AP\nrun +AP\n[- ]+\na +0.4000\nb +0.3000\n", done.out)
    assert "two runs are too few for a variance between runs" in (tmp_path / "all" / "index.html").read_text()
    assert not (tmp_path / "all" / "reliability.csv").exists()
    named = ["--only", "reliability", "--out", tmp_path / "one"]
    assert ranksift("study", "--scores", tmp_path / "ap.csv", *QUICK, *named).code == 0
    assert (tmp_path / "one" / "reliability.csv").is_file()


def test_a_procedure_that_compares_no_measures_prints_its_own_table(ranksift: Command, tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 0\nr 0 c 0\n")
    (tmp_path / "hedges").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\nr Q0 c 1 2 t\nr Q0 NIL 2 1 t\n")
    (tmp_path / "stops").write_text("q Q0 a 1 2 t\nr Q0 NIL 1 2 t\n")
    files = [tmp_path / name for name in ("qrels", "hedges", "stops")]
    done = ranksift("study", *files, "--preset", "quit-2016", "--only", "truncation", "--out", tmp_path / "out")
    assert (done.code, done.err) == (0, "")
    whole, answerable, page = done.out.strip().split("\n\n")
    assert whole.startswith("Truncation: 2 runs, 2 queries, 1 without an answer")
    assert [line.split()[:3] for line in whole.splitlines()[3:5]] == [
        ["hedges", "100.0%", "50.0%"],
        ["stops", "100.0%", "100.0%"],
    ]
    assert answerable.startswith("Truncation: 2 runs, 1 query, 0 without an answer")
    assert page.startswith("The page: ")
    shown = (tmp_path / "out" / "index.html").read_text()
    assert shown.count("<h2>") == 3  # files, truncation, how it was made
    assert "At a glance" not in shown
    assert "8 measures studied on 2 runs and 2 topics.<" in shown
    assert "The 1 query that has an answer" in shown
    assert (tmp_path / "out" / "truncation-answerable.csv").is_file()
    alone = ranksift("study", *files, "--preset", "quit-2016", "--only", "truncation")
    assert (alone.code, alone.err, alone.out.strip()) == (0, "", f"{whole}\n\n{answerable}")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_ready_scores(ranksift: Command, tmp_path, ending):
    import polars as pl

    table = pl.DataFrame({"topic": ["a", "b", "c"], "bm25": [0.1, 0.5, 0.4], "rm3": [0.2, 0.7, 0.5]})
    path = tmp_path / f"ours{ending}"
    table.write_csv(path) if ending == ".csv" else table.write_parquet(path)
    done = ranksift("study", "--scores", path, "-m", "AP", *QUICK, "--out", tmp_path / "out")
    assert done.code == 0
    assert "AP" in done.out
    assert ranksift("study", "--scores", path, *QUICK, "--out", tmp_path / "named").out.count("\nours ") == 1


def test_tables_with_names(ranksift: Command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.csv", "two.csv"):
        Path(name).write_text("topic,a,b\n1,0.5,0.1\n2,0.5,0.4\n")
    done = ranksift("study", "--scores", "AP=one.csv", "--scores", "RR=two.csv", "--only", "agreement", "--out", "out")
    assert done.code == 0
    assert "AP" in done.out
    assert "RR" in done.out
    done = ranksift("study", "--scores", "AP=one.csv", "--scores", "AP=two.csv", "--out", "other")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "given twice" in done.err


def test_large_runs_are_read_one_at_a_time_and_kept_until_the_end(studied, tmp_path, monkeypatch):
    from ranksift.cli import options
    from ranksift.report import study as report

    monkeypatch.setattr(options, "_LONG", 0)

    def broken(*rest, **how):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(report, "write_study", broken)
        assert studied("-m", "nDCG_f@5 AP", "--only", "boundedness agreement").code == 130
    assert len(list((tmp_path / "out" / "evaluated").iterdir())) == 6
    assert studied("-m", "nDCG_f@5 AP", "--only", "boundedness agreement").code == 0
    assert not (tmp_path / "out" / "evaluated").exists()
    monkeypatch.undo()
    assert studied("-m", "nDCG_f@5 AP", "--only", "boundedness agreement", out="small").code == 0
    assert (tmp_path / "out/agreement.csv").read_bytes() == (tmp_path / "small/agreement.csv").read_bytes()


def test_a_users_folder_of_the_same_name_is_kept(studied, tmp_path):
    thesis = tmp_path / "out" / "evaluated" / "thesis.txt"
    thesis.parent.mkdir(parents=True)
    thesis.write_text("mine")
    assert studied("-m", "AP RR", "--only", "agreement").code == 0
    assert thesis.read_text() == "mine"


def test_a_folder_in_the_way_is_told_before_the_work(ranksift: Command, tmp_path):
    for name in ("file", "page/index.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    for out, fault in (("file", "is not a folder"), ("page", "no study wrote it")):
        done = ranksift("study", "--scores", tmp_path / "absent.csv", "--out", tmp_path / out)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert fault in done.err


def test_the_folder_is_no_part_of_the_page_however_it_is_named(studied, ranksift: Command, files, tmp_path):
    command = ["study", files["qrels"], files["weak"], files["filtered"], "-m", "AP RR", "--only", "agreement"]
    for i, out in enumerate((["--out", tmp_path / "0"], [f"--out={tmp_path / '1'}"], [f"-o{tmp_path / '2'}"])):
        assert ranksift(*command, *out).code == 0
        assert (tmp_path / str(i) / "index.html").read_bytes() == (tmp_path / "0" / "index.html").read_bytes()


def test_duplicates(ranksift: Command, files: Files, tmp_path):
    twice = tmp_path / "twice.run"
    rows = files["weak"].read_text().splitlines()
    twice.write_text("\n".join([*rows, rows[0]]) + "\n")
    command = [
        "study",
        files["qrels"],
        twice,
        files["filtered"],
        "-m",
        "AP RR",
        "--only",
        "agreement",
        "--out",
        tmp_path / "o",
    ]
    assert ranksift(*command).code == 2
    assert ranksift(*command, "--on-duplicate", "first").code == 0


def test_scores_of_a_study_can_be_studied_again(studied, ranksift: Command, tmp_path):
    assert studied("-m", "nDCG_f@5 AP", "--only", "reliability").code == 0
    done = ranksift("study", "--scores", tmp_path / "out/scores.csv", *QUICK, "--out", tmp_path / "again")
    assert done.code == 0
    assert (tmp_path / "out/reliability.csv").read_bytes() == (tmp_path / "again/reliability.csv").read_bytes()


def wide(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("topic,a\n1,0.5\n2,0.6\n", "at least 2 runs"),
        ("topic,a,b\n1,0.5,0.4\n", "at least 2 queries"),
        ("topic,a,b\n1,0.5,\n2,0.5,0.4\n", "table.csv:2"),
        ("topic,a,b\n1,0.5,NaN\n2,0.5,0.4\n", "table.csv:2"),
        ("topic,a,a\n1,0.5,0.1\n2,0.5,0.4\n", "'a'"),
        ("", "table.csv"),
        ("topic,a,b\n", "table.csv"),
    ],
)
def test_bad_tables_are_one_line_and_no_folder(ranksift: Command, tmp_path, text, fault):
    done = ranksift("study", "--scores", wide(tmp_path, text), "--out", tmp_path / "out")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert fault in done.err
    assert not (tmp_path / "out").exists()


def test_constant_and_copied_systems_are_told(ranksift: Command, tmp_path):
    table = wide(tmp_path, "topic,a,b,c\n1,0.5,0.5,0.2\n2,0.1,0.1,0.2\n3,0.1,0.1,0.9\n")
    done = ranksift("study", "--scores", table, *QUICK, "--out", tmp_path / "out")
    assert done.code == 0
    assert done.out.count("have the same values in every query") == 1
    table.write_text("topic,a,b\n1,0.5,0.5\n2,0.5,0.5\n")
    done = ranksift("study", "--scores", table, *QUICK, "--out", tmp_path / "flat")
    assert done.code == 0
    assert "cannot tell anything apart" in done.out


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--out", "{}"], "no run is given"),
        (["q", "--out", "{}"], "no run is given"),
        (["q", "r", "--scores", "t.csv", "--out", "{}"], "'q' and --scores are given"),
        (["--scores", "t.csv"], "say where the page goes"),
        (["--scores", "t.csv", "--out", ""], "say where the page goes"),
        (["--scores", "t.csv", "--only", "stability", "--out", ""], "say where the page goes"),
        (["--scores", "t.csv", "--gains=-2=-10", "--out", "{}"], "'--gains' and --scores are given"),
        (["--scores", "t.csv", "--limit", "5", "--out", "{}"], "'--limit' and --scores are given"),
        (["--scores", "t.csv", "--types-size", "5", "--out", "{}"], "'--types-size' and --scores are given"),
        (["--scores", "absent.csv", "--out", "{}"], "absent.csv"),
        (["--scores", "t.csv", "--only", "beauty", "--out", "{}"], "'beauty'"),
        (["--scores", "t.csv", "--preset", "beauty", "--out", "{}"], "'beauty'"),
        (["--scores", "t.csv", "--seed", "-1", "--out", "{}"], "-1"),
    ],
)
def test_usage(ranksift: Command, tmp_path, monkeypatch, options, fault):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("topic,a,b\n1,0.5,0.1\n2,0.5,0.4\n")
    done = ranksift("study", *(str(o).format(tmp_path / "out") for o in options))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert fault in done.err
    assert not (tmp_path / "out").exists()


def test_a_users_file_is_kept(ranksift: Command, tmp_path):
    table = tmp_path / "scores.csv"
    table.write_text("topic,a,b\n1,0.5,0.1\n2,0.5,0.4\n")
    done = ranksift("study", "--scores", table, *QUICK, "--out", tmp_path)
    assert done.code == 2
    assert "no study wrote it" in done.err
    assert table.read_text().startswith("topic,a,b")
    assert [p.name for p in tmp_path.iterdir()] == ["scores.csv"]


def test_properties(ranksift: Command, tmp_path):
    import json

    done = ranksift("study", "properties", "-m", "nDCG_f@10 P@3", "--documents", 3, "--counterexamples")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Properties of measures, in all 238 lists of up to 3 documents\n")
    assert "P@3, top-weightedness: judged [1, 0]: P@2 gives [0, 1] 0.5000, and [1, 0] 0.5000.\n" in done.out
    assert "top-weightedness: judged" not in ranksift("study", "properties", "-m", "P@3").out
    done = ranksift("study", "properties", "-m", "RR", "--format", "json", "--out", tmp_path / "out.json")
    held = json.loads((tmp_path / "out.json").read_text())["measures"]["RR"]
    assert (done.code, held["scale"]) == (0, {"holds": None, "counterexample": None})
    assert held["convergence"]["holds"] == "no"
    lines = ranksift("study", "properties", "-m", "DCG@3", "--gains", "exp", "--format", "csv").out.splitlines()
    assert lines[0] == "measure,property,holds,counterexample"
    assert lines[1] == 'DCG@3,boundedness,no,"judged [1, 1]: DCG@2 gives [1, 1] 1.6309"'
    assert ranksift("study", "properties", "-m", "AP", "--format", "markdown").out.startswith("**Properties")


def test_bad_words_about_properties(ranksift: Command):
    for words, said in [
        (["-m", "nope"], "measure 'nope' is unknown"),
        (["--documents", 9], "9 is not in the range"),
        (["qrels.txt"], "unexpected extra argument"),
        (["--gains", "=="], "gains"),
    ]:
        done = ranksift("study", "properties", *words)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert said in done.err


def test_two_collections_side_by_side(studied, ranksift: Command, files: Files, tmp_path):
    other = tmp_path / "later.txt"
    other.write_text("".join(line + "\n" for line in files["qrels"].read_text().splitlines()[::2]))
    done = studied("-m", "nDCG_f@5 AP", "--only", "reliability agreement", "--against", other)  # of the same runs
    assert (done.code, done.err) == (0, "")
    assert "2 measures on qrels (3 runs, " in done.out
    assert [line.split()[:2] for line in done.out.splitlines()[3:7]] == [
        [m, name] for m in ("nDCG_f@5", "AP") for name in ("qrels", "later")
    ]
    assert (tmp_path / "out" / "later-reliability.csv").is_file()
    own = studied("-m", "nDCG_f@5 AP", "--only", "reliability agreement", "--against", other, *(
        word for name in NAMES for word in ("--against", files[name])
    ), out="own")  # fmt: skip
    assert own.out.splitlines()[:-1] == done.out.splitlines()[:-1]  # the last one names the folder
    tables = [tmp_path / "out" / f"{name}-scores.csv" for name in ("qrels", "later")]
    again = ranksift(
        "study", "--scores", tables[0], "--against", tables[1], "--only", "reliability", *QUICK, "--out", tmp_path / "n"
    )
    assert again.code == 0
    assert (tmp_path / "n/later-scores-reliability.csv").read_bytes() == (
        tmp_path / "out/later-reliability.csv"
    ).read_bytes()


def test_collections_in_files_of_one_name_are_told_apart(ranksift: Command, tmp_path):
    for year in ("2012", "2013"):
        (tmp_path / year).mkdir()
        (tmp_path / year / "ap.csv").write_text("topic,a,b\n1,0.5,0.1\n2,0.5,0.4\n3,0.1,0.4\n")
    tables = ["--scores", f"AP={tmp_path / '2012/ap.csv'}", "--against", f"AP={tmp_path / '2013/ap.csv'}"]
    done = ranksift("study", *tables, "--only", "reliability", *QUICK, "--out", tmp_path / "out")
    assert done.code == 0
    assert "1 measure on 2012/ap.csv (2 runs, 3 topics) and 2013/ap.csv (2 runs, 3 topics)" in done.out


def test_a_collection_in_the_current_folder_has_no_slash_before_it(ranksift: Command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "later").mkdir()
    for path in ("ap.csv", "later/ap.csv"):
        (tmp_path / path).write_text("topic,a,b\n1,0.5,0.1\n2,0.5,0.4\n3,0.1,0.4\n")
    done = ranksift("study", "--scores", "AP=ap.csv", "--against", "AP=later/ap.csv", "--only", "reliability", *QUICK)
    assert "1 measure on ap.csv (2 runs, 3 topics) and later/ap.csv (2 runs, 3 topics)" in done.out


def test_collections_are_called_by_what_sets_their_files_apart(ranksift: Command, tmp_path):
    (tmp_path / "a.run").write_text("q Q0 a 1 2 t\nr Q0 b 1 1 t\n")
    (tmp_path / "b.run").write_text("q Q0 b 1 2 t\nr Q0 b 1 1 t\n")
    for year in ("2012", "2013"):
        (tmp_path / f"qrels.web{year}.adhoc.txt").write_text("q 0 a 1\nq 0 b 0\nr 0 b 1\n")
    files = [tmp_path / name for name in ("qrels.web2012.adhoc.txt", "a.run", "b.run")]
    done = ranksift("study", *files, "--against", tmp_path / "qrels.web2013.adhoc.txt", "--only", "discrimination")
    assert done.code == 0
    assert "on web2012 (2 runs, 2 topics) and web2013 (2 runs, 2 topics)" in done.out
    tables = []
    for option, year in (("--scores", "2012"), ("--against", "2013")):
        for name in ("ap", "rr"):
            path = tmp_path / f"trec{year}_{name}.csv"
            path.write_text("topic,a,b\n1,0.5,0.1\n2,0.5,0.4\n3,0.1,0.4\n")
            tables += [option, f"{name.upper()}={path}"]
    done = ranksift("study", *tables, "--only", "reliability", *QUICK)
    assert "2 measures on trec2012 (2 runs, 3 topics) and trec2013 (2 runs, 3 topics)" in done.out


def test_without_a_page_every_procedure_prints_its_table(ranksift: Command, files: Files):
    runs = [files[name] for name in NAMES]
    done = ranksift(
        "study", files["qrels"], *runs, "-m", "nDCG@5 AP", "--only", "discrimination query-types", "--types-size", 5
    )
    assert done.code == 0
    titles = [block.splitlines()[0] for block in done.out.strip().split("\n\n")]
    assert titles[:2] == [
        "2 measures on 3 runs, 20 topics",
        "Discrimination: 3 runs, 20 queries, paired t test, no correction, p <= 0.05",
    ]
    types = "Types of 20 queries: real scores against those of a random ranking"
    assert {f"{types} (by nDCG@5)", f"{types} (by AP)"} < set(titles)
    sets = "Discrimination: 3 runs, 5 queries, paired t test, no correction, p <= 0.05"
    assert {
        f"{sets} (the 5 {kind} queries by {m})" for kind in ("ideal", "uninformative") for m in ("nDCG", "AP")
    } < set(titles)


def test_bad_words_about_another_collection(studied, files: Files, tmp_path):
    for words, said in [
        (["--against", tmp_path / "absent"], "absent"),
        (["--against", "-", "--against", "-"], "named twice"),
    ]:
        done = studied("-m", "AP", *words)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert said in done.err

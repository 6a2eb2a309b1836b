"""ranksift cutoff: from labelled documents to a rule, and from a rule to a shorter run."""

import json
from pathlib import Path

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
    assert f"{expected.cross_validated().value:.4f}" in done.out
    assert "promise" in done.out


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


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["fit", "{qrels}"], "is no table"),
        (["fit", "{qrels}", "{run}", "{run}"], "3 files are given"),
        (["fit", "{qrels}", "{run}", "--rule", "magic"], "rule 'magic' is unknown"),
        (["fit", "{qrels}", "{run}", "--by", "max"], "--by: the rule global has no such parameter"),
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

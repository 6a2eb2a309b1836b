"""Evaluation that was broken off goes on where it was, and only there."""

import os
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift.collection import judged_runs as module
from ranksift.datasets.synthetic import synthetic_collection, write_collection
from ranksift.evaluation.cache import forget

MEASURES = "nDCG_f@5 AP Fdocs@3 c_at_1"


@pytest.fixture
def files(tmp_path: Path):
    return write_collection(*synthetic_collection(queries=6, seed=1), tmp_path / "data")


@pytest.fixture
def reads(monkeypatch):
    """Names of the runs that were read."""
    names: list[str] = []
    real = module.read_run

    def spy(source, **how):
        names.append(Path(source).stem)
        return real(source, **how)

    monkeypatch.setattr(module, "read_run", spy)
    return names


def evaluated(files, cache, measures=MEASURES, **how):
    runs = [files[n] for n in ("unfiltered", "filtered", "weak")]
    return rs.evaluate(files["qrels"], runs, measures, cache=cache, **how)


def same(one: rs.Scores, two: rs.Scores) -> bool:
    arrays = all(np.array_equal(getattr(one, n), getattr(two, n)) for n in ("numerators", "denominators"))
    return arrays and all(getattr(one, n) == getattr(two, n) for n in ("runs", "queries", "degenerate", "notes"))


@pytest.mark.parametrize("queries", ["qrels", "run"])
def test_what_is_kept_is_what_was_computed(files, reads, tmp_path, queries):
    plain = evaluated(files, None, queries=queries)
    assert same(evaluated(files, tmp_path / "kept", queries=queries), plain)
    reads.clear()
    assert same(evaluated(files, tmp_path / "kept", queries=queries), plain)
    assert reads == []


def test_it_goes_on_where_it_was_broken_off(files, reads, tmp_path):
    def broken(items):
        for i, item in enumerate(items):
            if i == 2:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        evaluated(files, tmp_path / "kept", progress=broken)
    reads.clear()
    assert same(evaluated(files, tmp_path / "kept"), evaluated(files, None))
    assert reads[:1] == ["weak"]
    assert len(reads) == 1 + 3


@pytest.mark.parametrize("how", [{"gains": {-2: -10}}, {"unjudged": "drop"}, {"measures": "AP"}, {"queries": ["q1"]}])
def test_other_settings_are_another_evaluation(files, reads, tmp_path, how):
    evaluated(files, tmp_path / "kept")
    reads.clear()
    assert same(evaluated(files, tmp_path / "kept", **how), evaluated(files, None, **how))
    assert len(reads) == 6


def test_a_changed_run_or_qrels_is_read_anew(files, reads, tmp_path):
    evaluated(files, tmp_path / "kept")
    reads.clear()
    text = files["weak"].read_text().splitlines()
    files["weak"].write_text("\n".join(text[:-1]) + "\n")
    evaluated(files, tmp_path / "kept")
    assert reads == ["weak"]
    reads.clear()
    os.utime(files["filtered"], (0, 0))
    evaluated(files, tmp_path / "kept")
    assert reads == []  # it holds the same
    *rows, last = files["qrels"].read_text().splitlines()
    files["qrels"].write_text("\n".join([*rows, " ".join([*last.split()[:-1], "3"])]) + "\n")
    evaluated(files, tmp_path / "kept")
    assert len(reads) == 3


def test_a_run_replaced_with_the_same_size_and_time_is_read_again(files, reads, tmp_path):
    evaluated(files, tmp_path / "kept")
    run = files["weak"]
    status, text = run.stat(), run.read_text()
    first = text.split()[2]
    run.write_text(text.replace(first, "x" * len(first)))
    os.utime(run, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (run.stat().st_size, run.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    reads.clear()
    assert same(evaluated(files, tmp_path / "kept"), evaluated(files, None))
    assert reads[0] == "weak"


def test_a_run_that_changes_while_it_is_evaluated_is_not_kept(files, tmp_path, monkeypatch):
    """Its sum may be that of the old bytes, and its values those of the new ones."""
    plain, real = files["weak"].read_text(), module.read_run

    def late(source, **how):
        Path(source).write_text(plain.replace(" Q0 ", " Q1 "))
        return real(source, **how)

    monkeypatch.setattr(module, "read_run", late)
    rs.evaluate(files["qrels"], [files["weak"]], MEASURES, cache=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"\x93NUMPY"])
def test_a_damaged_file_is_made_anew(files, tmp_path, content):
    plain = evaluated(files, tmp_path / "kept")
    for path in (tmp_path / "kept").iterdir():
        path.write_bytes(content)
    assert same(evaluated(files, tmp_path / "kept"), plain)
    assert all(path.stat().st_size > 100 for path in (tmp_path / "kept").iterdir())


def test_what_is_no_file_is_not_kept(tmp_path):
    rs.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "AP", cache=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_what_was_kept_is_forgotten_and_nothing_else(files, tmp_path):
    kept = tmp_path / "kept"
    evaluated(files, kept)
    forget(kept)
    assert not kept.exists()
    evaluated(files, kept)
    for name in ("mine.npz", "notes.txt"):
        (kept / name).write_text("mine")
    forget(kept)
    assert sorted(path.name for path in kept.iterdir()) == ["mine.npz", "notes.txt"]
    forged = kept / ("0123456789abcdef" * 2 + ".npz")
    np.savez(forged, mine=np.arange(3))
    mine = kept / ("fedcba9876543210" * 2 + ".npz")
    mine.write_text("mine")
    forget(kept)
    assert forged.is_file()
    assert mine.read_text() == "mine"
    forget(tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    forget(tmp_path / "empty")
    assert (tmp_path / "empty").is_dir()


def test_what_a_killed_process_left_is_forgotten_too(files, tmp_path):
    from ranksift.files import unfinished_name

    kept = tmp_path / "kept"
    evaluated(files, kept)
    (kept / unfinished_name(next(kept.iterdir()).name)).write_bytes(b"half")
    forget(kept)
    assert not kept.exists()


def test_a_file_where_the_folder_should_be(files, tmp_path):
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(rs.InputError, match="kept: cannot be made"):
        evaluated(files, tmp_path / "kept")

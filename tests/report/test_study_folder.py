"""All files of a study change together, or none: whatever fails, and whoever is killed."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from ranksift import InputError
from ranksift.report import study_folder
from ranksift.report.study_folder import MANIFEST, PAGE, write_files

ABOUT = {"ranksift": "test"}
OLD = {"scores.csv": b"old", "same.tex": b"same", "only-old.svg": b"old", PAGE: b"<p>old"}
NEW = {"scores.csv": b"new", "same.tex": b"same", "only-new.svg": b"new", PAGE: b"<p>new"}


class Killed(BaseException):
    """The process is gone."""


class Faults:
    """Counts the calls that change a folder, and lets one of them fail; or all from there on, as if killed."""

    CALLS = ("replace", "fsync", "mkdir", "unlink", "rmdir", "chmod")

    def __init__(self, patch, at, error):
        self.made, self.at, self.error = 0, at, error
        for name in self.CALLS:
            patch.setattr(os, name, self.failing(getattr(os, name)))

    def failing(self, call):
        def instead(*arguments, **options):
            self.made += 1
            if self.made == self.at or (self.made > self.at and self.error is Killed):
                raise self.error
            return call(*arguments, **options)

        return instead


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def states(tmp_path):
    """What is in a folder with the old study, and with the new one; there is a file of somebody else in both."""
    for name, files in (("old", OLD), ("new", NEW)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.txt").write_text("mine")
        write_files(tmp_path / name, ABOUT, files)
    return contents(tmp_path / "old"), contents(tmp_path / "new")


def outcomes(tmp_path, error):
    """Replace the old study by the new one as often as it can fail: the folder, and whether it said that it failed."""
    for at in range(1, 1000):
        folder = tmp_path / f"at-{at}"
        shutil.copytree(tmp_path / "old", folder)
        with pytest.MonkeyPatch.context() as patch:
            faults = Faults(patch, at, error)
            failed = False
            try:
                write_files(folder, ABOUT, NEW)
            except (InputError, KeyboardInterrupt, Killed):
                failed = True
        yield folder, failed
        if faults.made < at:
            return


def check_that_the_next_one_clears_up(folder, new):
    write_files(folder, ABOUT, NEW)
    assert contents(folder) == new
    assert [path for path in folder.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EIO, "I/O error")])
def test_the_old_study_stays_where_the_new_one_fails(tmp_path, states, error):
    old, new = states
    failures = 0
    for folder, failed in outcomes(tmp_path, error):
        assert contents(folder) == (old if failed else new)
        if failed:
            assert [path for path in folder.iterdir() if path.is_dir()] == []
        check_that_the_next_one_clears_up(folder, new)
        failures += failed
    assert failures > 20


def test_the_old_study_or_the_new_one_where_it_is_interrupted(tmp_path, states):
    for folder, _ in outcomes(tmp_path, KeyboardInterrupt):
        assert contents(folder) in states
        check_that_the_next_one_clears_up(folder, states[1])


def test_one_that_is_killed_leaves_no_page_beside_files_of_another(tmp_path, states):
    old, new = states
    seen = []
    for folder, _ in outcomes(tmp_path, Killed):
        found = contents(folder)
        listed = json.loads(found[MANIFEST])
        known = {*listed["files"].items(), *listed.get("former", {}).items(), ("notes.txt", sum_of(b"mine"))}
        assert {(name, sum_of(content)) for name, content in found.items() if name != MANIFEST} <= known
        seen.append("old" if found == old else "new" if found == new else "mixed" if PAGE in found else "no page")
        check_that_the_next_one_clears_up(folder, new)
    assert {*seen} == {"old", "no page", "new"}
    assert seen == sorted(seen, key=["old", "no page", "new"].index)


def sum_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_where_it_cannot_be_undone_nothing_is_lost(tmp_path, states):
    """The disk goes away for good: what was there is in the hidden folder, and the list says so."""
    old, new = states
    true, renames = os.replace, []

    def failing(source, target):
        renames.append(source)
        if len(renames) > 4:
            raise OSError(errno.EIO, "I/O error")
        true(source, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", failing)
        with pytest.raises(InputError, match="cannot be written"):
            write_files(tmp_path / "old", ABOUT, NEW)
    left = {path.name.removeprefix("~former-"): path.read_bytes() for path in (tmp_path / "old").glob(".study.*/*")}
    found = {**left, **contents(tmp_path / "old")}
    assert {name: found[name] for name in old if name not in (MANIFEST, *NEW)} == {
        name: content for name, content in old.items() if name not in (MANIFEST, *NEW)
    }
    check_that_the_next_one_clears_up(tmp_path / "old", new)


def test_a_new_folder_is_not_left_empty(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        Faults(patch, 6, OSError(errno.ENOSPC, "No space left on device"))
        with pytest.raises(InputError, match=r"cannot be written \(No space left on device\); make room"):
            write_files(tmp_path / "deep" / "er", ABOUT, NEW)
    assert list(tmp_path.iterdir()) == []


def test_studies_that_end_at_the_same_time(tmp_path, states):
    """Two processes: one after another, and whole."""
    code = """
import sys
from pathlib import Path
from ranksift.report.study_folder import write_files
for i in range(40):
    mark = f"{sys.argv[2]}-{i}".encode()
    write_files(Path(sys.argv[1]), {}, {f"of-{sys.argv[2]}.csv": mark, "both.csv": mark, "index.html": mark})
"""
    folder = tmp_path / "both"
    folder.mkdir()
    writers = [subprocess.Popen([sys.executable, "-c", code, folder, who], stderr=subprocess.PIPE) for who in "ab"]
    errors = [writer.communicate()[1].decode() for writer in writers]
    assert errors == ["", ""]
    found = contents(folder)
    assert len({found["both.csv"], found[PAGE], *(found[name] for name in found if name.startswith("of-"))}) == 1
    assert {*found} == {*json.loads(found[MANIFEST])["files"], MANIFEST}
    assert not any(path.is_dir() for path in folder.iterdir())


def test_a_study_at_work_keeps_its_hidden_folder(tmp_path, states, monkeypatch):
    true, within = study_folder._replace_former, []

    def slowly(*arguments):
        if not within:
            within.append(1)
            write_files(tmp_path / "old", ABOUT, NEW)
            assert len(list((tmp_path / "old").glob(".study.*"))) == 1
        true(*arguments)

    monkeypatch.setattr(study_folder, "_alone", lambda folder: nullcontext())
    monkeypatch.setattr(study_folder, "_replace_former", slowly)
    write_files(tmp_path / "old", ABOUT, NEW)
    assert contents(tmp_path / "old") == states[1]
    assert not any(path.is_dir() for path in (tmp_path / "old").iterdir())

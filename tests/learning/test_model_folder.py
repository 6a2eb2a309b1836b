"""The folder of a model: whole, whoever else saves or is killed, and nobody else's files."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from ranksift import Examples, load
from ranksift.errors import InputError
from ranksift.files import with_sum
from ranksift.learning import RankBoost, RankSVM, model_folder
from ranksift.learning.model_folder import place_for_a_model

FLAT = Path(__file__).parent / "saved_before" / "RankSVM-with-a-cutoff"


@pytest.fixture(scope="module")
def examples():
    x = np.random.default_rng(0).normal(size=(40, 3))
    return Examples.from_arrays(x, x[:, 0].round(), np.repeat(np.arange(8), 5), feature_names=["a", "b", "c"])


@pytest.fixture(scope="module")
def model(examples):
    return RankBoost(rounds=3).fit(examples)


@pytest.fixture(scope="module")
def other(examples):
    return RankBoost(rounds=1).fit(examples)


def same(one, two, examples):
    return np.array_equal(one.score(examples), two.score(examples))


def versions(folder):
    return {path.name for path in folder.glob("version-*")}


def version_of(folder):
    return folder / json.loads((folder / "model.json").read_text())["version"]


def aged(folder, seconds=2 * model_folder.GRACE):
    """As if it had been left alone for a while."""
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (time.time() - seconds,) * 2)


class TestLayout:
    def test_a_card_names_a_version_with_the_files(self, model, examples, tmp_path):
        RankBoost(rounds=3).fit(examples).fit_cutoff(examples).save(tmp_path / "model")
        card = json.loads((tmp_path / "model" / "model.json").read_text())
        assert card["format"] == "ranksift-model-2"
        assert {path.name for path in (tmp_path / "model").iterdir()} == {"model.json", card["version"]}
        there = {path.name for path in (tmp_path / "model" / card["version"]).iterdir()}
        assert (
            there
            == {*card["files"], "contents.json"}
            == {*("weights.safetensors", "cutoff.json", "tradeoff.json", "contents.json")}
        )
        assert card["files"]["cutoff.json"] is None  # a person may change it

    def test_all_files_have_the_usual_permissions(self, model, tmp_path):
        before = os.umask(0o022)
        try:
            model.save(tmp_path / "model")
        finally:
            os.umask(before)
        modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "model").rglob("*")}
        assert {mode for path, mode in modes.items() if path.is_file()} == {0o644}
        assert modes[version_of(tmp_path / "model")] == stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o755

    def test_a_folder_can_be_copied_and_moved(self, model, examples, tmp_path):
        model.save(tmp_path / "model")
        shutil.copytree(tmp_path / "model", tmp_path / "copy")
        (tmp_path / "model").rename(tmp_path / "moved")
        assert same(load(tmp_path / "copy"), model, examples)
        assert same(load(tmp_path / "moved"), model, examples)

    def test_a_link_leads_to_where_the_model_goes(self, model, tmp_path):
        (tmp_path / "latest").symlink_to(tmp_path / "v1")
        for _ in range(2):
            model.save(tmp_path / "latest")
        assert (tmp_path / "latest").is_symlink()
        assert (tmp_path / "v1" / "model.json").is_file()

    def test_folders_that_lead_to_it_are_made(self, model, examples, tmp_path):
        model.save(tmp_path / "new" / "folder" / "model")
        assert same(load(tmp_path / "new" / "folder" / "model"), model, examples)


class TestLeftovers:
    def test_a_version_that_was_just_replaced_can_still_be_read(self, model, other, examples, tmp_path):
        model.save(tmp_path / "model")
        aged(tmp_path / "model")  # its minute begins when it is replaced, not when it was saved
        card = model_folder.read_card(tmp_path / "model")
        other.save(tmp_path / "model")
        other.save(tmp_path / "model")
        assert len(versions(tmp_path / "model")) == 3
        assert model_folder.read_files(tmp_path / "model", card).keys() == {"weights.safetensors"}

    def test_later_it_goes_with_the_next_save(self, model, other, examples, tmp_path):
        for _ in range(3):
            model.save(tmp_path / "model")
        (tmp_path / "model" / "version-0123456789abcdef").mkdir()  # of a process that was killed
        for version in versions(tmp_path / "model"):
            aged(tmp_path / "model" / version)
        before = version_of(tmp_path / "model").name
        other.save(tmp_path / "model")
        assert versions(tmp_path / "model") == {before, version_of(tmp_path / "model").name}
        assert same(load(tmp_path / "model"), other, examples)

    def test_what_another_process_is_writing_stays(self, model, tmp_path):
        model.save(tmp_path / "model")
        busy = tmp_path / "model" / "version-0123456789abcdef"
        busy.mkdir()
        (busy / "contents.json").write_text('["weights.safetensors", "model.json"]')
        aged(busy)
        (busy / "weights.safetensors").write_bytes(b"half")
        model.save(tmp_path / "model")
        assert busy.is_dir()

    def test_a_model_whose_first_save_was_killed(self, model, examples, tmp_path):
        (tmp_path / "model" / "version-0123456789abcdef").mkdir(parents=True)
        with pytest.raises(InputError, match=r"model: has no model\.json; name a folder that ranksift train wrote"):
            load(tmp_path / "model")
        aged(tmp_path / "model")
        model.save(tmp_path / "model")
        assert versions(tmp_path / "model") == {version_of(tmp_path / "model").name}
        assert same(load(tmp_path / "model"), model, examples)

    def test_a_model_that_is_replaced_while_it_is_read(self, model, other, examples, tmp_path, monkeypatch):
        other.save(tmp_path / "model")
        opened, calls = model_folder._opened, []

        def replaced(*given):
            file = opened(*given)
            if not calls:
                calls.append(given)
                old = version_of(tmp_path / "model")
                model.save(tmp_path / "model")
                shutil.rmtree(old)  # what is open can be read to its end
            return file

        monkeypatch.setattr(model_folder, "_opened", replaced)
        assert same(load(tmp_path / "model"), other, examples)
        assert calls
        assert same(load(tmp_path / "model"), model, examples)


class TestFlat:
    """A model that was saved before there were versions."""

    def test_its_files_stay_for_a_while_and_go_then(self, model, examples, tmp_path):
        shutil.copytree(FLAT, tmp_path / "model")
        flat = {path.name for path in FLAT.iterdir()} - {"model.json"}
        aged(tmp_path / "model")
        card = model_folder.read_card(tmp_path / "model")
        for _ in range(2):
            model.save(tmp_path / "model")
            assert model_folder.read_files(tmp_path / "model", card).keys() == flat
            assert same(load(tmp_path / "model"), model, examples)
        assert "replaced" not in load(tmp_path / "model").card_
        for name in flat:
            os.utime(tmp_path / "model" / name, (time.time() - 120,) * 2)
        model.save(tmp_path / "model")
        assert not flat & {path.name for path in (tmp_path / "model").iterdir()}
        model.save(tmp_path / "model")
        assert "replaced" not in json.loads((tmp_path / "model" / "model.json").read_text())

    def test_one_that_a_killed_process_had_put_aside_is_named(self, tmp_path):
        shutil.copytree(FLAT, tmp_path / ".model.a1b2.part" / "old")
        with pytest.raises(InputError, match=r"is not a folder of a model; rename .*/\.model\.a1b2\.part/old, which"):
            load(tmp_path / "model")


class TestTogether:
    def test_many_may_try_a_place_in_one_new_folder(self, tmp_path):
        def tried(i):
            for n in range(30):
                place_for_a_model(tmp_path / "runs" / str(n) / f"m{i}")

        with ThreadPoolExecutor(8) as together:
            list(together.map(tried, range(8)))  # none is refused
        assert [*tmp_path.iterdir()] == []

    def test_many_may_save_into_one_new_folder(self, model, examples, tmp_path):
        def saved(i):
            for n in range(5):
                place_for_a_model(tmp_path / "runs" / str(n) / "model")
                model.save(tmp_path / "runs" / str(n) / "model")

        with ThreadPoolExecutor(4) as together:
            list(together.map(saved, range(4)))
        for n in range(5):
            assert same(load(tmp_path / "runs" / str(n) / "model"), model, examples)
            assert len(versions(tmp_path / "runs" / str(n) / "model")) == 4

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
    @pytest.mark.parametrize("grace", [model_folder.GRACE, 0.5])  # with 0.5, versions are removed meanwhile
    def test_three_savers_and_a_reader(self, grace):
        command = [sys.executable, "-m", "tests.learning.saving_under_fire", "--saves", "50", "--grace", str(grace)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
        found = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", done.stdout)}
        assert (done.stderr, found["saved"], found["refused"], found["half"]) == ("", 150, 0, 0), done.stdout
        assert found["read"] > 20


# A process for each line that saving goes through, which is killed there.
KILLED = """
import os, shutil, signal, sys
from pathlib import Path
import ranksift as rs
from ranksift.learning import model_folder

before, new, place = map(Path, sys.argv[1:])
known = [rs.load(path)._state() for path in (before, new)]
model, lines, target = rs.load(new), 0, place / "model"
while True:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(before, target)
    child = os.fork()
    if not child:
        left = lines
        def traced(frame, event, _):
            global left
            if frame.f_code.co_filename == model_folder.__file__ and event == "line":
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return traced
        sys.settrace(traced)
        model.save(target)
        os._exit(0)
    code = os.waitpid(child, 0)[1]
    found = rs.load(target)._state()
    print([str(found) == str(state) for state in known].index(True), flush=True)
    if not code:
        break
    assert os.WTERMSIG(code) == signal.SIGKILL, code
    lines += 1
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.parametrize("before", ["a version", "flat"])
def test_a_process_that_is_killed_anywhere_leaves_the_old_model_or_the_new_one(examples, tmp_path, before):
    if before == "flat":
        shutil.copytree(FLAT, tmp_path / "before")
    else:
        RankSVM(C=0.01).fit(examples).save(tmp_path / "before")
    RankSVM(C=7.0).fit(examples).save(tmp_path / "new")
    command = [sys.executable, "-c", KILLED, *(str(tmp_path / name) for name in ("before", "new", "."))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    found = done.stdout.split()
    assert found == sorted(found)  # first the old one, then the new one
    assert min(found.count("0"), found.count("1")) > 20


class TestRefused:
    def test_the_old_model_stays_where_the_new_one_cannot_be_put_in_place(self, model, examples, tmp_path, monkeypatch):
        model.save(tmp_path / "model")
        before = sorted((tmp_path / "model").rglob("*"))

        def refused(source, target):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(os, "replace", refused)
        with pytest.raises(InputError, match="model: cannot be written \\(Permission denied\\); name another folder"):
            RankBoost(rounds=1).fit(examples).save(tmp_path / "model")
        assert same(load(tmp_path / "model"), model, examples)
        assert sorted((tmp_path / "model").rglob("*")) == before

    def test_a_full_disk(self, model, other, examples, tmp_path, monkeypatch):
        model.save(tmp_path / "model")
        before = sorted((tmp_path / "model").rglob("*"))

        def full(file):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match=r"model: cannot be written \(No space left on device\); .* make room"):
            other.save(tmp_path / "model")
        assert same(load(tmp_path / "model"), model, examples)
        assert sorted((tmp_path / "model").rglob("*")) == before

    def test_an_interrupt_after_the_card_is_in_place_leaves_the_new_model(
        self, model, other, examples, tmp_path, monkeypatch
    ):
        model.save(tmp_path / "model")
        replace = os.replace

        def interrupted(source, target):
            replace(source, target)
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            other.save(tmp_path / "model")
        assert same(load(tmp_path / "model"), other, examples)

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root")
    def test_a_folder_without_permission_is_refused_beforehand(self, tmp_path):
        tmp_path.chmod(0o555)
        try:
            with pytest.raises(InputError, match=r"model: cannot be written \(Permission denied\)"):
                place_for_a_model(tmp_path / "model")
        finally:
            tmp_path.chmod(0o755)

    def test_a_parent_that_is_a_file_is_refused_beforehand(self, tmp_path):
        (tmp_path / "file").write_text("something")
        with pytest.raises(InputError, match=r"model: cannot be written \(Not a directory\)"):
            place_for_a_model(tmp_path / "file" / "new" / "model")

    @pytest.mark.parametrize("name", [".", ".."])
    def test_a_folder_without_a_name_is_no_place(self, model, tmp_path, monkeypatch, name):
        (tmp_path / "empty").mkdir()
        monkeypatch.chdir(tmp_path / "empty")
        with pytest.raises(InputError, match=r"\.: (is not a name of a folder; give a new one|already exists)"):
            model.save(name)

    @pytest.mark.parametrize("where", ["model", "version"])
    def test_somebody_elses_file_is_not_lost(self, model, tmp_path, where):
        model.save(tmp_path / "model")
        inside = tmp_path / "model" if where == "model" else version_of(tmp_path / "model")
        (inside / "notes.txt").write_text("precious")
        what = r"model: holds '(version-\w+/)?notes.txt', which is not part of the model; move it away, or name another"
        for use in (place_for_a_model, model.save):
            with pytest.raises(InputError, match=what):
                use(tmp_path / "model")
        assert (inside / "notes.txt").read_text() == "precious"

    @pytest.mark.parametrize("card", ["", "[]", "{}", '{"format": "ranksift-model-2"}', '{"format": "other"}'])
    def test_what_is_not_a_model_is_not_replaced(self, model, tmp_path, card):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "model.json").write_text(card)
        with pytest.raises(InputError, match="mine: already exists, and is not a model; name another folder"):
            model.save(tmp_path / "mine")
        assert (tmp_path / "mine" / "model.json").read_text() == card

    def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(self, model, tmp_path):
        model.save(tmp_path / "model")
        weights = version_of(tmp_path / "model") / "weights.safetensors"
        weights.unlink()
        os.mkfifo(weights)
        with pytest.raises(InputError, match=r"model: has no weights\.safetensors; copy the whole folder"):
            load(tmp_path / "model")


class TestNothingOfOthersIsRemoved:
    """Names in a card, and folders that look like versions, prove nothing."""

    def test_a_folder_that_only_looks_like_a_version(self, model, tmp_path):
        thesis = tmp_path / "model" / "version-0123456789abcdef" / "thesis.txt"
        thesis.parent.mkdir(parents=True)
        thesis.write_text("years of work")
        aged(tmp_path / "model")
        with pytest.raises(InputError, match="already exists, and is not a model"):
            model.save(tmp_path / "model")
        assert thesis.read_text() == "years of work"

    def test_such_a_folder_beside_a_model(self, model, tmp_path):
        model.save(tmp_path / "model")
        precious = tmp_path / "model" / "version-aaaaaaaaaaaaaaaa" / "sub" / "precious"
        precious.parent.mkdir(parents=True)
        precious.write_text("mine")
        aged(tmp_path / "model")
        with pytest.raises(InputError, match="holds 'version-aaaaaaaaaaaaaaaa', which is not part of the model"):
            model.save(tmp_path / "model")
        assert precious.exists()

    def test_what_somebody_put_into_a_version_that_goes(self, model, tmp_path):
        model.save(tmp_path / "model")
        old = version_of(tmp_path / "model")
        model.save(tmp_path / "model")
        (old / "notes.txt").write_text("mine")
        aged(tmp_path / "model")
        model.save(tmp_path / "model")
        (notes,) = (tmp_path / "model").glob("version-*/notes.txt")
        assert notes.read_text() == "mine"

    @pytest.mark.parametrize("named", [{"notes.txt": None, "data": None, "..": None}, {"notes.txt": "0" * 64}])
    @pytest.mark.parametrize("forged", ["files", "replaced"])
    def test_what_a_forged_card_calls_its_own(self, model, tmp_path, named, forged):
        model.save(tmp_path / "model")
        card = json.loads((tmp_path / "model" / "model.json").read_text())
        card |= {"format": "ranksift-model-1", "files": named} if forged == "files" else {"replaced": named}
        (tmp_path / "model" / "model.json").write_text(json.dumps(with_sum(card)))
        (tmp_path / "model" / "notes.txt").write_text("mine")
        (tmp_path / "model" / "data").mkdir()
        (tmp_path / "model" / "data" / "more").write_text("mine")
        for _ in range(3):
            aged(tmp_path / "model")
            with suppress(InputError):
                model.save(tmp_path / "model")
        assert (tmp_path / "model" / "notes.txt").read_text() == "mine"
        assert (tmp_path / "model" / "data" / "more").read_text() == "mine"

    def test_a_card_that_is_a_pipe(self, model, tmp_path):
        model.save(tmp_path / "model")
        (tmp_path / "model" / "model.json").unlink()
        os.mkfifo(tmp_path / "model" / "model.json")
        with pytest.raises(InputError, match=r"model\.json: is not a regular file"):
            load(tmp_path / "model")
        with pytest.raises(InputError, match="already exists, and is not a model"):
            model.save(tmp_path / "model")


def test_what_is_too_large_to_be_read_is_not_saved(model, tmp_path, monkeypatch):
    model.save(tmp_path / "model")
    monkeypatch.setattr(model_folder, "_LARGEST_FILE", 10)
    with pytest.raises(InputError, match="would be larger than 10 bytes, and could not be read; make a smaller model"):
        model.save(tmp_path / "other")
    assert not (tmp_path / "other").exists()
    with pytest.raises(InputError, match="is larger than 10 bytes; copy the folder again"):
        load(tmp_path / "model")

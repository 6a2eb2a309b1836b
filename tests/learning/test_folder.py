"""The folder of a model: whole or not there, whoever else writes beside it; and folders from strangers."""

import fcntl
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from ranksift import Examples
from ranksift.errors import InputError
from ranksift.learning import LambdaMART, RankBoost, RankNet, RankSVM, folder
from ranksift.learning.ranker import load


@pytest.fixture
def examples():
    x = np.random.default_rng(0).normal(size=(40, 3))
    return Examples.from_arrays(x, x[:, 0].round(), np.repeat(np.arange(8), 5))


@pytest.fixture
def model(examples):
    return RankBoost(rounds=3).fit(examples)


class TestSaving:
    def test_many_may_try_a_place_in_one_new_folder(self, tmp_path):
        def tried(i):
            for n in range(30):
                folder.place_for_a_model(tmp_path / "runs" / str(n) / f"m{i}")

        with ThreadPoolExecutor(8) as together:
            list(together.map(tried, range(8)))  # none is refused
        assert not [*tmp_path.rglob("*.part")]

    def test_a_model_is_saved_though_others_try_places_beside_it(self, model, tmp_path):
        done = Event()

        def tried(i):
            while not done.is_set():
                folder.place_for_a_model(tmp_path / "runs" / "new" / f"m{i}")

        with ThreadPoolExecutor(4) as together:
            others = [together.submit(tried, i) for i in range(4)]
            try:
                for n in range(20):
                    model.save(tmp_path / "runs" / "new" / str(n))
                    shutil.rmtree(tmp_path / "runs" / "new" / str(n))
            finally:
                done.set()
        assert [other.result() for other in others] == [None] * 4

    def test_all_files_have_the_usual_permissions(self, model, tmp_path):
        before = os.umask(0o022)
        try:
            model.save(tmp_path / "model")
        finally:
            os.umask(before)
        assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "model").iterdir()} == {0o644}
        assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o755

    def test_what_a_killed_process_left_is_removed_by_the_next_one(self, model, tmp_path):
        (tmp_path / ".model.a1.part" / "new").mkdir(parents=True)
        (tmp_path / ".model.123.part").mkdir()
        (tmp_path / ".model.b.a1.part").mkdir()  # beside another model, model.b
        model.save(tmp_path / "model")
        assert {path.name for path in tmp_path.iterdir()} == {"model", ".model.b.a1.part"}

    def test_what_another_process_is_at_work_on_stays(self, model, tmp_path):
        busy = tmp_path / ".model.a1.part"
        busy.mkdir()
        held = os.open(busy, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            model.save(tmp_path / "model")
            assert busy.is_dir()
        finally:
            os.close(held)

    @pytest.mark.parametrize("next_step", ["load", "save", "place"])
    def test_a_model_that_a_killed_process_had_put_aside_comes_back(self, model, examples, tmp_path, next_step):
        model.save(tmp_path / "model")
        script = f"""
import os, signal
from pathlib import Path
from ranksift.learning import folder
from ranksift.learning.ranker import load
rename = Path.rename
def stopped(path, target):
    if path.name == "new":
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(path, target)
Path.rename = stopped
load({str(tmp_path / "model")!r}).save({str(tmp_path / "model")!r})
"""
        done = subprocess.run([sys.executable, "-c", script], check=False)
        assert done.returncode == -signal.SIGKILL
        assert not (tmp_path / "model").exists()
        if next_step == "save":
            model.save(tmp_path / "model")
        elif next_step == "place":
            folder.place_for_a_model(tmp_path / "model")
        assert np.array_equal(load(tmp_path / "model").score(examples), model.score(examples))
        assert [path.name for path in tmp_path.iterdir()] == ["model"]

    def test_a_model_that_appears_meanwhile_is_replaced(self, model, examples, tmp_path, monkeypatch):
        other = RankBoost(rounds=1).fit(examples)
        put = folder.Path.rename
        calls = []

        def rename(path, target):
            if path.name == "new" and not calls:
                calls.append(path)
                other.save(tmp_path / "model")
            return put(path, target)

        monkeypatch.setattr(folder.Path, "rename", rename)
        other.save(tmp_path / "model")
        model.save(tmp_path / "model")
        assert calls
        assert np.array_equal(load(tmp_path / "model").score(examples), model.score(examples))
        assert [path.name for path in tmp_path.iterdir()] == ["model"]

    @pytest.mark.parametrize("after", ["read_text", "read_bytes"])  # the card, the weights
    def test_a_model_that_is_replaced_while_it_is_read(self, model, examples, tmp_path, monkeypatch, after):
        RankBoost(rounds=1).fit(examples).save(tmp_path / "model")
        read, calls = getattr(folder.Path, after), []

        def replaced(path, *options):
            found = read(path, *options)
            if not calls:
                calls.append(path)
                model.save(tmp_path / "model")
            return found

        monkeypatch.setattr(folder.Path, after, replaced)
        found = load(tmp_path / "model")
        assert calls[0].parent == tmp_path / "model"
        assert np.array_equal(found.score(examples), model.score(examples))

    def test_a_model_that_is_replaced_again_and_again_can_be_read(self, model, examples, tmp_path):
        model.save(tmp_path / "model")
        again = (
            "import sys; from ranksift.learning.ranker import load\n"
            "model = load(sys.argv[1]); print('ready', flush=True)\n"
            "while True: model.save(sys.argv[1])"
        )
        command = [sys.executable, "-c", again, str(tmp_path / "model")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout.readline() == "ready\n"
            try:
                for _ in range(100):
                    assert np.array_equal(load(tmp_path / "model").score(examples), model.score(examples))
            finally:
                other.kill()

    def test_the_old_model_stays_where_the_new_one_cannot_be_put_in_place(self, model, examples, tmp_path, monkeypatch):
        model.save(tmp_path / "model")
        put = folder.Path.rename

        def rename(path, target):
            if path.name == "new":
                raise PermissionError(13, "Permission denied")
            return put(path, target)

        monkeypatch.setattr(folder.Path, "rename", rename)
        with pytest.raises(InputError, match="model: cannot be written \\(Permission denied\\)"):
            RankBoost(rounds=1).fit(examples).save(tmp_path / "model")
        assert np.array_equal(load(tmp_path / "model").score(examples), model.score(examples))
        assert [path.name for path in tmp_path.iterdir()] == ["model"]

    def test_a_link_leads_to_where_the_model_goes(self, model, tmp_path):
        (tmp_path / "latest").symlink_to(tmp_path / "v1")
        model.save(tmp_path / "latest")
        assert (tmp_path / "latest").is_symlink()
        assert (tmp_path / "v1" / "model.json").is_file()

    @pytest.mark.parametrize("name", [".", ".."])
    def test_a_folder_without_a_name_is_no_place(self, model, tmp_path, monkeypatch, name):
        (tmp_path / "empty").mkdir()
        monkeypatch.chdir(tmp_path / "empty")
        with pytest.raises(InputError, match=r"\.: is (no name of a folder; name a new one|there already)"):
            model.save(name)


def tampered(path, arrays=None, **card):
    """A model of a stranger, whose card knows the files as they are."""
    if arrays is not None:
        save_file(load_file(path / "weights.safetensors") | arrays, path / "weights.safetensors")
    found = json.loads((path / "model.json").read_text())
    found["files"]["weights.safetensors"] = hashlib.sha256((path / "weights.safetensors").read_bytes()).hexdigest()
    for name, value in card.items():
        found[name] = {**found[name], **value} if isinstance(value, dict) else value
    (path / "model.json").write_text(json.dumps(found))


class TestStrangers:
    @pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "sub/file"])
    def test_files_elsewhere_are_not_read(self, model, tmp_path, name):
        model.save(tmp_path / "model")
        (tmp_path / "secret").write_text("a secret")
        tampered(tmp_path / "model", files={name: None})
        with pytest.raises(InputError, match=r"model\.json: names '.*', which is not in this folder; train"):
            load(tmp_path / "model")

    @pytest.mark.parametrize(
        ("kind", "arrays", "card"),
        [
            (RankSVM(), {"weights": np.ones(4)}, {}),
            (RankSVM(), {"weights": np.full(3, np.nan)}, {}),
            (RankSVM(), {"_centre": np.zeros(1)}, {}),
            (RankSVM(), {}, {"feature_names": ["a", "b"]}),
            (RankSVM(), {}, {"feature_names": [1, 2, 3]}),
            (RankNet(epochs=2), {"w0": np.ones((5, 3))}, {}),
            (RankNet(epochs=2), {}, {"parameters": {"hidden": [10, 4]}}),
            (RankBoost(rounds=2), {"features": np.array([7, 8])}, {}),
            (LambdaMART(trees=2, min_documents=2), {"start": np.zeros(2)}, {}),
            (LambdaMART(trees=2, min_documents=2), {}, {"parameters": {"context": True}}),
            (LambdaMART(trees=2, min_documents=2), {}, {"parameters": {"num_threads": "x"}}),
        ],
    )
    def test_parts_that_do_not_belong_together_are_found_out(self, examples, tmp_path, kind, arrays, card):
        kind.fit(examples).save(tmp_path / "model")
        tampered(tmp_path / "model", arrays, **card)
        with pytest.raises(InputError, match=r"model(.model.json)?: is damaged \(.*\); train the model anew"):
            load(tmp_path / "model")

    def test_a_billion_threads_are_no_more_than_there_are_processors(self, examples, tmp_path):
        fitted = LambdaMART(trees=2, min_documents=2).fit(examples)
        fitted.save(tmp_path / "model")
        tampered(tmp_path / "model", parameters={"num_threads": 10**9})
        assert np.array_equal(load(tmp_path / "model").score(examples), fitted.score(examples))

    @pytest.mark.parametrize("name", ["model.json", "cutoff.json"])
    def test_brackets_without_end(self, model, examples, tmp_path, name):
        model.fit_cutoff(examples).save(tmp_path / "model")
        (tmp_path / "model" / name).write_text("[" * 100_000)
        with pytest.raises(InputError, match=rf"{name}: is not JSON \("):
            load(tmp_path / "model")

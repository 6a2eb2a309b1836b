"""The folder of a training: whose it is, what is in it, and what is left at the end."""

from dataclasses import replace

import numpy as np
import pytest

from ranksift import Examples
from ranksift.errors import InputError
from ranksift.learning import ExpectedGainRanker, RankSVM, TextRanker, TrainingFolder
from ranksift.learning.training_folder import COLUMNS, TrainingLog

HEADER = ",".join(COLUMNS)


@pytest.fixture
def folder(tmp_path):
    return TrainingFolder(tmp_path / "model.training")


def write(folder, **contents):
    folder.path.mkdir(exist_ok=True)
    for name, content in contents.items():
        (folder.path / name.replace("__", "-").replace("_", ".")).write_text(content)


def test_parts_lie_side_by_side(folder):
    inner = folder.part("fold-1").part("texts")
    assert [place.name for place in (inner.checkpoint, inner.log, inner.picture)] == [
        "checkpoint.fold-1-texts.safetensors",
        "log.fold-1-texts.csv",
        "log.svg",
    ]
    assert TrainingFolder.of(str(folder.path)) == TrainingFolder.of(folder) == folder
    with pytest.raises(InputError, match=r"'\.\./x' is not the name of a part"):
        folder.part("../x")


def test_a_thing_is_told_once_of_all_parts(folder):
    heard = []
    told = replace(folder, note=heard.append)
    for part in (told, told.part("fold-1"), told.part("fold-2")):
        part.tell("memory", f"of {len(part.parts)}")
    told.part("fold-2").tell("texts", "cut")
    assert heard == ["of 0", "cut"]


def test_its_own_files_are_accepted_and_those_of_others_are_not(folder):
    folder.check()  # it need not be there
    assert not folder.path.exists()
    write(folder, checkpoint_safetensors="x", log_fold__1_csv=f"{HEADER}\n1,2,,3,4\n", log_svg="<svg/>")
    (folder.path / ".checkpoint.fold-1.safetensors.0123abcd-0123456789abcdef.part").write_text("half")
    folder.check()
    for name, content in (("thesis.tex", "years"), ("log.csv", "query,score\n"), ("notes.csv", HEADER)):
        (folder.path / name).write_text(content)
        with pytest.raises(
            InputError, match=rf"holds '{name}', which was not written by training; move it away, or name"
        ):
            folder.check()
        (folder.path / name).unlink()
    (folder.path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be used"):
        TrainingFolder(folder.path / "file").check()


def test_a_picture_alone_is_not_that_of_a_training(folder):
    write(folder, log_svg="<svg/>")
    with pytest.raises(InputError, match=r"holds 'log\.svg'"):
        folder.check()


def test_at_the_end_logs_stay_and_are_drawn(folder):
    pytest.importorskip("matplotlib", reason="needs the extra report: matplotlib")
    write(folder, checkpoint_safetensors="x", checkpoint_fold__1_safetensors="x")
    assert folder.begun()
    rows = "1,0.5,-0.7,0.01,1.5\n2,0.25,-0.5,0.02,3.0\n"
    write(folder, log_fold__1_csv=f"{HEADER}\n{rows}", log_fold__2_csv=f"{HEADER}\n{rows.replace('-', '')}")
    folder.remove_checkpoints()
    assert not folder.begun()
    logs = folder.logs()
    assert logs["fold-1"] == TrainingLog((1, 2), (0.5, 0.25), (-0.7, -0.5), (0.01, 0.02), (1.5, 3.0))
    assert logs["fold-2"].values == (0.7, 0.5)
    left, right = folder.plot().axes
    assert [line.get_ydata().tolist() for line in left.lines if len(line.get_ydata())] == [[0.5, 0.25]] * 2
    assert [line.get_ydata().tolist() for line in right.lines] == [[-0.7, -0.5], [0.7, 0.5]]
    write(folder, log_csv=f"{HEADER}\n1,luck,,3,4\n")
    with pytest.raises(InputError, match=r"log\.csv: is not a training log"):
        folder.logs()


def test_logs_of_another_training_go_when_one_begins_and_stay_when_it_goes_on(folder):
    logs = {"log_csv": HEADER + "\n", "log_fold__1_csv": HEADER + "\n", "log_svg": "<svg/>"}
    write(folder, **logs, checkpoint_fold__1_safetensors="x")
    folder.begin()
    assert len(list(folder.path.iterdir())) == 4
    folder.remove_checkpoints()
    folder.part("fold-1").begin()  # others may have begun
    assert len(list(folder.path.iterdir())) == 3
    folder.begin()
    assert list(folder.path.iterdir()) == []


def test_a_ranker_that_keeps_none_says_so(folder):
    examples = Examples.from_arrays(np.arange(4.0)[:, None], [0, 1, 0, 1], ["a", "a", "b", "b"])
    with pytest.raises(InputError, match="RankSVM keeps no checkpoints; leave them out: only rankers of texts"):
        RankSVM().fit(examples, checkpoints=folder)
    assert [TextRanker().keeps_checkpoints(), ExpectedGainRanker().keeps_checkpoints()] == [True, False]
    assert ExpectedGainRanker("TextRanker").keeps_checkpoints()

"""CONTRIBUTING: the files that it shows run as they stand there, and numbers go the way that it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def write_files(folder: Path) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = re.findall(r"Here is the whole of a `(\w+\.py)`:\n\n```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in found] == ["cumulated.py", "rocchio.py"]
    for name, code in found:
        (folder / name).write_text(code, encoding="utf-8")


def run(program: str, folder: Path) -> tuple[str, str]:
    """In a Python of its own: a measure or a ranker enters its catalogue for good."""
    write_files(folder)
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
    return done.stdout, done.stderr


def test_measure_of_the_guide_works(tmp_path: Path):
    program = "import cumulated, doctest; print(*doctest.testmod(cumulated, raise_on_error=True))"
    assert run(program, tmp_path) == ("0 2\n", "")


def test_ranker_of_the_guide_works(tmp_path: Path):
    program = "import rocchio, doctest; print(*doctest.testmod(rocchio, raise_on_error=True))"
    assert run(program, tmp_path) == ("0 3\n", "")


def test_ranker_of_the_guide_does_what_every_ranker_must(tmp_path: Path):
    common = ROOT / "tests" / "learning" / "test_common.py"
    options = ["-q", "-k", "Rocchio", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib", str(common)]
    said, _ = run(f"import rocchio, pytest; pytest.main({options!r})", tmp_path)
    assert re.search(r"^[1-9]\d* passed, \d+ deselected", said, re.MULTILINE), said


TRACED = """
import sys
from pathlib import Path

import pytest

import ranksift
from ranksift.cli.main import run

root, seen = Path(ranksift.__file__).parent, {}


def called(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(str(root)):
        seen.setdefault((Path(code.co_filename).relative_to(root).as_posix(), code.co_name), None)


sys.setprofile(called)
code = run(sys.argv[1:])
sys.setprofile(None)
print(*(f"{file} {name}" for file, name in seen), sep="\\n", file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize("command", ["evaluate", "train"])
def test_the_number_goes_the_way_that_the_page_says(command: str, tmp_path: Path):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = re.search(rf"^From `ranksift {command} .*?(?=^From|^A test)", text, re.MULTILINE | re.DOTALL)[0]
    told = re.findall(r"^\| `(\S+)` \| `(\w+)` \|", section, re.MULTILINE)
    assert len(told) > 15
    if command == "evaluate":
        (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 b -1\n")
        (tmp_path / "bm25.run").write_text("q Q0 a 1 0.5 bm25\nq Q0 b 2 0.25 bm25\n")
        arguments = ["evaluate", "qrels.txt", "bm25.run", "-m", "nDCG_f@10"]
    else:
        pytest.importorskip("lightgbm")
        rows = (f"{i % 3 - 1} qid:{i // 5} 1:{i % 3} 2:{i % 7}\n" for i in range(50))
        (tmp_path / "train.txt").write_text("".join(rows))
        arguments = ["train", "train.txt", "--model", "LambdaMARTf", "--set", "trees=2", "--out", "model"]
    done = subprocess.run(
        [sys.executable, "-c", TRACED, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    order = [tuple(line.rsplit(" ", 1)) for line in done.stderr.splitlines()]
    assert [step for step in told if step not in order] == []
    assert sorted(told, key=order.index) == told


def test_the_workflow_asks_for_every_python_that_is_named():
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    asked = re.findall(r'"(3\.\d+)"', text)
    named = re.search(r"make test` on Python (.*?)\.\s", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))[1]
    assert asked == re.findall(r"3\.\d+", named)
    assert set(re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())) <= set(asked)
    assert "make test" in text


def test_the_citation_is_of_this_version():
    import ranksift

    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {ranksift.__version__}\n" in text
    assert "license: Apache-2.0" in text

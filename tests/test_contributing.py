"""What CONTRIBUTING adds are whole files: they run as they stand there."""

import re
import subprocess
import sys
from pathlib import Path

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

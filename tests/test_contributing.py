"""The measure that CONTRIBUTING adds is a whole file: it runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[1] / "CONTRIBUTING.md"


def test_measure_of_the_guide_works(tmp_path: Path):
    (code,) = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "cumulated.py").write_text(code, encoding="utf-8")
    # In a Python of its own: a measure enters the catalogue for good.
    program = "import cumulated, doctest; print(*doctest.testmod(cumulated, raise_on_error=True))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0 2\n", "")

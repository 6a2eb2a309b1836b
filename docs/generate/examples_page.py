"""The page of examples: every script, and what it prints."""

import ast
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples"


def scripts() -> list[Path]:
    """All of them."""
    return sorted(FOLDER.glob("*.py"))


def printed(script: Path) -> str:
    """What a script prints; one that fails stops the build."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=900, env=environment)
    if done.returncode:
        raise RuntimeError(f"{script.name}: {done.stderr}")
    return done.stdout


def page() -> str:
    """The page in Markdown."""
    parts = [
        "# Five examples",
        "These short scripts run on built-in data. Each prints its answer; replace the data with your own.",
    ]
    for script in scripts():
        source = script.read_text(encoding="utf-8")
        task, _, question = (ast.get_docstring(ast.parse(source)) or "").partition(": ")
        code = source.partition("\n\n")[2]
        parts += [
            f"## {task}",
            question[:1].upper() + question[1:],
            f'```python title="examples/{script.name}"\n{code}```',
            "It prints:",
            "\n".join(f"> {line.strip()}" for line in printed(script).splitlines()),
        ]
    return "\n\n".join(parts) + "\n"

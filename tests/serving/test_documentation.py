"""What the how-to sends is answered, and what the container installs can be installed."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ranksift.serving.application import application
from ranksift.serving.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
HOW_TO = (ROOT / "docs/how-to/serve.md").read_text()
CONTAINER = (ROOT / "Containerfile").read_text()


def test_every_request_of_the_how_to_is_answered(models):
    served = (("forum", models / "text"), ("reviews", models / "features"), ("safe", models / "cutoff.json"))
    asked = re.findall(r"curl localhost:8080(\S+) -H \"Authorization: Bearer \$TOKEN\" -d '([^']+)'", HOW_TO)
    assert [path for path, _ in asked] == ["/v1/rerank", "/v1/rerank", "/v1/filter"]
    with TestClient(application(Settings(served, reload_seconds=0))) as client:
        for path, body in asked:
            answer = client.post(path, content=body)
            assert answer.status_code == 200, answer.text
        assert answer.json()["kept"] == [0, 2]
        shown = json.loads(re.findall(r"```json\n(.*?)```", HOW_TO, re.S)[1])
        assert answer.json().keys() == shown.keys()


def test_every_metric_of_the_how_to_is_counted(models):
    served = (("text", models / "text"), ("cutoff", models / "cutoff.json"))
    with TestClient(application(Settings(served, reload_seconds=0))) as client:
        client.post("/v1/filter", json={"scores": [0.9]})
        said = client.get("/metrics").text
    known = {name.removesuffix("_total") for name in re.findall(r"^# TYPE (\S+)", said, re.M)}
    named = {name.removesuffix("_total") for name in re.findall(r"`(ranksift_[a-z_]+)", HOW_TO)}
    assert named == known


def test_every_status_of_the_how_to_is_in_the_description():
    from ranksift.serving.openapi import openapi

    described = set(openapi()["paths"]["/v1/rerank"]["post"]["responses"]) - {"200"}
    assert set(re.findall(r"^\| (\d{3}) \|", HOW_TO, re.M)) == described


def _runs() -> list[list[str]]:
    return [shlex.split(line) for line in re.findall(r"^RUN (.+)$", CONTAINER, re.M)]


def test_the_container_installs_what_there_is():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    copied = [word for line in re.findall(r"^COPY (.+)$", CONTAINER, re.M) for word in line.split()[:-1]]
    assert all((ROOT / word).exists() for word in copied)
    # All that the build reads is copied.
    assert {"pyproject.toml", "src", project["readme"], *project["license-files"], "constraints.txt"} == {*copied}
    extras = re.search(r"\.\[([\w,]+)\]", CONTAINER)[1].split(",")
    assert {*extras} <= {*project["optional-dependencies"]}
    assert {"serve", "text"} <= {*extras}


@pytest.mark.parametrize("words", [words for words in _runs() if words[0] == "pip"], ids=lambda words: words[-1])
def test_what_the_container_runs_is_understood_by_pip(words, tmp_path):
    # Without what it depends on, which the environment of the tests has by the same pins.
    command = [sys.executable, "-m", *words, "--dry-run", "--no-deps", "--quiet", "--no-index", "--ignore-installed"]
    if words[-1].startswith("."):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    pinned = {line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert {word for word in words[words.index("constraints.txt") + 1 :] if word.isalpha()} <= pinned


def test_the_container_starts_the_service_as_the_command_takes_it(capfd):
    from ranksift.cli.main import run

    entry = json.loads(re.search(r"^ENTRYPOINT (.+)$", CONTAINER, re.M)[1])
    assert entry[0] == "ranksift"
    assert run([*entry[1:], "/models/absent"]) == 2
    assert "/models/absent: is neither" in capfd.readouterr().err

"""What the how-to sends is answered, and what the container installs can be installed."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ranksift.serving.application import application
from ranksift.serving.settings import Settings
from tests.serving.running import PATIENCE, Server

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


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment in which the container's lines were run, on what the container copies."""
    place = tmp_path_factory.mktemp("container")
    for line in re.findall(r"^COPY (.+)$", CONTAINER, re.M):
        for word in line.split()[:-1]:
            copy = shutil.copytree if (ROOT / word).is_dir() else shutil.copyfile
            copy(ROOT / word, place / word)
    environment = place / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True, timeout=PATIENCE)
    # What it depends on is there by the same pins: the environment of the tests has it.
    (found,) = environment.glob("lib/python*/site-packages")
    (found / "tests.pth").write_text(sysconfig.get_path("purelib"))
    for words in _runs():
        if words[0] == "pip":
            command = [str(environment / "bin" / "python"), "-m", *words, "--no-index", "--quiet"]
            variables = {**os.environ, "PYTHONPATH": ""}
            done = subprocess.run(
                command, cwd=place, env=variables, capture_output=True, text=True, timeout=5 * PATIENCE
            )
            assert done.returncode == 0, done.stderr
    return environment


def test_what_the_container_installs_serves(installed, models):
    entry = json.loads(re.search(r"^ENTRYPOINT (.+)$", CONTAINER, re.M)[1])
    assert entry[:2] == ["ranksift", "serve"]
    command = [str(installed / "bin" / "ranksift"), *entry[1:]]
    with Server(models / "cutoff.json", "--drain", "0", command=command, PYTHONPATH="") as server:
        assert "Try it" in server.ask("/")[1]
        assert "RankSift" in server.ask("/docs")[1]
        assert server.ask("/static/try.js")[0] == 200
        assert server.ask("/v1/filter", {"scores": [0.9, 0.1]})[1]["kept"] == [0]
        check = json.loads(re.search(r"^ +CMD (\[.+\])$", CONTAINER, re.M)[1])
        asks = [sys.executable, *check[1:-1], check[-1].replace("8080", str(server.port))]
        assert subprocess.run(asks, timeout=PATIENCE, check=False).returncode == 0
        assert server.stop() == 0


def test_the_container_starts_the_service_as_the_command_takes_it(capfd):
    from ranksift.cli.main import run

    entry = json.loads(re.search(r"^ENTRYPOINT (.+)$", CONTAINER, re.M)[1])
    assert entry[0] == "ranksift"
    assert run([*entry[1:], "/models/absent"]) == 2
    assert "/models/absent: is neither" in capfd.readouterr().err

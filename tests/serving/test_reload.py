"""New versions are taken up without a gap, and never before they are whole."""

import asyncio
import shutil
import threading
import time
from pathlib import Path

import pytest

import ranksift as rs
from ranksift.learning import model_folder
from ranksift.serving.models import Models
from ranksift.serving.served import ServedRanker
from tests.serving.conftest import client_of, save_cutoff, settings_of

ASKED = {"query": "w100 w110", "documents": ["w100 w101 w2", "w1 w120"]}


def _again(folder: Path) -> None:
    """Save a model anew: the same one, in another version."""
    rs.load(folder).save(folder)


@pytest.fixture
def served(place: Path):
    made = Models(settings_of(place, "text", "cutoff.json"))
    yield made
    made.close()


def _news(models: Models):
    for place in models._places.values():
        place.again = 0.0
    return models.look()


def test_nothing_is_new_where_nothing_changed(served):
    assert served.look() == []


def test_a_new_version_is_taken(served, place):
    before = served.find("text", ServedRanker, "ranker")
    _again(place / "text")
    save_cutoff(place / "cutoff.json", 0.8)
    found = {news.name: news.served for news in served.look()}
    assert found.keys() == {"text", "cutoff"}
    assert served.find("text", ServedRanker, "ranker") is before  # until somebody takes it
    for fresh in found.values():
        served.take(fresh)
    assert served.find("text", ServedRanker, "ranker") is found["text"]
    assert found["cutoff"].threshold == 0.8
    assert before.version != found["text"].version
    assert served.look() == []


@pytest.mark.parametrize("wrong", ["half a file", "no card", "half a card", "another's weights", "gone"])
def test_what_is_not_whole_is_not_served(served, place, wrong):
    before = served.find("text", ServedRanker, "ranker").version
    folder = place / "text"
    whole = shutil.copytree(folder, place / "whole")
    _again(whole)
    weights = model_folder.files_at(whole, model_folder.read_card(whole)) / "weights.safetensors"
    target = folder / weights.relative_to(whole)
    # As somebody copies it who does not know how: the card first, or the files one after another.
    if wrong == "gone":
        shutil.rmtree(folder)
    elif wrong == "no card":
        (folder / "model.json").unlink()
    elif wrong == "half a card":
        (folder / "model.json").write_bytes((whole / "model.json").read_bytes()[:100])
    else:
        shutil.copytree(whole, folder, dirs_exist_ok=True)
        content = weights.read_bytes()
        target.write_bytes(
            content[: len(content) // 2] if wrong == "half a file" else content[:-1] + bytes([content[-1] ^ 1])
        )
    (news,) = _news(served)
    assert (news.served, news.name) == (None, "text")
    assert str(folder) in news.complaint
    assert _news(served) == []  # it is said once
    assert served.find("text", ServedRanker, "ranker").version == before
    folder.mkdir(exist_ok=True)
    shutil.copytree(whole, folder, dirs_exist_ok=True)
    (news,) = _news(served)
    assert news.served is not None
    assert news.served.version != before
    news.served.close()


def test_who_looks_at_what_is_broken_waits_longer_each_time(served, place):
    (place / "cutoff.json").write_text("{")
    (news,) = served.look()
    assert "cutoff.json" in news.complaint
    spot = served._places["cutoff"]
    waits = []
    for _ in range(8):
        waits.append(spot.again - time.monotonic())
        assert _news(served) == []
    assert waits[1] < waits[3] < waits[5] <= 60


def test_a_folder_that_stays_broken_is_looked_at_for_ever(served, place):
    (place / "cutoff.json").write_text("{")
    spot = served._places["cutoff"]
    served.look()
    spot.failures = 100_000  # as after weeks
    assert _news(served) == []
    assert spot.again - time.monotonic() <= 60


def test_what_nobody_foresaw_keeps_no_other_model_from_its_new_version(served, place, monkeypatch):
    def broken(path: Path) -> str:
        if path.name == "text":
            raise ZeroDivisionError("of somebody's making")
        return _version(path)

    monkeypatch.setattr("ranksift.serving.models.version_of", broken)
    save_cutoff(place / "cutoff.json", 0.8)
    found = {news.name: news for news in served.look()}
    assert "ZeroDivisionError" in found["text"].complaint
    assert found["cutoff"].served is not None


def test_requests_in_flight_finish_with_the_old_version(served, place):
    async def played() -> tuple[int, bool, bool]:
        old = served.find("text", ServedRanker, "ranker")
        gate, score = threading.Event(), old.batcher._score
        old.batcher._score = lambda lists: (gate.wait(30), score(lists))[1]
        with served.using(old):
            listed = old.listed(ASKED["query"], ASKED["documents"])
            waiting = asyncio.create_task(old.batcher.ask(listed, listed.size))
            await asyncio.sleep(0)
            _again(place / "text")
            (news,) = await asyncio.to_thread(served.look)
            served.take(news.served)
            open_still = not old.batcher._closed
            gate.set()
            scores = await waiting
        old.batcher._thread.join(30)
        return len(scores), open_still, old.batcher._closed

    assert asyncio.run(played()) == (2, True, True)


def test_no_request_sees_a_gap(place):
    with client_of(place, "text", reload_seconds=0.01) as client:
        versions, until = set(), time.monotonic() + 60
        saving = threading.Thread(target=lambda: [_again(place / "text") for _ in range(3)])
        saving.start()
        first = client.post("/v1/rerank", json=ASKED).json()
        last = None
        while time.monotonic() < until and (saving.is_alive() or last != _version(place / "text")):
            answer = client.post("/v1/rerank", json=ASKED)
            assert answer.status_code == 200
            last = answer.json()["version"]
            versions.add(last)
            scores = [one["relevance_score"] for one in answer.json()["results"]]
            assert scores == pytest.approx([one["relevance_score"] for one in first["results"]], abs=1e-6)
        saving.join()
        assert last == _version(place / "text")
        assert len(versions) > 1
        said = client.get("/metrics").text
    assert 'ranksift_reloads_total{model="text",result="loaded"}' in said
    assert f'ranksift_model_version{{model="text",version="{last}"}} 1.0' in said


def _version(folder: Path) -> str:
    from ranksift.serving.served import version_of

    return version_of(folder)

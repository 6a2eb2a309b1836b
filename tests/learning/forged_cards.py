"""Forged folders of models: is one refused with a line, or else a model that scores and can be saved again?

python -m tests.learning.forged_cards --cases 5000 --seed 0
"""

import hashlib
import json
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np

import ranksift as rs
from ranksift.errors import InputError
from ranksift.learning import BoostedTrees, ExpectedGainRanker, L2LogisticRegression, LambdaMARTf, RankBoost, RankSVM
from tests.forged import check_line, command, mutated_bytes, mutated_json


@cache
def genuine() -> tuple[Path, int, rs.Examples]:
    """A folder of folders of models, how many there are, and documents to score."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(60, 3))
    examples = rs.Examples.from_arrays(x, x[:, 0].round().clip(-1, 2), np.repeat(np.arange(12), 5))
    few = {"trees": 2, "min_documents": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = [RankSVM(), RankBoost(rounds=2), LambdaMARTf(**few), BoostedTrees("ordinal", **few)]
        kinds += [ExpectedGainRanker("RankSVM"), L2LogisticRegression()]
        models = [kind.fit(examples) for kind in kinds]
        models[0].fit_cutoff(examples)
        models[1].fit_cutoff(examples, rs.NormalizedCutoff())
    folder = Path(tempfile.mkdtemp(prefix="forged-cards-"))
    for number, model in enumerate(models):
        model.save(folder / str(number))
    return folder, len(models), examples


def forge(model: Path, draw: np.random.Generator) -> None:
    """Change the card of a model, or one of its files, mostly with a sum that says that all is well, or without."""
    card = model / "model.json"
    known = json.loads(card.read_text())
    del known["sum"]
    if draw.random() < 0.5:
        card.write_bytes(mutated_json(known, draw).encode("utf-8", "surrogatepass"))
        return
    names = sorted(known["files"])
    name = names[int(draw.integers(len(names)))]
    file = model / known["version"] / name
    if name.endswith(".json") and draw.random() < 0.8:
        said = json.loads(file.read_text())
        if name == "cutoff.json":
            del said["sum"]
        file.write_bytes(mutated_json(said, draw).encode("utf-8", "surrogatepass"))
    else:
        file.write_bytes(mutated_bytes(file.read_bytes(), draw))
    if known["files"][name] is not None and draw.random() < 0.9:
        known["files"][name] = hashlib.sha256(file.read_bytes()).hexdigest()
        card.write_text(json.dumps(known))


def case(number: int, seed: int) -> str:
    """Load a forged model, and use it if it is taken."""
    draw = np.random.default_rng((seed, number))
    folder, count, examples = genuine()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as there:
        place = Path(there) / "forged"
        shutil.copytree(folder / str(int(draw.integers(count))), place)
        forge(place, draw)
        try:
            model = rs.load(place)
        except InputError as error:
            check_line(error, str(place))
            return "refused"
        try:
            scores = model.score(examples)
            model.rank(examples)
        except InputError:
            return "read, and its use refused"
        assert np.isfinite(scores).all()
        model.save(Path(there) / "again")
        assert np.array_equal(rs.load(Path(there) / "again").score(examples), scores)
    return "read"


if __name__ == "__main__":
    command("tests.learning.forged_cards", __doc__)

"""The page that holds presets against the papers has every setting, as the code has it."""

import inspect
import re
from pathlib import Path

import pytest

from ranksift import study
from ranksift.study.presets import PRESETS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "presets.md").read_text()


def rows(name: str) -> dict[str, str]:
    """What the page says of each setting of a preset: the cell in the column of the preset."""
    section = PAGE.partition(f"{{ #{name} }}")[2].partition("\n## ")[0]
    cells = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in section.splitlines() if line.startswith("| `")]
    return {row[0].strip("`"): row[2] for row in cells}


def settings(name: str) -> dict[str, str]:
    """What the code has."""
    plan = PRESETS[name]
    measures = ", ".join(f"`{measure}`" for measure in plan.measures)
    found = {"measures": measures, "gains": f"`{plan.gains}`", "unjudged": f"`{plan.unjudged}`"}
    for procedure, given in plan.parameters.items():
        found |= {f"{procedure}.{key}": f"`{value!r}`".replace("'", '"') for key, value in given.items()}
    return found


@pytest.mark.parametrize("name", PRESETS)
def test_every_setting_is_beside_the_paper(name):
    said = rows(name)
    assert settings(name).items() <= said.items()
    assert not any("a default" in said[setting] for setting in settings(name))


@pytest.mark.parametrize("name", PRESETS)
def test_what_is_called_a_default_is_one(name):
    said = {setting: cell for setting, cell in rows(name).items() if cell.endswith(", a default")}
    assert len(said) > 0
    for setting, cell in said.items():
        procedure, parameter = setting.split(".")
        default = inspect.signature(getattr(study, procedure)).parameters[parameter].default
        assert cell == f"`{default!r}`, a default".replace("'", '"')
        assert parameter not in PRESETS[name].parameters.get(procedure, {})


def test_every_preset_has_a_section():
    assert re.findall(r"^## .*\{ #(.*) \}", PAGE, re.M) == list(PRESETS)

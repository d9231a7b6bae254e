"""`docs/scenarios.md` and the examples say what the schema says."""

import re
from pathlib import Path

import msgspec
import pytest
import yaml

from services.simulator.script.reading import load, parse
from services.simulator.script.rules import ACTIONS
from services.simulator.script.schema import Step
from services.simulator.script.timing import length

ROOT = Path(__file__).parents[5]
PAGE = (ROOT / "docs" / "scenarios.md").read_text()
EXAMPLES = ROOT / "examples" / "scripts"
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
SCRIPTS = sorted(one for one in EXAMPLES.glob("*.yaml") if "steps:" in one.read_text())


@pytest.mark.parametrize("text", BLOCKS)
def test_scripts_on_the_page_are_right(text: str) -> None:
    assert parse(yaml.safe_load(text), EXAMPLES).script.steps


def test_every_field_of_a_step_is_on_the_page() -> None:
    names = {one.encode_name for one in msgspec.structs.fields(Step)}

    assert {name for name in names if f"| `{name}` |" not in PAGE} == set()
    assert len(names) > len(ACTIONS)


def test_what_is_done_in_the_page_s_examples_is_everything() -> None:
    shown = {
        name
        for text in [*BLOCKS, *(one.read_text() for one in SCRIPTS)]
        for step in parse(yaml.safe_load(text), EXAMPLES).script.steps
        for name in ACTIONS
        if getattr(step, name) is not None
    }

    assert shown == set(ACTIONS)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_examples_are_right_named_and_on_the_page(path: Path) -> None:
    script = load(path).script

    assert script.name
    assert length(script) == script.until
    assert f"`{path.name}`" in PAGE

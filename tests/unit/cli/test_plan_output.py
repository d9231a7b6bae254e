"""`docs/plan-output.md` against the contract, and its example against the command."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from joiner.solver.v1 import solver_pb2

from tests.unit.cli.command import joiner, written

PAGE = Path(__file__).parents[3] / "docs" / "plan-output.md"


def _sections() -> dict[str, set[str]]:
    """Return what the tables of each section name in their first column."""
    text = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return {
        part.partition("\n")[0]: set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE))
        for part in parts
    }


def _contract(message: Any, seen: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the fields of a message and of all below it, and the values of their enums."""
    if message.name in seen or message.full_name.startswith("google."):
        return seen
    seen[message.name] = {field.json_name for field in message.fields}
    for field in message.fields:
        if field.enum_type is not None:
            seen[field.enum_type.name] = {value.name for value in field.enum_type.values}
        below = field.message_type
        if below is not None and not below.GetOptions().map_entry:
            _contract(below, seen)
    return seen


def _blocks(language: str) -> Iterator[str]:
    text = PAGE.read_text(encoding="utf-8")
    yield from re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_every_message_field_and_value_is_on_the_page_and_nothing_else() -> None:
    documented = {name: found for name, found in _sections().items() if found}

    assert documented == _contract(solver_pb2.SolveResponse.DESCRIPTOR, {})


def test_the_example_is_what_the_command_prints(tmp_path: Path) -> None:
    (pods,), (types, answer) = _blocks("yaml"), _blocks("json")
    files = written(tmp_path, pods, name="pods.yaml")
    catalogue = written(tmp_path, types, name="types.json")

    done = joiner("plan", "-f", files, "--catalogue", catalogue, "--format", "json")

    assert done.code == 3
    assert _lasting(done.out) == _lasting(answer)


def _lasting(text: str) -> dict[str, Any]:
    """Return the answer without what every new version of the solver changes."""
    answer: dict[str, Any] = json.loads(text)
    return {key: one for key, one in answer.items() if key not in ("planId", "solverVersion")}

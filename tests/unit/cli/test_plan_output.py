"""`docs/plan-output.md` against the contract, and its example against the command."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from joiner.solver.v1 import solver_pb2

from tests.unit.cli.command import joiner, written
from tests.unit.cli.output_page import contract, sections

PAGE = Path(__file__).parents[3] / "docs" / "plan-output.md"


def _blocks(language: str) -> Iterator[str]:
    text = PAGE.read_text(encoding="utf-8")
    yield from re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_every_message_field_and_value_is_on_the_page_and_nothing_else() -> None:
    assert sections(PAGE) == contract(solver_pb2.SolveResponse.DESCRIPTOR)


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

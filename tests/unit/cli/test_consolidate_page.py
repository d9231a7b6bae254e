"""`docs/consolidate.md` against the contract, the kinds of blockers, the command's options."""

import re
from pathlib import Path

from joiner.solver.v1 import solver_pb2

from libs.domain.blocking import BlockerKind
from tests.unit.cli.command import joiner
from tests.unit.cli.output_page import contract, sections

DOCS = Path(__file__).parents[3] / "docs"
TEXT = (DOCS / "consolidate.md").read_text(encoding="utf-8")


def test_the_options_of_the_page_are_those_of_the_command() -> None:
    flags = set(re.findall(r"^\| `(--[-a-z]+) ", TEXT, re.MULTILINE))
    own = set(re.findall(r"--[-a-z]+", joiner("consolidate", "--help").out))
    of_plans = set(re.findall(r"--[-a-z]+", joiner("plan", "--help").out))

    assert flags == own - of_plans


def test_the_reasons_of_the_page_are_kinds_of_blockers() -> None:
    kinds = re.findall(r"^\| `([A-Z][A-Za-z]+)` \|", TEXT, re.MULTILINE)

    assert kinds
    assert set(kinds) <= {str(kind) for kind in BlockerKind}


def test_every_message_field_and_value_is_on_this_page_or_on_that_of_plans() -> None:
    documented = sections(DOCS / "plan-output.md") | sections(DOCS / "consolidate.md")
    wanted = contract(solver_pb2.ConsolidateResponse.DESCRIPTOR)

    assert {name: documented.get(name) for name in wanted} == wanted


def test_no_message_is_on_the_page_that_is_not_in_the_answer() -> None:
    own = sections(DOCS / "consolidate.md").keys() - {"Why a node stays"}

    assert own <= contract(solver_pb2.ConsolidateResponse.DESCRIPTOR).keys()

"""`docs/simulate.md` against the contract and against the options of the command."""

import re
from dataclasses import fields
from pathlib import Path

from joiner.solver.v1 import solver_pb2

from cli.options import WhatIf
from cli.scenario_file import what_ifs
from tests.unit.cli.command import joiner
from tests.unit.cli.output_page import contract, sections

PAGE = Path(__file__).parents[3] / "docs" / "simulate.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_every_message_field_and_value_is_on_the_page_and_nothing_else() -> None:
    of_plans = contract(solver_pb2.SolveResponse.DESCRIPTOR)
    own = contract(solver_pb2.SimulateResponse.DESCRIPTOR)

    assert sections(PAGE) == {name: one for name, one in own.items() if name not in of_plans}


def test_every_option_is_on_the_page_with_its_word_in_the_order_in_which_they_are_made() -> None:
    rows = re.findall(r"^\| `(--[-a-z]+) [^|]*\|[^|]*\| `(\w+)` \|$", TEXT, re.MULTILINE)
    kinds = [one.name for one in fields(WhatIf) if one.name not in ("name", "source")]
    flags = [WhatIf().where(kind, "").strip() for kind in kinds]
    words = [WhatIf(source="file").where(kind, "")[5:-2] for kind in kinds]

    assert rows == list(zip(flags, words, strict=True))
    help_text = joiner("simulate", "--help").out
    assert [flag for flag in flags if flag[:16] not in help_text] == []


def test_the_scenario_file_of_the_page_can_be_read(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    file = tmp_path / "drills.yaml"
    file.write_text(text)

    listed = list(what_ifs(str(file)))

    assert [one.name for one in listed] == ["zone a burns", "sale", "new generation"]
    assert listed[1].scale == ("shop/web=200", "shop/api=80")
    assert listed[2].pool_files == (str(tmp_path / "pools" / "m8.yaml"),)

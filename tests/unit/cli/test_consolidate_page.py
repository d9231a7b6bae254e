"""`docs/consolidate.md` against the kinds of blockers and the options of the command."""

import re
from pathlib import Path

from libs.domain.blocking import BlockerKind
from tests.unit.cli.command import joiner

TEXT = (Path(__file__).parents[3] / "docs" / "consolidate.md").read_text(encoding="utf-8")


def test_the_options_of_the_page_are_those_of_the_command() -> None:
    flags = set(re.findall(r"^\| `(--[-a-z]+) ", TEXT, re.MULTILINE))
    own = set(re.findall(r"--[-a-z]+", joiner("consolidate", "--help").out))
    of_plans = set(re.findall(r"--[-a-z]+", joiner("plan", "--help").out))

    assert flags == own - of_plans


def test_the_reasons_of_the_page_are_kinds_of_blockers() -> None:
    kinds = re.findall(r"^\| `([A-Z][A-Za-z]+)` \|", TEXT, re.MULTILINE)

    assert kinds
    assert set(kinds) <= {str(kind) for kind in BlockerKind}

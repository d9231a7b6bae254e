"""`docs/explain.md` against the contract, and its examples against the command."""

import re
from pathlib import Path

from joiner.solver.v1 import solver_pb2

from tests.unit.cli.command import joiner, written
from tests.unit.cli.output_page import contract, sections

DOCS = Path(__file__).parents[3] / "docs"


def test_every_message_field_and_value_is_on_this_page_or_on_that_of_plans() -> None:
    documented = sections(DOCS / "plan-output.md") | sections(DOCS / "explain.md")
    wanted = contract(solver_pb2.ExplainResponse.DESCRIPTOR)

    assert {name: documented.get(name) for name in wanted} == wanted


def test_the_examples_are_what_the_command_prints(tmp_path: Path) -> None:
    text = (DOCS / "explain.md").read_text(encoding="utf-8")
    (cluster,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    path = written(tmp_path, cluster, name="cluster.yaml")

    examples = re.findall(
        r"^`joiner explain (\w+) (\S+) -f cluster.yaml`:\n\n```\n(.*?)```",
        text,
        re.DOTALL | re.MULTILINE,
    )

    assert len(examples) == 3
    for kind, name, printed in examples:
        assert joiner("explain", kind, name, "-f", path).out == printed

"""`joiner import`: foreign traces as Kubernetes objects."""

from itertools import chain
from pathlib import Path

from cli import openb
from cli.failures import bad_input_exits, progress
from cli.formats import print_json
from cli.options import Machines
from libs.domain.errors import InvalidRequest


def run_openb(pods: Path, nodes: Path, machines: Machines) -> None:
    """Carry out `joiner import openb`."""
    with (
        bad_input_exits(),
        progress("reading"),
        pods.open(newline="", encoding="utf-8-sig") as pod_lines,
        nodes.open(newline="", encoding="utf-8-sig") as machine_lines,
    ):
        kept = machines is not Machines.NONE
        found = openb.nodes(machine_lines, str(nodes), machines) if kept else iter(())
        try:
            document = openb.as_list(chain(openb.pods(pod_lines, str(pods)), found))
        except UnicodeDecodeError as error:
            raise InvalidRequest(f"not text in UTF-8: {error.reason}", field=str(pods)) from None
    print_json(document)

"""`joiner import`: foreign traces as Kubernetes objects."""

from itertools import chain
from pathlib import Path

from cli import openb
from cli.failures import bad_input_exits, progress
from cli.formats import print_json
from cli.options import Machines


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
        document = openb.as_list(chain(openb.pods(pod_lines, str(pods)), found))
    print_json(document)

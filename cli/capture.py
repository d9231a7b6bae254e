"""`joiner capture`: everything of a cluster that an autoscaler can see, in one file.

It reads and writes nothing but that file. Exit code 1: the cluster cannot be read.
"""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from cli.failures import bad_input_exits, progress
from libs.domain.errors import InvalidRequest, JoinerError
from libs.kube.dump import files
from libs.kube.dump.capturing import Captured, Wish, capture
from libs.kube.dump.redaction import Keeping
from libs.kube.transport import connect
from libs.runtime.clock import SystemClock

FAILED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be captured, and where to."""

    output: Path
    kubeconfig: str
    also: tuple[str, ...]
    keeping: Keeping


def run(asked: Asked) -> None:
    """Capture a cluster and say what was found."""
    with bad_input_exits():
        if not asked.output.parent.is_dir():
            raise InvalidRequest(f"{asked.output.parent} is no folder", field="--output")
        try:
            found = _captured(asked)
        except InvalidRequest:
            raise
        except JoinerError as error:
            print(f"joiner: the cluster cannot be read: {error}", file=sys.stderr)
            raise typer.Exit(FAILED) from None
        header = files.Header(
            captured_at=SystemClock().now(),
            server_version=found.server_version,
            counts=found.counts,
            missing=found.missing,
        )
        files.write(asked.output, header, found.objects)
    _say(asked, found)


def _captured(asked: Asked) -> Captured:
    with progress("asking what there is") as status:
        wish = Wish(
            also=frozenset(asked.also),
            keeping=asked.keeping,
            progress=lambda resource: status.update(f"reading {resource}"),
        )

        async def take() -> Captured:
            async with connect(asked.kubeconfig) as api:
                return await capture(api, wish)

        return asyncio.run(take())


def _say(asked: Asked, found: Captured) -> None:
    console = Console()
    kinds = ", ".join(f"{count} {name}" for name, count in found.counts.items())
    size = asked.output.stat().st_size
    for line in (
        f"{asked.output}: {len(found.objects)} objects, {size:,} bytes",
        kinds,
        f"plan with it: joiner plan -f {asked.output}",
    ):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    for name, why in found.missing.items():
        print(f"joiner: {name} is missing: {why}", file=sys.stderr)

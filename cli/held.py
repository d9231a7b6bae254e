"""Why pods without a node do not ask for one: known of those in files, whose objects are there.

Apart from explanations of the solver, which is told only that such a pod does not wait.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cli.formats import few


def held(documents: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, str]:
    """Return by uid what keeps pods from being planned for, to be put after their names.

    Args:
        documents: kind and plain form of objects, all of them legible.
    """
    found = {}
    for kind, document in documents:
        if kind == "Pod" and (why := " and ".join(_reasons(document))):
            metadata = document["metadata"]
            found[metadata.get("uid") or f"{metadata['namespace']}/{metadata['name']}"] = why
    return found


def _reasons(pod: Mapping[str, Any]) -> Iterator[str]:
    gates = (pod.get("spec") or {}).get("schedulingGates") or ()
    if gates:
        names = few(f'"{one["name"]}"' for one in gates)
        yield f"with scheduling gate{'s' if len(gates) > 1 else ''} {names}"

"""What we ask real API servers: sequences of requests, written short in the YAML files here.

A file is a list of questions; new ones go to its end, since their ids count. `title` and `area` say
what one is about. Its steps come in three
forms:

- `create`: a base object (`bases.yaml`), created once for each entry of `with`, changed as the
  entry says: `spec.replicas: -1` sets the member at that path, `-spec.replicas` takes it away,
  numbers are positions in lists. The n-th object has the name of the base and n.
- `change`: a base object, created as it is and then patched by each entry of `with`, which is a
  merge patch.
- `steps`: requests as they are sent. `object` (a base) with `with` makes a body;
  `${0.metadata.uid}` is what the answer to step 0 holds there; `at: pod` is the path of that base's
  collection, `at: pod/a` one below it.

With `definition`, a CRD of kind Thing comes first: `properties` of its schema, more of its
`version`, changes of its spec (`with`), members of its base `object` (`thing`), and whether it is
`refused`.
`needs: [admission]` asks a server with its admission plug-ins, `needs: [controllers]` one with its
controllers.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Object = dict[str, Any]

_FOLDER = Path(__file__).parent
_GROUP = "q.example.com"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_THINGS = f"/apis/{_GROUP}/v1/namespaces/default/things"
_PATCH = "application/merge-patch+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One sequence of requests."""

    id: str
    title: str
    area: str
    needs: tuple[str, ...]
    managed_fields: bool
    steps: tuple[Object, ...]


def questions() -> Iterator[Question]:
    """Yield every question, file by file."""
    bases = yaml.safe_load((_FOLDER / "bases.yaml").read_text())
    for path in sorted(_FOLDER.glob("*.yaml")):
        if path.stem == "bases":
            continue
        for number, entry in enumerate(yaml.safe_load(path.read_text())):
            yield Question(
                id=f"{path.stem}-{number:02}",
                title=entry["title"],
                area=entry["area"],
                needs=("core", *entry.get("needs", ())),
                managed_fields=entry.get("managedFields", False),
                steps=tuple(_steps(entry, bases)),
            )


def changed(base: Object, changes: Object) -> Object:
    """Return a copy of an object with members set or taken away by their paths."""
    result = copy.deepcopy(base)
    for path, value in changes.items():
        *above, last = path.removeprefix("-").split(".")
        place: Any = result
        for name in above:
            place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
        key: Any = int(last) if isinstance(place, list) else last
        if path.startswith("-"):
            del place[key]
        elif isinstance(place, list) and key == len(place):
            place.append(value)
        else:
            place[key] = value
    return result


def _steps(entry: Object, bases: Object) -> Iterator[Object]:
    if "definition" in entry:
        bases = {**bases, "thing": _thing(entry)}
        yield from _define(entry)
    if name := entry.get("create"):
        base = bases[name]
        for number, changes in enumerate(entry["with"]):
            body = changed(base["object"], changes or {})
            if "metadata.name" not in (changes or {}) and "name" in body.get("metadata", {}):
                body["metadata"]["name"] += str(number)
            yield {"method": "POST", "path": base["path"], "body": body}
    if name := entry.get("change"):
        base = bases[name]
        path = f"{base['path']}/{base['object']['metadata']['name']}"
        yield {"method": "POST", "path": base["path"], "body": base["object"]}
        for patch in entry["with"]:
            yield {"method": "PATCH", "path": path, "body": patch, "contentType": _PATCH}
    for step in entry.get("steps", ()):
        yield _step(dict(step), bases)


def _definition(entry: Object) -> Object:
    given = entry["definition"]
    schema = {"type": "object", "properties": given.get("properties", {})}
    version = {"name": "v1", "served": True, "storage": True}
    version |= {"schema": {"openAPIV3Schema": schema}, **given.get("version", {})}
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    spec = {"group": _GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{_GROUP}"},
        "spec": changed(spec, given.get("with", {})),
    }


def _thing(entry: Object) -> Object:
    body = {"apiVersion": f"{_GROUP}/v1", "kind": "Thing", "metadata": {"name": "a"}}
    return {"path": _THINGS, "object": {**body, **entry["definition"].get("object", {})}}


def _define(entry: Object) -> Iterator[Object]:
    """Yield the steps that create a definition and, if it is valid, wait until it is served."""
    yield {"method": "POST", "path": _DEFINITIONS, "body": _definition(entry)}
    if entry["definition"].get("refused"):
        return
    until = {"condition": "Established"}
    kept = {"keep": ["status"]}
    path = f"{_DEFINITIONS}/things.{_GROUP}"
    yield {"method": "GET", "path": path, "until": until, "filter": kept}
    kept = {"keep": ["kind", "apiVersion", "items"]}
    until_served = {"status": 200}
    yield {
        "method": "GET",
        "path": _THINGS,
        "query": {"limit": "1"},
        "until": until_served,
        "filter": kept,
    }


def _step(step: Object, bases: Object) -> Object:
    base = bases[step.pop("object")] if "object" in step else None
    if base is not None:
        step.setdefault("path", base["path"])
        step["body"] = changed(base["object"], step.pop("with", {}))
    if place := step.pop("at", ""):
        collection, _, below = place.partition("/")
        path = bases[collection]["path"]
        step["path"] = f"{path}/{below}" if below else path
    return step

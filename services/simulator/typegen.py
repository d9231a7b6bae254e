"""Make `libs/apiserver/types/builtin.json`, the field table of Kubernetes' built-in types.

It is made from Kubernetes' Go modules (`k8s.io/api`, `apimachinery`, `apiextensions-apiserver`, one
version of all three), once `go mod download` has brought them:

    python -m services.simulator.typegen "$(go env GOMODCACHE)/k8s.io" v0.36.2

Only facts are taken: names, types, JSON tags, merge keys and list markers of exported structs. It
is apart because nothing runs it at run time; the table is committed. One line of the table is one
struct, one entry one field (the empty name says that the struct itself is atomic for server-side
apply, `inline:N` that its protobuf message holds another one as field N; `enum=A|B` that no other
value is valid; `go=v1.Protocol` what Go calls the type and `in=VolumeSource` which embedded struct
holds the field, both as refusals name them; `field=QOSClass` what Go calls the field where that is
not the name with a capital):

    "core/v1.Container": {"name": "string", "env": "[]core/v1.EnvVar omitempty merge=name"}
"""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from libs.apiserver.types.mismatch import go_name

PACKAGES = {
    "meta/v1": "apimachinery@{}/pkg/apis/meta/v1",
    "core/v1": "api@{}/core/v1",
    "apps/v1": "api@{}/apps/v1",
    "batch/v1": "api@{}/batch/v1",
    "policy/v1": "api@{}/policy/v1",
    "storage/v1": "api@{}/storage/v1",
    "coordination/v1": "api@{}/coordination/v1",
    "events/v1": "api@{}/events/v1",
    "scheduling/v1": "api@{}/scheduling/v1",
    "node/v1": "api@{}/node/v1",
    "rbac/v1": "api@{}/rbac/v1",
    "resource/v1": "api@{}/resource/v1",
    "autoscaling/v1": "api@{}/autoscaling/v1",
    "autoscaling/v2": "api@{}/autoscaling/v2",
    "discovery/v1": "api@{}/discovery/v1",
    "networking/v1": "api@{}/networking/v1",
    "certificates/v1": "api@{}/certificates/v1",
    "flowcontrol/v1": "api@{}/flowcontrol/v1",
    "admissionregistration/v1": "api@{}/admissionregistration/v1",
    "authorization/v1": "api@{}/authorization/v1",
    "authentication/v1": "api@{}/authentication/v1",
    "apiextensions/v1": "apiextensions-apiserver@{}/pkg/apis/apiextensions/v1",
}
"""Our name of a package → where its Go files are."""

PRIMITIVES = {
    "string": "string",
    "bool": "bool",
    "int32": "int32",
    "int64": "int64",
    "int": "int64",
    "float64": "float64",
    "[]byte": "bytes",
    "uint32": "int64",
    "interface{}": "any",
    "meta/v1.Time": "time",
    "meta/v1.MicroTime": "microtime",
    "meta/v1.Duration": "duration",
    "meta/v1.FieldsV1": "any",
    "apiextensions/v1.JSON": "any",
    "apiextensions/v1.JSONSchemaPropsOrArray": "schema|schemas",
    "apiextensions/v1.JSONSchemaPropsOrBool": "schema|bool",
    "apiextensions/v1.JSONSchemaPropsOrStringArray": "schema|strings",
    "resource.Quantity": "quantity",
    "intstr.IntOrString": "intstr",
    "runtime.RawExtension": "any",
    "runtime.Object": "any",
    "types.UID": "string",
    "types.NodeName": "string",
    "types.NamespacedName": "string",
}

CLOSED = (
    "ContainerRestartPolicy",
    "ContainerRestartRuleAction",
    "ContainerRestartRuleOnExitCodesOperator",
    "DeviceAllocationMode",
    "FSGroupPolicy",
    "LabelSelectorOperator",
    "LimitType",
    "OSName",
    "PersistentVolumeClaimRetentionPolicyType",
    "PodSELinuxChangePolicy",
    "RecursiveReadOnlyMode",
    "ResourceResizeRestartPolicy",
    "VolumeLifecycleMode",
)
"""Named types whose values are validated although no marker says so."""

_STRUCT = re.compile(r"^type (\w+) struct \{")
_ALIAS = re.compile(r"^type (\w+) (=\s*)?([\w.\[\]*]+)\s*(?://.*)?$")
_VALUE = re.compile(r'^(?:const|\t)\s*\w+\s+(?:=\s*)?(\w+)(?:\s*=\s*|\()"([^"]*)"')
_FIELD = re.compile(r"^\t(?:(\w+)\s+)?([\w.\[\]*{}]+)\s+`([^`]*)`")
_IMPORT = re.compile(
    r'^\t(?:(\w+) )?"k8s\.io/(?:api|apimachinery/pkg/apis|apimachinery/pkg)/([\w/]+)"'
)


@dataclass
class Package:
    """What the Go files of one package declare, names unresolved."""

    structs: dict[str, list[tuple[str | None, str, str, list[str]]]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    """Named types of which only the declared values are valid."""
    values: dict[str, list[str]] = field(default_factory=dict)
    """The values declared of each named type of texts."""
    atomic: set[str] = field(default_factory=set)
    imports: dict[str, str] = field(default_factory=dict)


def read_package(folder: Path) -> Package:
    """Collect structs, named types and imports from the hand-written files of one package."""
    package = Package()
    for path in sorted(folder.glob("*.go")):
        if not path.name.endswith("_test.go") and "generated" not in path.name:
            _read_file(path.read_text().splitlines(), package)
    return package


def _read_file(lines: list[str], package: Package) -> None:
    struct: str | None = None
    markers: list[str] = []
    for line in lines:
        if found := _STRUCT.match(line):
            struct = found.group(1)
            package.structs[struct] = []
            if "structType=atomic" in markers:
                package.atomic.add(struct)
            markers = []
        elif line.startswith("}"):
            struct = None
        elif line.strip().startswith("// +"):
            markers.append(line.strip()[4:])
        elif struct is None:
            if _read_declaration(line, markers, package):
                markers = []
        elif found := _FIELD.match(line):
            package.structs[struct].append(
                (found.group(1), found.group(2), found.group(3), markers)
            )
            markers = []


def _read_declaration(line: str, markers: list[str], package: Package) -> bool:
    """Note a named type, a value or an import; tell whether the markers were those of a type."""
    if found := _ALIAS.match(line):
        package.aliases[found.group(1)] = found.group(3)
        if "enum" in markers or found.group(1) in CLOSED:
            package.closed.add(found.group(1))
        return True
    if found := _VALUE.match(line):
        package.values.setdefault(found.group(1), []).append(found.group(2))
    elif found := _IMPORT.match(line):
        name = found.group(1) or found.group(2).rsplit("/", 1)[-1]
        package.imports[name] = found.group(2)
    return False


def generate(packages: dict[str, Package]) -> dict[str, dict[str, str]]:
    """Return the field table of every struct of `packages`."""
    table = {}
    for home, package in packages.items():
        for struct in package.structs:
            fields = dict(_fields(packages, home, struct))
            if struct in package.atomic:
                fields[""] = "atomic"
            if fields:
                table[f"{home}.{struct}"] = fields
    return table


def _fields(packages: dict[str, Package], home: str, struct: str) -> Iterator[tuple[str, str]]:
    for go_field, go_type, tag, markers in packages[home].structs[struct]:
        tags = dict(re.findall(r'(\w+):"([^"]*)"', tag))
        name, *options = tags.get("json", "-").split(",")
        if name == "-":
            continue
        number = tags.get("protobuf", "").partition(",")[2].partition(",")[0]
        if "inline" in options or not name:
            inner_home, inner = _locate(packages, home, go_type)
            if number:
                yield f"inline:{number}", f"{inner_home}.{inner}"
            for name, spec in _fields(packages, inner_home, inner):
                yield name, f"{spec} in={inner}" if _is_embedded(name, inner) else spec
            continue
        words = [_resolve(packages, home, go_type), *options, *_merging(tags), *_listing(markers)]
        if number:
            words.append(f"number={number}")
        if choices := _choices(packages, home, go_type):
            words.append(f"enum={'|'.join(choices)}")
        if named := _go_name(packages, home, go_type):
            words.append(f"go={named}")
        if go_field and go_field != name[:1].upper() + name[1:]:
            words.append(f"field={go_field}")
        yield name, " ".join(words)


def _is_embedded(name: str, inner: str) -> bool:
    """Tell whether a refusal names the struct that a field is embedded with; one level is named."""
    return bool(name) and not name.startswith("inline:") and inner != "TypeMeta"


def _go_name(packages: dict[str, Package], home: str, go_type: str) -> str:
    """Return what Go calls a type, empty where that follows from our name for it."""
    named = _spelled(packages, home, go_type.lstrip("*"))
    return "" if named == go_name(_resolve(packages, home, go_type)) else named


def _spelled(packages: dict[str, Package], home: str, go_type: str) -> str:
    if go_type.startswith("[]"):
        return "[]" + _spelled(packages, home, go_type[2:])
    if go_type.startswith("map["):
        end = go_type.index("]") + 1
        key = _spelled(packages, home, go_type[4 : end - 1])
        return f"map[{key}]" + _spelled(packages, home, go_type[end:])
    if go_type == "byte":
        return "uint8"
    owner, name = _locate(packages, home, go_type)
    if go_type.islower() and "." not in go_type:
        return go_type
    return f"{owner.rpartition('/')[2]}.{name}"


def _merging(tags: dict[str, str]) -> Iterator[str]:
    strategies = tags.get("patchStrategy", "").split(",")
    if "merge" in strategies:
        yield f"merge={tags.get('patchMergeKey', '')}"
    if "retainKeys" in strategies:
        yield "retainKeys"


def _listing(markers: list[str]) -> Iterator[str]:
    keys = [marker.split("=", 1)[1] for marker in markers if marker.startswith("listMapKey=")]
    for marker in markers:
        if marker.startswith("listType="):
            yield f"list={marker.split('=', 1)[1]}" + (f":{','.join(keys)}" if keys else "")
        if marker in ("structType=atomic", "mapType=atomic"):
            yield "atomic"


def _choices(packages: dict[str, Package], home: str, go_type: str) -> list[str]:
    """Return the only values that a field, or each of its items, may have; sorted."""
    owner, name = _locate(packages, home, go_type.lstrip("*[]"))
    package = packages.get(owner.removeprefix("api/"))
    if package is None or name not in package.closed:
        return []
    return sorted(value for value in package.values.get(name, ()) if value)


def _locate(packages: dict[str, Package], home: str, go_type: str) -> tuple[str, str]:
    qualifier, _, name = go_type.lstrip("*").rpartition(".")
    return (packages[home].imports.get(qualifier, qualifier) if qualifier else home), name


def _resolve(packages: dict[str, Package], home: str, go_type: str) -> str:
    if go_type in PRIMITIVES:
        return PRIMITIVES[go_type]
    if go_type.startswith("*"):
        return "*" + _resolve(packages, home, go_type[1:])
    if go_type.startswith("[]"):
        return "[]" + _resolve(packages, home, go_type[2:])
    if go_type.startswith("map["):
        return "map:" + _resolve(packages, home, go_type[go_type.index("]") + 1 :])
    owner, name = _locate(packages, home, go_type)
    qualified = f"{owner.removeprefix('util/').removeprefix('api/')}.{name}"
    if qualified in PRIMITIVES:
        return PRIMITIVES[qualified]
    if owner in packages and name in packages[owner].aliases:
        return _resolve(packages, owner, packages[owner].aliases[name])
    return qualified


def main(modules: str, version: str) -> None:
    """Write the table to `libs/apiserver/types`."""
    packages = {
        name: read_package(Path(modules) / folder.format(version))
        for name, folder in PACKAGES.items()
    }
    table = generate(packages)
    lines = (f"{json.dumps(name)}: {json.dumps(table[name])}" for name in sorted(table))
    target = Path(__file__).parents[2] / "libs" / "apiserver" / "types" / "builtin.json"
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

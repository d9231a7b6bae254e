"""What is wrong with a CustomResourceDefinition as a whole: names, versions, columns, scale.

Apart from the schemas, whose rules are many (`structural`, `schema_rules`, `rule_checks`). A
definition of one version is told of its parts as `spec.validation`, `spec.subresources` and so on,
as the API server does: it moves up there what all versions share.

Source: Kubernetes API reference, CustomResourceDefinition; order and wordings as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.crd.fieldpaths import InvalidPath, resolve
from libs.apiserver.crd.schema_rules import children
from libs.apiserver.crd.structural import schema_errors
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    not_allowed,
    not_supported,
    required,
    wrong,
)

Raw = Mapping[str, Any]

_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = (
    *("bsonobjectid", "byte", "cidr", "creditcard", "date", "date-time", "double", "email"),
    *("float", "hexcolor", "hostname", "int32", "int64", "ipv4", "ipv6", "isbn", "isbn10"),
    *("isbn13", "mac", "password", "rgbcolor", "ssn", "uri", "uuid", "uuid3", "uuid4", "uuid5"),
)
_MIXED_CASE = "may have mixed case, but should otherwise match: "
_NOT_SCALAR = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with "
    "formats are allowed."
)
_NOT_WEBHOOK = "should not be set when strategy is not set to Webhook"
_REVIEWS = ("v1", "v1beta1")


def definition_errors(crd: Raw) -> list[FieldError]:
    """Return what is wrong with a definition, defaults filled in; its metadata is not looked at."""
    spec = crd["spec"]
    versions = spec["versions"] or ()
    shared = len(versions) == 1
    errors = [*_named(crd), *_group(spec["group"]), *_scope(spec["scope"])]
    if spec.get("preserveUnknownFields") and any(map(_has_default, versions)):
        why = "must be false in order to use defaults in the schema"
        errors.append(wrong("spec.preserveUnknownFields", True, why))
    errors += _versions(versions)
    errors += schema_errors(crd)
    for index, version in enumerate(versions):
        errors += _parts(version, "spec" if shared else f"spec.versions[{index}]")
    errors += _names(spec["names"])
    errors += _conversion(spec.get("conversion") or {})
    if not any(version["storage"] for version in versions):
        errors.append(wrong("status.storedVersions", None, "must have at least one stored version"))
    return errors


def _has_default(version: Raw) -> bool:
    pending = [(version.get("schema") or {}).get("openAPIV3Schema") or {}]
    while pending:
        node = pending.pop()
        if node.get("default") is not None:
            return True
        pending += [child for _step, child in children(node)]
    return False


def _named(crd: Raw) -> Iterator[FieldError]:
    spec, name = crd["spec"], crd["metadata"].get("name", "")
    if name != f"{spec['names']['plural']}.{spec['group']}":
        yield wrong("metadata.name", name, 'must be spec.names.plural+"."+spec.group')


def _group(group: str) -> Iterator[FieldError]:
    if not group:
        yield required("spec.group")
    elif found := names.subdomain(group):
        yield wrong("spec.group", group, ",".join(found))
    elif "." not in group:
        yield wrong("spec.group", group, "should be a domain with at least one dot")


def _scope(scope: str) -> Iterator[FieldError]:
    if not scope:
        yield required("spec.scope")
    elif scope not in ("Cluster", "Namespaced"):
        yield not_supported("spec.scope", scope, ("Cluster", "Namespaced"))


def _versions(versions: Sequence[Raw]) -> Iterator[FieldError]:
    for index, version in enumerate(versions):
        if found := names.label_1035(version["name"]):
            yield wrong(f"spec.versions[{index}].name", version["name"], ",".join(found))
    if len({version["name"] for version in versions}) < len(versions):
        yield wrong("spec.versions", _shown(versions), "must contain unique version names")
    if sum(1 for version in versions if version["storage"]) != 1:
        why = "must have exactly one version marked as storage version"
        yield wrong("spec.versions", _shown(versions), why)
    if versions and (found := names.label_1035(versions[0]["name"])):
        yield wrong("spec.version", versions[0]["name"], ",".join(found))


def _shown(versions: Sequence[Raw]) -> list[dict[str, Any]]:
    """Return versions as Go prints its own form of them, what all share moved away."""
    return [
        {
            "Name": version["name"],
            "Served": version["served"],
            "Storage": version["storage"],
            "Deprecated": version.get("deprecated", False),
            "DeprecationWarning": version.get("deprecationWarning"),
            "Schema": None,
            "Subresources": None,
            "AdditionalPrinterColumns": None,
            "SelectableFields": None,
        }
        for version in versions
    ]


def _names(own: Raw) -> Iterator[FieldError]:
    at = "spec.names"
    for name in ("plural", "singular", "kind", "listKind"):
        if not own.get(name):
            yield required(f"{at}.{name}")
    for name in ("plural", "singular"):
        if own.get(name) and (found := names.label_1035(own[name])):
            yield wrong(f"{at}.{name}", own[name], ",".join(found))
    for name in ("kind", "listKind"):
        if own.get(name) and (found := names.label_1035(own[name].lower())):
            yield wrong(f"{at}.{name}", own[name], _MIXED_CASE + ",".join(found))
    yield from _each(own.get("shortNames") or (), f"{at}.shortNames")
    if own.get("kind") and own["kind"] == own.get("listKind"):
        why = "kind and listKind may not be the same"
        yield wrong(f"{at}.listKind", own["listKind"], why)
    yield from _each(own.get("categories") or (), f"{at}.categories")


def _each(values: Sequence[str], at: str) -> Iterator[FieldError]:
    for index, value in enumerate(values):
        if found := names.label_1035(value):
            yield wrong(f"{at}[{index}]", value, ",".join(found))


def _parts(version: Raw, at: str) -> Iterator[FieldError]:
    yield from _scale((version.get("subresources") or {}).get("scale"), f"{at}.subresources.scale")
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        yield from _column(column, f"{at}.additionalPrinterColumns[{index}]")
    selectable = version.get("selectableFields") or ()
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if selectable and schema is None:
        why = "may only be set when validations.schema is included"
        yield wrong(f"{at}.selectableFields", "", why)
    elif schema is not None:
        yield from _selectable(selectable, schema, f"{at}.selectableFields")


def _scale(scale: Raw | None, at: str) -> Iterator[FieldError]:
    if scale is None:
        return
    for name, part in (("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")):
        path = scale.get(name) or ""
        if not path:
            yield required(f"{at}.{name}")
        elif bad := list(_simple(path, f"{at}.{name}")):
            yield from bad
        elif not path.startswith(f"{part}."):
            yield wrong(f"{at}.{name}", path, f"should be a json path under {part}")
    path = scale.get("labelSelectorPath") or ""
    if path and not path.startswith((".spec.", ".status.")):
        simple = list(_simple(path, f"{at}.labelSelectorPath"))
        why = "should be a json path under either .spec or .status"
        yield from simple or [wrong(f"{at}.labelSelectorPath", path, why)]


def _simple(path: str, at: str) -> Iterator[FieldError]:
    if not path.startswith("."):
        yield wrong(at, path, "must be a simple json path starting with .")


def _column(column: Raw, at: str) -> Iterator[FieldError]:
    if not column.get("name"):
        yield required(f"{at}.name")
    kind, format_ = column.get("type"), column.get("format")
    choices = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        yield required(f"{at}.type", choices)
    elif kind not in _COLUMN_TYPES:
        yield wrong(f"{at}.type", kind, choices)
    if format_ and format_ not in _COLUMN_FORMATS:
        yield wrong(f"{at}.format", format_, f"must be one of {','.join(_COLUMN_FORMATS)}")
    if not column.get("jsonPath"):
        yield required(f"{at}.JSONPath")
    else:
        yield from _simple(column["jsonPath"], f"{at}.JSONPath")


def _selectable(fields: Sequence[Raw], schema: Raw, at: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, entry in enumerate(fields):
        where, path = f"{at}[{index}].jsonPath", entry.get("jsonPath") or ""
        if not path:
            yield required(where)
            continue
        try:
            found = resolve(path, schema, arrays=False)
        except InvalidPath as error:
            yield wrong(where, path, f"is an invalid path: {error}")
            continue
        if path.startswith(".metadata"):
            yield wrong(where, path, "must not point to fields in metadata")
        if found.get("type") not in ("string", "boolean", "integer"):
            yield wrong(where, path, _NOT_SCALAR)
        if path in seen:
            yield duplicate(where, path)
        seen.add(path)


def _conversion(conversion: Raw) -> Iterator[FieldError]:
    at, strategy = "spec.conversion", conversion.get("strategy", "")
    client, reviews = (
        conversion.get("webhookClientConfig"),
        conversion.get("conversionReviewVersions"),
    )
    webhook = conversion.get("webhook") or {}
    client = client if client is not None else webhook.get("clientConfig")
    reviews = reviews or webhook.get("conversionReviewVersions") or ()
    if not strategy:
        yield required(f"{at}.strategy")
    elif strategy not in ("None", "Webhook"):
        yield not_supported(f"{at}.strategy", strategy, ("None", "Webhook"))
    if strategy == "Webhook":
        yield from _client(client, f"{at}.webhookClientConfig")
        yield from _reviews(reviews, f"{at}.conversionReviewVersions")
        return
    if client is not None:
        yield not_allowed(f"{at}.webhookClientConfig", _NOT_WEBHOOK)
    if reviews:
        yield not_allowed(f"{at}.conversionReviewVersions", _NOT_WEBHOOK)


def _client(client: Raw | None, at: str) -> Iterator[FieldError]:
    if client is None:
        yield required(at, "required when strategy is set to Webhook")
    elif (client.get("url") is None) == (client.get("service") is None):
        yield required(at, "exactly one of url or service is required")


def _reviews(versions: Sequence[str], at: str) -> Iterator[FieldError]:
    if not versions:
        yield required(at)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield wrong(f"{at}[{index}]", version, "duplicate version")
        else:
            for why in names.label_1035(version):
                yield wrong(f"{at}[{index}]", version, why)
    if not set(versions) & set(_REVIEWS):
        yield wrong(at, list(versions), f"must include at least one of {', '.join(_REVIEWS)}")

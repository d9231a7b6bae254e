"""A custom resource through its CRD: pruning, defaults, schema errors, rules.

What concerns every resource alike (names, labels, owner references, resourceVersion, generation) is
the API server's: it hands over what it found wrong with the metadata, because such an error can
keep the rules from being asked.

Laws: no argument is changed; what `admit` returns without causes is the object as it reads back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from libs.apiserver.crd import embedded, listtypes, pruning, scaling
from libs.apiserver.crd.gotext import bad_value
from libs.apiserver.crd.rules import Outcome, evaluate_rules
from libs.apiserver.crd.schema import MISSING, Schema, parse_schema
from libs.apiserver.crd.validation import NO_FIELD, validate
from libs.apiserver.crd.values import received, stored
from libs.apiserver.field_errors import FieldError
from libs.domain.errors import InvalidRequest

_ENVELOPE = ("apiVersion", "kind", "metadata")

_SILENCING = frozenset(
    {
        "FieldValueRequired",
        "FieldValueTypeInvalid",
        "FieldValueNotSupported",
        "FieldValueTooLong",
        "FieldValueTooMany",
    }
)
"""Reasons of errors that keep the rules from being asked."""

_SILENCED = FieldError(
    "FieldValueInvalid",
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
    NO_FIELD,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is wrong with an object."""

    causes: tuple[FieldError, ...]
    """What refuses it; the metadata errors that were handed over come first."""
    warnings: tuple[FieldError, ...]
    """Rules that the stored object already broke and the update left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The answer for one body that was sent."""

    object: dict[str, Any]
    """The object to store: pruned, with defaults."""
    causes: tuple[FieldError, ...]
    warnings: tuple[FieldError, ...]
    unknown: tuple[str, ...]
    """Paths that were pruned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledVersion:
    """One version of a CRD; `admit` is the whole way, the other methods are its steps."""

    group: str
    kind: str
    name: str
    schema: Schema
    has_status: bool
    scale: Mapping[str, Any] | None
    """`spec.versions[].subresources.scale`."""

    def admit(
        self,
        body: Mapping[str, Any],
        old: Mapping[str, Any] | None,
        *,
        subresource: str = "",
        metadata_causes: Sequence[FieldError] = (),
    ) -> Admission:
        """Return what becomes of a body that was sent.

        Args:
            body: the object as sent, a JSON object; its `metadata` is passed through.
            old: the stored object that it replaces, None for a creation.
            subresource: empty or `status`; a scale request is an update of the main resource.
            metadata_causes: what the API server found wrong with the metadata.
        """
        prepared, unknown = self.prepare(body)
        if subresource == "status" and old is not None:
            new = _with_status(received(old), prepared)
            new |= {name: prepared[name] for name in _ENVELOPE if name in prepared}
        else:
            new = _with_status(prepared, old or {}) if self.has_status else prepared
        judgement = self.judge(new, old, subresource=subresource, metadata_causes=metadata_causes)
        return Admission(
            object=self.read_back(new),
            causes=judgement.causes,
            warnings=judgement.warnings,
            unknown=unknown,
        )

    def prepare(self, body: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the body pruned and with defaults, and the paths that were pruned."""
        prepared = received(body)
        unknown = pruning.prune(prepared, self.schema)
        pruning.drop_nulls(prepared, self.schema)
        pruning.fill_defaults(prepared, self.schema)
        return prepared, tuple(unknown)

    def coerce(self, prepared: dict[str, Any]) -> list[str]:
        """Decode the metadata of embedded resources in place; return paths of unknown fields.

        Raises:
            embedded.Malformed: a part of one is of the wrong type.
        """
        return embedded.coerce(prepared, self.schema)

    def judge(
        self,
        new: Mapping[str, Any],
        old: Mapping[str, Any] | None,
        *,
        subresource: str = "",
        metadata_causes: Sequence[FieldError] = (),
    ) -> Judgement:
        """Return what is wrong with a prepared object that already holds what it may not change.

        For a status update `new` is the stored object with the status (and the metadata) that was
        sent; for a main update it has the stored status.
        """
        value, before = received(new), None if old is None else received(old)
        is_status = subresource == "status" and old is not None
        check = self._status_errors if is_status else self._errors
        errors = [*metadata_causes, *check(value, before)]
        outcome = self._rules(value, before, errors)
        return Judgement(causes=(*errors, *outcome.errors), warnings=outcome.warnings)

    def read_back(self, new: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object as it reads back once it is stored: whole numbers, defaults again."""
        readable: dict[str, Any] = stored(new)
        pruning.fill_defaults(readable, self.schema)
        return readable

    def _errors(self, new: dict[str, Any], old: Mapping[str, Any] | None) -> list[FieldError]:
        mistaken = self._type_errors(new)
        if mistaken:
            return mistaken
        before = MISSING if old is None else old
        return [
            *validate(new, self.schema, old=before),
            *(scaling.replica_errors(new, self.scale) if self.scale else ()),
            *embedded.embedded_errors(new, self.schema),
            *self._duplicates(new, old),
        ]

    def _status_errors(
        self, new: dict[str, Any], old: Mapping[str, Any] | None
    ) -> list[FieldError]:
        errors = self._type_errors(new)
        status_schema = self.schema.properties.get("status")
        if "status" in new and status_schema is not None:
            before = MISSING if old is None else old.get("status", MISSING)
            errors += validate(new["status"], status_schema, prefix="status", old=before)
        if self.scale:
            errors += scaling.status_replica_errors(new, self.scale)
        return [*errors, *self._duplicates(new, old)]

    def _type_errors(self, new: dict[str, Any]) -> list[FieldError]:
        wanted = {"kind": self.kind, "apiVersion": f"{self.group}/{self.name}"}
        return [
            FieldError(
                "FieldValueInvalid",
                f"Invalid value: {bad_value(new.get(name))}: must be {value}",
                name,
            )
            for name, value in wanted.items()
            if new.get(name) != value
        ]

    def _duplicates(
        self, new: dict[str, Any], old: Mapping[str, Any] | None
    ) -> tuple[FieldError, ...]:
        """An object that already had duplicates may keep them, and any others."""
        if old is not None and any(listtypes.duplicates(old, self.schema)):
            return ()
        return tuple(listtypes.duplicates(new, self.schema))

    def _rules(
        self, new: dict[str, Any], old: Mapping[str, Any] | None, errors: list[FieldError]
    ) -> Outcome:
        if not self.schema.has_rules:
            return Outcome(errors=(), warnings=())
        if any(error.reason in _SILENCING for error in errors):
            return Outcome(errors=(_SILENCED,), warnings=())
        before = MISSING if old is None else old
        return evaluate_rules(new, self.schema, old=before)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledCrd:
    """A CRD made ready to judge objects; keep it, compiling is what costs."""

    group: str
    kind: str
    plural: str
    namespaced: bool
    versions: Mapping[str, CompiledVersion]


def compile_crd(crd: Mapping[str, Any]) -> CompiledCrd:
    """Compile a CustomResourceDefinition object (`apiextensions.k8s.io/v1`).

    Raises:
        InvalidRequest: a pattern or rule does not compile; names the path within the CRD.
    """
    spec = crd["spec"]
    versions = {}
    for index, version in enumerate(spec["versions"]):
        try:
            versions[version["name"]] = _compile_version(spec, version)
        except InvalidRequest as error:
            raise error.under(f"spec.versions[{index}].schema") from error
    return CompiledCrd(
        group=spec["group"],
        kind=spec["names"]["kind"],
        plural=spec["names"]["plural"],
        namespaced=spec["scope"] == "Namespaced",
        versions=MappingProxyType(versions),
    )


def _compile_version(spec: Mapping[str, Any], version: Mapping[str, Any]) -> CompiledVersion:
    subresources = version.get("subresources") or {}
    return CompiledVersion(
        group=spec["group"],
        kind=spec["names"]["kind"],
        name=version["name"],
        schema=parse_schema(version["schema"]["openAPIV3Schema"]),
        has_status="status" in subresources,
        scale=subresources.get("scale"),
    )


def _with_status(target: dict[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    """Return `target` with the status of `source`, or without one if that has none."""
    rest = {key: value for key, value in target.items() if key != "status"}
    return {**rest, "status": received(source["status"])} if "status" in source else rest

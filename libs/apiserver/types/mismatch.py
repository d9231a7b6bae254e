"""A value of the wrong type, worded as Go's JSON decoder does.

Apart from `codec` because the wording is a subject of its own: it names Go's types, not ours.
"""

from typing import Any


class Mismatch(ValueError):
    """A value of the wrong type; `path` grows from the inside out."""

    def __init__(self, detail: str, *, found: str = "", wanted: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.found = found
        self.wanted = wanted
        self.path: list[str] = []
        self.struct = ""
        self.is_scalar = False
        """Whether no struct but a text, number or the like was wanted, whatever Go calls it."""

    def under(self, name: str, struct: str) -> "Mismatch":
        """Note the field and, innermost first, its struct."""
        self.path.insert(0, name)
        self.struct = self.struct or struct
        return self

    def message(self) -> str:
        """Return the wording of Go's JSON decoder."""
        if not self.found:
            return self.detail
        if not self.path:
            return f"json: cannot unmarshal {self.found} into Go value of type {self.wanted}"
        where = f"{self.struct}.{'.'.join(self.path)}"
        into = f"Go struct field {where} of type {self.wanted}"
        return f"json: cannot unmarshal {self.found} into {into}"


def json_kind(value: Any) -> str:
    """Return what JSON calls the type of a value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def go_name(type_: str) -> str:
    """Return the name that Go gives a type (`core/v1.PodSpec` → `v1.PodSpec`)."""
    if type_.startswith("*"):
        return go_name(type_[1:])
    if type_.startswith("[]"):
        return "[]" + go_name(type_[2:])
    if type_.startswith("map:"):
        return "map[string]" + go_name(type_[4:])
    return _GO_NAMES.get(type_, type_.rpartition("/")[2])


_GO_NAMES = {
    "quantity": "resource.Quantity",
    "time": "v1.Time",
    "microtime": "v1.MicroTime",
    "duration": "v1.Duration",
    "intstr": "intstr.IntOrString",
    "bytes": "[]uint8",
}

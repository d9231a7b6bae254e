"""Feature gates that a server may have switched on, for what Kubernetes has off by default.

Apart from the rules, which are those of the default gates: a gate only takes back refusals.

Source: Kubernetes documentation, "Feature Gates" (1.36).
"""

import re
from collections.abc import Iterable

from libs.apiserver.field_errors import FieldError

COMPARING_TOLERATIONS = "TaintTolerationComparisonOperators"
"""Tolerations with the operators Gt and Lt."""

_REFUSED = "FieldValueNotSupported"
_ALLOWED = {
    COMPARING_TOLERATIONS: re.compile(
        r'\S*tolerations\[\d+\]\.operator: Unsupported value: "(Gt|Lt)":'
    )
}
GATES = frozenset(_ALLOWED)
"""All that there are."""

NO_GATES: frozenset[str] = frozenset()


def still_refused(errors: Iterable[FieldError], gates: frozenset[str]) -> list[FieldError]:
    """Return the errors that remain with these gates on."""
    allowed = [_ALLOWED[gate] for gate in sorted(gates)]
    return [
        error
        for error in errors
        if error.reason != _REFUSED
        or not any(one.match(f"{error.field}: {error.message}") for one in allowed)
    ]

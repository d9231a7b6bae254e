"""Regular expressions of schemas: RE2, with what is wrong with one in the words of Go's parser."""

from typing import Any

import re2  # type: ignore[import-untyped]  # the wheel has no stubs

_QUIET = re2.Options()
_QUIET.log_errors = False  # to standard error; the caller is told

_GO_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "trailing \\": "trailing backslash at end of expression",
}
"""What the C++ library says, and what the Go library says of the same."""


class Malformed(ValueError):
    """A pattern that is none; worded as Go words it."""


def compile_pattern(pattern: str) -> Any:
    """Return a compiled pattern; raises `Malformed`."""
    try:
        return re2.compile(pattern, _QUIET)
    except re2.error as error:
        raise Malformed(_reworded(error)) from error


def _reworded(error: Any) -> str:
    text = error.args[0]
    said, _, part = (text.decode() if isinstance(text, bytes) else str(text)).partition(": ")
    return f"error parsing regexp: {_GO_WORDS.get(said, said)}: `{part}`"

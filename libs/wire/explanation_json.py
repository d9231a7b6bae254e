"""An explanation as the protobuf JSON of `ExplainResponse`: printed by explain."""

from typing import Any

from google.protobuf import json_format

from libs.domain.explanation import Explanation
from libs.wire.explanation import encode_explanation


def explanation_document(explanation: Explanation) -> dict[str, Any]:
    """Return the JSON document; every field is there, 64-bit integers are strings."""
    document: dict[str, Any] = json_format.MessageToDict(
        encode_explanation(explanation), always_print_fields_with_no_presence=True
    )
    return document

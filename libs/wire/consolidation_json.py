"""A consolidation as the protobuf JSON of `ConsolidateResponse`."""

from typing import Any

from google.protobuf import json_format

from libs.domain.question import Consolidation
from libs.wire.question import encode_consolidation


def consolidation_document(consolidation: Consolidation) -> dict[str, Any]:
    """Return the JSON document; every field is there, 64-bit integers are strings."""
    document: dict[str, Any] = json_format.MessageToDict(
        encode_consolidation(consolidation), always_print_fields_with_no_presence=True
    )
    return document

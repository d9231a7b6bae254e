"""The content types of patches."""

from enum import StrEnum


class PatchType(StrEnum):
    """The content types of patches."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"

"""Built-in and file catalogues of instance types: what offline plans and the KWOK provider sell.

`named` is the front door: `kwok`, `aws`, or the path of a file in the schema of Karpenter's KWOK
instance types.
"""

from collections.abc import Iterable
from pathlib import Path

from libs.catalogues import aws, file, kwok
from libs.domain.capacity import InstanceType
from libs.domain.errors import InvalidRequest


def named(name: str) -> tuple[InstanceType, ...]:
    """Return the instance types, sorted by name, of a built-in catalogue or of a file.

    Raises:
        InvalidRequest: no such catalogue or file, or the file breaks its schema; names the field.
    """
    match name:
        case "kwok":
            return kwok.instance_types()
        case "aws":
            return aws.instance_types()
    path = Path(name)
    if not path.is_file():
        raise InvalidRequest(f'"{name}" is neither kwok nor aws nor a file', field="catalogue")
    try:
        return file.parse(path.read_bytes())
    except InvalidRequest as error:
        raise error.under(name) from None


def well_known_keys(name: str, types: Iterable[InstanceType]) -> tuple[str, ...]:
    """Return the label keys that the nodes of a catalogue define, sorted."""
    own = aws.WELL_KNOWN_KEYS if name == "aws" else kwok.WELL_KNOWN_KEYS
    sold = (offering.requirements for kind in types for offering in kind.offerings)
    return tuple(sorted({*own, *(one.key for requirements in sold for one in requirements)}))

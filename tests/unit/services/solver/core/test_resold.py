"""Columns of a catalogue that was edited, made of those of the catalogue as it was."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue
from libs.domain.requirement import Requirement
from libs.domain.scenario import Edit, EditOfferings
from services.solver.core.offers.catalogue import CatalogueColumns, build, resold
from services.solver.core.simulating.edited import edited
from tests.support.builders import (
    a_catalogue,
    a_snapshot,
    a_type,
    amounts,
    an_offering,
    some_types,
)

RESERVED = an_offering("zone-a", "reserved", reservation_id="r", reservation_capacity=2)
BEFORE = a_catalogue(*some_types(), a_type("r-4", offerings=(RESERVED, an_offering())))


def after(edit: Edit) -> Catalogue:
    (catalogue,) = edited(a_snapshot(catalogues=[BEFORE]), [edit]).catalogues.values()
    return catalogue


def told(columns: CatalogueColumns) -> dict[str, Any]:
    """Return all that columns say, arrays as lists."""
    found = {
        one.name: getattr(columns, one.name)
        for one in fields(columns)
        if not one.name.startswith("_")
    }
    return {
        name: one.tolist() if isinstance(one, np.ndarray) else one for name, one in found.items()
    }


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(EditOfferings(zone="zone-a", available=False), id="a zone"),
        pytest.param(EditOfferings(capacity_type="reserved", available=False), id="reservations"),
        pytest.param(EditOfferings(available=False), id="everything"),
        pytest.param(EditOfferings(zone="zone-b", price_delta_ppm=-900_000), id="prices"),
    ],
)
def test_they_are_those_that_are_built_anew(edit: EditOfferings) -> None:
    changed = after(edit)

    found = resold(build(BEFORE), changed)

    assert found is not None
    assert told(found) == told(build(changed))


def test_what_labels_tell_is_shared() -> None:
    columns = build(BEFORE)
    spot = Requirement(
        key=label_keys.CAPACITY_TYPE, complement=False, values=frozenset({"spot"}), absent=False
    )
    mask = columns.mask(spot, lenient=False)

    found = resold(columns, after(EditOfferings(zone="zone-a", available=False)))

    assert found is not None
    assert found.mask(spot, lenient=False) is mask


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(replace(BEFORE, instance_types=BEFORE.instance_types[1:]), id="a type less"),
        pytest.param(
            replace(
                BEFORE,
                instance_types=(
                    replace(BEFORE.instance_types[0], capacity=amounts(cpu=99)),
                    *BEFORE.instance_types[1:],
                ),
            ),
            id="a size",
        ),
        pytest.param(
            replace(
                BEFORE,
                instance_types=(
                    replace(
                        BEFORE.instance_types[0],
                        offerings=BEFORE.instance_types[0].offerings[1:],
                    ),
                    *BEFORE.instance_types[1:],
                ),
            ),
            id="an offering less",
        ),
        pytest.param(replace(BEFORE, well_known_keys=("x",)), id="a key"),
    ],
)
def test_whatever_else_differs_has_columns_of_its_own(changed: Catalogue) -> None:
    assert resold(build(BEFORE), changed) is None

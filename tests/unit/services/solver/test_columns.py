"""Columns that are kept between decisions."""

from dataclasses import replace

from libs.domain.capacity import Catalogue
from libs.domain.nodepool import NodePool
from libs.domain.overlay import Overlaid
from libs.domain.resources import NOTHING
from libs.domain.workload import NodeOverlay
from services.solver.columns import ColumnsCache
from tests.support.builders import a_catalogue, a_pool, require

OVERLAY = NodeOverlay(
    name="cheap", uid="1", requirements=require(), price_nanos_per_hour=1, capacity=NOTHING
)
POOL = a_pool()
CATALOGUE = a_catalogue()


def overlaid(
    cache: ColumnsCache,
    *,
    pool: NodePool = POOL,
    catalogue: Catalogue = CATALOGUE,
    overlay: NodeOverlay = OVERLAY,
) -> Overlaid:
    return cache.overlaid([pool], {catalogue.key: catalogue}, [overlay])


def test_a_catalogue_is_built_once_while_it_is_held() -> None:
    cache, catalogue = ColumnsCache(2), a_catalogue()

    assert cache.of(catalogue) is cache.of(catalogue)


def test_equal_catalogues_are_not_mistaken_for_each_other() -> None:
    cache, one, other = ColumnsCache(2), a_catalogue(), a_catalogue()

    assert cache.of(one).source is one
    assert cache.of(other).source is other


def test_the_oldest_goes_when_there_are_too_many() -> None:
    cache, catalogues = ColumnsCache(2), [a_catalogue() for _ in range(3)]
    first, second, _ = (cache.of(catalogue) for catalogue in catalogues)

    assert cache.of(catalogues[1]) is second
    assert cache.of(catalogues[0]) is not first


def test_overlays_are_evaluated_once_while_nothing_changes() -> None:
    cache = ColumnsCache(2)

    assert overlaid(cache) is overlaid(cache, pool=replace(POOL, weight=7))


def test_overlays_are_evaluated_again_when_anything_that_they_read_changes() -> None:
    cache = ColumnsCache(2)
    first = overlaid(cache)

    assert overlaid(cache, pool=a_pool(labels={"team": "a"})) is not first
    assert overlaid(cache, catalogue=a_catalogue()) is not first
    assert overlaid(cache, overlay=replace(OVERLAY, weight=1)) is not first


def test_the_oldest_evaluation_goes_when_there_are_too_many() -> None:
    cache = ColumnsCache(2)
    first = overlaid(cache)
    last = [overlaid(cache, overlay=replace(OVERLAY, weight=weight)) for weight in range(1, 9)]

    assert overlaid(cache, overlay=replace(OVERLAY, weight=8)) is last[-1]
    assert overlaid(cache) is not first

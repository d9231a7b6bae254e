"""Columns that are kept between decisions."""

from services.solver.columns import ColumnsCache
from tests.support.builders import a_catalogue


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

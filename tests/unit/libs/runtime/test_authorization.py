import pytest

from libs.domain.errors import InvalidRequest
from libs.runtime.authorization import parse_table, parse_tokens

METHOD = "/joiner.solver.v1.SolverService/Solve"


@pytest.mark.parametrize(
    ("table", "identity", "permitted"),
    [
        pytest.param(f"watcher: [{METHOD}]", "watcher", True, id="the method"),
        pytest.param("watcher: [/joiner.solver.v1.SolverService/*]", "watcher", True, id="service"),
        pytest.param("watcher: ['*']", "watcher", True, id="everything"),
        pytest.param(f"'*': [{METHOD}]", "anyone", True, id="anyone's row"),
        pytest.param("watcher: []", "watcher", False, id="empty row"),
        pytest.param(f"watcher: [{METHOD}]", "watcher2", False, id="another identity"),
        pytest.param("watcher: [/joiner.solver.v1.Solver/*]", "watcher", False, id="prefix only"),
        pytest.param(f"watcher: [{METHOD}X]", "watcher", False, id="another method"),
        pytest.param("{}", "watcher", False, id="empty table"),
    ],
)
def test_a_table_permits_what_a_row_names(table: str, identity: str, permitted: bool) -> None:
    assert parse_table(table).permits(identity, METHOD) is permitted


@pytest.mark.parametrize(
    ("text", "field"),
    [
        pytest.param("a: [Solve]", "a[0]", id="bare method"),
        pytest.param("a: ['*', 3]", "a[1]", id="number"),
        pytest.param("a: /x.Y/Z", "a", id="no list"),
        pytest.param("- a", "", id="no mapping"),
        pytest.param("a: [", "", id="no YAML"),
        pytest.param("3: []", "", id="identity is no text"),
    ],
)
def test_a_bad_table_is_refused_at_the_row(text: str, field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_table(text)

    assert caught.value.field == field


def test_a_short_token_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="16 characters"):
        parse_tokens("ci: short")

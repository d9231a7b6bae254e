"""Dataclasses as options: what typer sees, and what the command is given."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from cli.grouped import grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    kept: str = "kept"
    count: Annotated[int, typer.Option(help="How many.")] = 3
    texts: Annotated[tuple[str, ...], typer.Option("--text", help="Which.")] = ()


def _given(*arguments: str) -> list[tuple[str, _Group]]:
    app = typer.Typer()
    given: list[tuple[str, _Group]] = []

    @app.command()
    @grouped
    def command(name: str, group: _Group) -> None:
        given.append((name, group))

    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return given


def test_fields_are_options_and_come_back_as_their_group() -> None:
    assert _given("a", "--count", "5", "--text", "x", "--text", "y") == [
        ("a", _Group(count=5, texts=("x", "y")))
    ]


def test_a_group_in_a_group_is_unfolded_in_its_place() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Outer:
        before: Annotated[str, typer.Option()]
        inner: _Group
        after: Annotated[str, typer.Option()] = "b"

    def command(outer: Outer) -> None:
        given.append(outer)

    given: list[Outer] = []
    command.__annotations__["outer"] = Outer
    unfolded = grouped(command)

    assert list(inspect.signature(unfolded).parameters) == ["before", "count", "texts", "after"]
    unfolded(before="a", count=5, texts=["x"], after="c")
    assert given == [Outer(before="a", inner=_Group(count=5, texts=("x",)), after="c")]


def test_what_is_not_typed_has_the_default_of_its_field() -> None:
    assert _given("a") == [("a", _Group())]


def test_a_field_without_a_word_for_it_is_no_option() -> None:
    @grouped
    def command(group: _Group) -> None:
        raise AssertionError(group)

    assert list(inspect.signature(command).parameters) == ["count", "texts"]

import pytest

from libs.domain.command_annotation import decode, encode
from libs.domain.errors import InvalidRequest
from libs.domain.nodeclaim import ClaimCommand


@pytest.mark.parametrize("replacements", [(), ("a",), ("a", "b")], ids=len)
def test_what_is_written_is_read(replacements: tuple[str, ...]) -> None:
    command = ClaimCommand(id="c1", replacements=replacements)

    assert decode(encode(command)) == command


def test_the_text_is_compact() -> None:
    assert encode(ClaimCommand(id="c1", replacements=("a", "b"))) == "id=c1;replacements=a,b"


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(ClaimCommand(id=""), id="no id"),
        pytest.param(ClaimCommand(id="a;b"), id="separator in the id"),
        pytest.param(ClaimCommand(id="c", replacements=("a,b",)), id="separator in a name"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(command: ClaimCommand) -> None:
    with pytest.raises(InvalidRequest):
        encode(command)


@pytest.mark.parametrize("text", ["", "id=c1", "id=;replacements=", "c1;a", "id=c;replacements=a,"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="is not id="):
        decode(text)

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.domain import errors
from libs.runtime.errors import DETAILS_TRAILER, INTERNAL_MESSAGE, Status, from_status, to_status

LEAVES = sorted(
    (kind for kind in errors.JoinerError.__subclasses__() if kind.__module__ == errors.__name__),
    key=lambda kind: kind.__name__,
)


@pytest.mark.parametrize("kind", LEAVES, ids=lambda kind: kind.__name__)
def test_every_leaf_of_the_tree_crosses_as_itself(kind: type[errors.JoinerError]) -> None:
    status = to_status(kind("node is gone"))

    back = from_status(status.code, status.message, status.trailers)

    assert type(back) is kind
    assert str(back) == "node is gone"


def test_the_table_is_one_to_one() -> None:
    codes = {to_status(kind("x")).code for kind in LEAVES}

    assert len(codes) == len(LEAVES)
    assert grpc.StatusCode.RESOURCE_EXHAUSTED not in codes


@given(field=st.text(max_size=100), detail=st.text(max_size=100))
def test_any_field_and_message_cross_unless_they_are_long(field: str, detail: str) -> None:
    status = to_status(errors.InvalidRequest(detail, field=field))
    back = from_status(status.code, status.message, status.trailers)

    assert isinstance(back, errors.InvalidRequest)
    assert (back.field, back.detail) == (field, detail)


def test_a_surrogate_that_cannot_be_encoded_does_not_stop_the_error() -> None:
    assert to_status(errors.NotFound("\ud800")).message == "?"


@pytest.mark.parametrize("character", ["a", "é", "\U0001f600"], ids=["one", "two", "four"])
def test_a_long_message_is_cut_so_that_it_fits_a_header(character: str) -> None:
    error = errors.InvalidRequest(character * 100_000, field=character * 100_000)

    status = to_status(error)

    size = sum(len(value) for _, value in status.trailers)
    assert len(status.message.encode()) <= 1024
    assert size < 4096


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.DEADLINE_EXCEEDED, errors.Unavailable),
        (grpc.StatusCode.CANCELLED, errors.Unavailable),
        (grpc.StatusCode.UNAUTHENTICATED, errors.Forbidden),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, errors.JoinerError),
        (grpc.StatusCode.INTERNAL, errors.JoinerError),
    ],
    ids=str,
)
def test_codes_that_only_grpc_makes_have_a_meaning(
    code: grpc.StatusCode, kind: type[errors.JoinerError]
) -> None:
    assert type(from_status(code, "why")) is kind


@pytest.mark.parametrize("error", [KeyError("secret"), errors.JoinerError("secret")], ids=repr)
def test_what_is_not_in_the_table_is_internal_and_not_leaked(error: Exception) -> None:
    assert to_status(error) == Status(grpc.StatusCode.INTERNAL, INTERNAL_MESSAGE)


@pytest.mark.parametrize(
    "details", [b"\xff\xff", b"", b"\x08\x03"], ids=["garbage", "none", "bare"]
)
def test_a_foreign_detail_does_not_hide_the_message(details: bytes) -> None:
    trailers = ((DETAILS_TRAILER, details),)

    error = from_status(grpc.StatusCode.INVALID_ARGUMENT, "bad cpu", trailers)

    assert isinstance(error, errors.InvalidRequest)
    assert (error.field, error.detail) == ("", "bad cpu")

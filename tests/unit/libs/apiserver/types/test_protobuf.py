import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.apiserver.types import protobuf


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2, len(value)]) + value


CONTAINER = (
    field(1, b"c")
    + field(2, b"i")
    + field(8, field(2, field(1, b"cpu") + field(2, field(1, b"1"))))
)
VOLUME = field(1, b"v") + field(2, field(2, b""))
POD = field(1, field(1, b"p") + field(11, field(1, b"a") + field(2, b"b"))) + field(
    2, field(1, VOLUME) + field(2, CONTAINER) + field(4, 5)
)


def test_a_message_becomes_the_json_form() -> None:
    assert protobuf.decode("core/v1.Pod", POD) == {
        "metadata": {"name": "p", "labels": {"a": "b"}},
        "spec": {
            "volumes": [{"name": "v", "emptyDir": {}}],
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "terminationGracePeriodSeconds": 5,
        },
    }


def test_the_envelope_names_the_type() -> None:
    envelope = protobuf.MAGIC + field(1, field(1, b"v1") + field(2, b"Pod")) + field(2, POD)

    assert protobuf.decode_envelope(envelope) == ("v1", "Pod", POD)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_malformed(data: bytes) -> None:
    try:
        protobuf.decode("core/v1.Pod", data)
    except protobuf.Malformed:
        return


@pytest.mark.parametrize("data", [b"", b"{}", protobuf.MAGIC + b"\x0a\xff"])
def test_other_bytes_are_no_envelope(data: bytes) -> None:
    with pytest.raises(protobuf.Malformed):
        protobuf.decode_envelope(data)

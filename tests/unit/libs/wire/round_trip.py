"""The law of the wire layer: what was sent arrives, and equal values are equal bytes."""

from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Case = tuple[st.SearchStrategy[Any], Callable[[Any], Message | None], Callable[[Any], Any]]


def check_round_trip(case: Case) -> None:
    values, encode, decode = case

    @given(values)
    @settings(max_examples=12, suppress_health_check=list(HealthCheck))
    def check(value: Any) -> None:
        message = encode(value)
        assert message is not None
        sent = message.SerializeToString(deterministic=True)

        decoded = decode(type(message).FromString(sent))

        assert decoded == value
        again = encode(decoded)
        assert again is not None
        assert again.SerializeToString(deterministic=True) == sent

    check()

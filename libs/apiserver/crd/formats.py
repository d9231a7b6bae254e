"""The string formats that a schema may name, each as a predicate.

Formats that are not here are ignored, as the API server ignores formats that it does not know.

Source: Kubernetes API reference, JSONSchemaProps, "format"; `date-time` is laxer than RFC 3339: any
one character may stand before the fraction, and the offset's digits are not bounded.
"""

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date
from types import MappingProxyType
from urllib.parse import urlsplit

from libs.cel.functions import duration_text

_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.I)
_HOSTNAME = re.compile(
    r"(?=.{1,255}\Z)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*\.?",
    re.ASCII,
)
_EMAIL = re.compile(r"[^@\s<>]+@[^@\s<>]+", re.ASCII)
_MAC = re.compile(r"[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){5,7}", re.ASCII)


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return text.startswith("0000-") and _is_date("2000" + text[4:])
    return True


def _is_date_time(text: str) -> bool:
    day, separator, rest = text.lower().partition("t")
    time = _TIME.fullmatch(rest)
    if not separator or time is None or not _is_date(day):
        return False
    hours, minutes, seconds = time.group(1, 2, 3)
    return hours <= "23" and minutes <= "59" and seconds <= "59"


def _is_address(text: str, version: int) -> bool:
    try:
        return ipaddress.ip_address(text).version == version
    except ValueError:
        return False


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme or text.startswith("/"))


FORMATS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "date": _is_date,
        "date-time": _is_date_time,
        "datetime": _is_date_time,
        "duration": duration_text,
        "byte": _is_base64,
        "ipv4": lambda text: _is_address(text, 4),
        "ipv6": lambda text: _is_address(text, 6),
        "cidr": _is_network,
        "mac": lambda text: _MAC.fullmatch(text) is not None,
        "uuid": lambda text: _UUID.fullmatch(text) is not None,
        "hostname": lambda text: _HOSTNAME.fullmatch(text) is not None,
        "email": lambda text: _EMAIL.fullmatch(text) is not None,
        "uri": _is_uri,
        "password": lambda _: True,
    }
)

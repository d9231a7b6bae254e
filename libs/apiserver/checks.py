"""What the rules of many kinds ask of one field, each the refusals in the API server's words.

Each takes the object that holds the field, the object's path and the field's name, or a value and
its path, and yields what is wrong with it. A field that is absent reads as its zero, as in Go.
"""

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from libs.apiserver import names
from libs.apiserver.field_errors import FieldError, not_supported, required, wrong
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.types.internal import internal

Stored = Mapping[str, Any]
Check = Callable[[str], Iterable[str]]
"""A value → explanations of what is wrong with it."""

NOT_NEGATIVE = "must be greater than or equal to 0"
POSITIVE = "must be greater than zero"
_URL_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")
_OLD_IP = re.compile(r"\d{1,10}(\.\d{1,10}){3}")
_NO_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_MODE = "must be a number between 0 and 0777 (octal), both inclusive"


def formed(value: str, at: str, check: Check) -> Iterator[FieldError]:
    """Yield what a format finds wrong with a text."""
    for why in check(value):
        yield wrong(at, value, why)


def present_and_formed(obj: Stored, at: str, name: str, check: Check) -> Iterator[FieldError]:
    """Yield what is wrong with a text that must be there and have a format."""
    if not obj.get(name):
        yield required(f"{at}.{name}")
    else:
        yield from formed(obj[name], f"{at}.{name}", check)


def formed_if_present(obj: Stored, at: str, name: str, check: Check) -> Iterator[FieldError]:
    """Yield what is wrong with a text that may be left out or empty."""
    if obj.get(name):
        yield from formed(obj[name], f"{at}.{name}", check)


def present(obj: Stored, at: str, *names: str) -> Iterator[FieldError]:
    """Yield the fields that are empty and may not be."""
    for name in names:
        if not obj.get(name):
            yield required(f"{at}.{name}")


def not_negative(obj: Stored, at: str, *names: str) -> Iterator[FieldError]:
    """Yield the numbers that are below zero."""
    for name in names:
        if obj.get(name, 0) < 0:
            yield wrong(f"{at}.{name}" if at else name, obj[name], NOT_NEGATIVE)


def in_range(obj: Stored, at: str, name: str, bounds: tuple[int, int]) -> Iterator[FieldError]:
    """Yield a number that is there and outside of its bounds."""
    number = obj.get(name)
    if number is not None and not bounds[0] <= number <= bounds[1]:
        yield wrong(f"{at}.{name}", number, between(bounds))


def between(bounds: tuple[int, int]) -> str:
    """Return how an interval is worded."""
    return f"must be between {bounds[0]} and {bounds[1]}, inclusive"


def one_of(obj: Stored, at: str, name: str, choices: Iterable[str]) -> Iterator[FieldError]:
    """Yield a value that is there and none of the choices, listed as given."""
    value = obj.get(name)
    if value is not None and value not in choices:
        yield not_supported(f"{at}.{name}" if at else name, value, choices)


def needed_one_of(obj: Stored, at: str, name: str, choices: Iterable[str]) -> Iterator[FieldError]:
    """Yield a value that is empty or none of the choices."""
    if not obj.get(name):
        yield required(f"{at}.{name}" if at else name)
    else:
        yield from one_of(obj, at, name, choices)


def file_mode(obj: Stored, at: str, name: str) -> Iterator[FieldError]:
    """Yield a mode of files that is none."""
    mode = obj.get(name)
    if mode is not None and not 0 <= mode <= 0o777:
        yield wrong(f"{at}.{name}", mode, _MODE)


def ip_address(text: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with an IP address."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        octets = text.split(".") if _OLD_IP.fullmatch(text) else ()
        is_old = bool(octets) and all(int(octet) <= 255 for octet in octets)
        yield wrong(at, text, "must not have leading 0s" if is_old else _NO_IP)
        return
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        yield wrong(at, text, "must not be an IPv4-mapped IPv6 address")


def relative_path(path: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with a path below a directory."""
    if path.startswith("/"):
        yield wrong(at, path, "must be a relative path")
    yield from no_backsteps(path, at)


def no_backsteps(path: str, at: str) -> Iterator[FieldError]:
    """Yield a path that leaves its directory."""
    if ".." in path.split("/"):
        yield wrong(at, path, "must not contain '..'")


def file_below(path: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the path of a file that Kubernetes writes into a volume."""
    yield from relative_path(path, at)
    if path.startswith("..") and not path.startswith("../"):
        yield wrong(at, path, "must not start with '..'")


def domain_prefixed_path(text: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the name of a controller, such as `acme.io/foo`."""
    host, _, path = text.partition("/")
    if not text:
        yield required(at)
    elif not host or not path:
        yield wrong(at, text, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from formed(host, at, names.subdomain)
        if not _URL_PATH.fullmatch(path):
            why = f"Invalid path (regex used for validation is '{_URL_PATH.pattern}')"
            yield wrong(at, path, why)


def ip_network(text: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with a network in CIDR notation."""
    try:
        network = ipaddress.ip_interface(text)
    except ValueError:
        network = None
    if network is None or "/" not in text:
        yield wrong(at, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")
    elif network.ip != network.network.network_address:
        yield wrong(at, text, "must not have bits set beyond the prefix length")


def ip_interface(text: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the address of an interface, with the size of its network."""
    try:
        found = ipaddress.ip_interface(text)
    except ValueError:
        found = None
    if found is None or "/" not in text:
        why = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        yield wrong(at, text, why)
    elif text != str(found):
        yield wrong(at, text, f'must be in canonical form ("{found}")')


def fixed_spec(type_: str) -> Callable[[Stored, Stored], list[FieldError]]:
    """Return the rule that a spec of a type stays as it is."""

    def check(new: Stored, old: Stored) -> list[FieldError]:
        if new["spec"] == old["spec"]:
            return []
        return [wrong("spec", internal(type_, new["spec"]), IMMUTABLE)]

    return check

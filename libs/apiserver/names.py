"""The formats of names, labels and annotations, with the refusals that Kubernetes words.

Each check returns the explanations of what is wrong with a value, none if it is right.

Source: Kubernetes documentation, "Object Names and IDs", "Labels and Selectors"; RFC 1035, RFC
1123.
"""

import re
from collections.abc import Callable
from functools import lru_cache

NameCheck = Callable[[str, bool], tuple[str, ...]]
"""(name, whether it is a prefix for a generated one) → what is wrong."""

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_QUALIFIED})?"

_LABEL_WORDS = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation "
    f"is '{_LABEL}')"
)
_LABEL_1035_WORDS = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
    "validation is "
    f"'{_LABEL_1035}')"
)
_SUBDOMAIN_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    f"'{_SUBDOMAIN}')"
)
_QUALIFIED_WORDS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_QUALIFIED}')"
)
_VALUE_WORDS = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for validation is "
    f"'{_VALUE}')"
)
_CONFIG_KEY_WORDS = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
    "'key.name',  or 'KEY_NAME',  "
    "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)

_VARIABLE_WORDS = (
    "a valid environment variable name must consist only of printable ASCII characters other than "
    "'='"
)
_HEADER_WORDS = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', "
    "regex used for validation is '[-A-Za-z0-9]+')"
)
_PERCENT_WORDS = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
    "'93%', regex used for validation is '[0-9]+%')"
)
_UNDERSCORED = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SEARCH = rf"{_UNDERSCORED}(\.{_UNDERSCORED})*"
_SEARCH_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' "
    "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_SEARCH}')"
)
_WILDCARD = rf"\*\.{_SUBDOMAIN}"
_WILDCARD_WORDS = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which "
    "must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric "
    f"character (e.g. '*.example.com', regex used for validation is '{_WILDCARD}')"
)

_IS_SEARCH = re.compile(rf"{_SEARCH}\Z").match
_IS_WILDCARD = re.compile(rf"{_WILDCARD}\Z").match
_IS_LABEL = re.compile(rf"{_LABEL}\Z").match
_IS_LABEL_1035 = re.compile(rf"{_LABEL_1035}\Z").match
_IS_SUBDOMAIN = re.compile(rf"{_SUBDOMAIN}\Z").match
_IS_QUALIFIED = re.compile(rf"{_QUALIFIED}\Z").match
_IS_VALUE = re.compile(rf"{_VALUE}\Z").match


@lru_cache(maxsize=16384)
def subdomain(name: str, prefix: bool = False) -> tuple[str, ...]:
    """Check an RFC 1123 subdomain, the format of most names."""
    return _checked(name, prefix, 253, _IS_SUBDOMAIN, _SUBDOMAIN_WORDS)


@lru_cache(maxsize=16384)
def label(name: str, prefix: bool = False) -> tuple[str, ...]:
    """Check an RFC 1123 label, the format of container and namespace names."""
    words = "must not contain dots" if _IS_SUBDOMAIN(name) else _LABEL_WORDS
    return _checked(name, prefix, 63, _IS_LABEL, words)


def label_1035(name: str, prefix: bool = False) -> tuple[str, ...]:
    """Check an RFC 1035 label, the format of port names."""
    return _checked(name, prefix, 63, _IS_LABEL_1035, _LABEL_1035_WORDS)


def port_name(name: str) -> tuple[str, ...]:
    """Check the name of a port."""
    wrong = [] if len(name) <= 15 else ["must be no more than 15 characters"]
    if not re.fullmatch("[-a-z0-9]+", name):
        wrong.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", name):
        wrong.append("must contain at least one letter (a-z)")
    if "--" in name:
        wrong.append("must not contain consecutive hyphens")
    if name.startswith("-") or name.endswith("-"):
        wrong.append("must not begin or end with a hyphen")
    return tuple(wrong)


def variable(name: str) -> tuple[str, ...]:
    """Check the name of an environment variable."""
    if not name:
        return ("environment variable name must be non-empty",)
    if not all(" " <= sign <= "~" and sign != "=" for sign in name):
        return (_VARIABLE_WORDS,)
    return ()


def header(name: str) -> tuple[str, ...]:
    """Check the name of an HTTP header."""
    return () if re.fullmatch("[-A-Za-z0-9]+", name) else (_HEADER_WORDS,)


def percent(text: str) -> tuple[str, ...]:
    """Check a percentage."""
    return () if re.fullmatch("[0-9]+%", text) else (_PERCENT_WORDS,)


def search_domain(name: str) -> tuple[str, ...]:
    """Check a domain in which names are looked up; underscores are fine."""
    return _checked(name, False, 253, _IS_SEARCH, _SEARCH_WORDS)


def wildcard(name: str) -> tuple[str, ...]:
    """Check a domain with a wildcard for its first part."""
    return _checked(name, False, 253, _IS_WILDCARD, _WILDCARD_WORDS)


def path_segment(name: str, _prefix: bool = False) -> tuple[str, ...]:
    """Check a name that only has to fit into a URL, as those of roles."""
    if name in (".", ".."):
        return (f"may not be '{name}'",)
    return tuple(f"may not contain '{sign}'" for sign in ("/", "%") if sign in name)


@lru_cache(maxsize=16384)
def qualified_name(name: str) -> tuple[str, ...]:
    """Check a label key, resource name or the like: an optional prefix and a name part."""
    prefix, slash, part = name.rpartition("/")
    if prefix.count("/"):
        return (
            f"a valid label key {_QUALIFIED_WORDS} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')",
        )
    wrong: list[str] = []
    if slash and not prefix:
        wrong.append("prefix part must be non-empty")
    elif slash:
        wrong += [f"prefix part {why}" for why in subdomain(prefix)]
    if not part:
        wrong.append("name part must be non-empty")
    elif len(part) > 63:
        wrong.append("name part must be no more than 63 bytes")
    if not _IS_QUALIFIED(part):
        wrong.append(f"name part {_QUALIFIED_WORDS}")
    return tuple(wrong)


@lru_cache(maxsize=16384)
def label_value(value: str) -> tuple[str, ...]:
    """Check a label's value."""
    wrong = [] if len(value) <= 63 else ["must be no more than 63 bytes"]
    if not _IS_VALUE(value):
        wrong.append(_VALUE_WORDS)
    return tuple(wrong)


def config_key(key: str) -> tuple[str, ...]:
    """Check a key of a ConfigMap or Secret."""
    wrong = [] if len(key) <= 253 else ["must be no more than 253 characters"]
    if not re.fullmatch("[-._a-zA-Z0-9]+", key):
        wrong.append(_CONFIG_KEY_WORDS)
    if key in (".", ".."):
        wrong.append(f"must not be '{key}'")
    elif key.startswith(".."):
        wrong.append("must not start with '..'")
    return tuple(wrong)


def _checked(
    name: str, prefix: bool, limit: int, matches: Callable[[str], object], words: str
) -> tuple[str, ...]:
    if prefix and name.endswith("-"):
        name = name[:-1] + "a"
    wrong = [] if len(name) <= limit else [f"must be no more than {limit} characters"]
    if not matches(name):
        wrong.append(words)
    return tuple(wrong)

"""Certificates made at test time, with nothing but Python: P-256 keys, ECDSA, DER by hand.

No key is in the repository and no `openssl` is needed. For tests only: the arithmetic is neither
constant-time nor fast.
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

# NIST P-256 (FIPS 186-4, D.1.2.3)
_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_A = _P - 3
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)

_Point = tuple[int, int] | None

_EC_PUBLIC_KEY = "1.2.840.10045.2.1"
_P256 = "1.2.840.10045.3.1.7"
_ECDSA_SHA256 = "1.2.840.10045.4.3.2"
_COMMON_NAME = "2.5.4.3"
_ALTERNATIVE_NAMES = "2.5.29.17"
_BASIC_CONSTRAINTS = "2.5.29.19"


@dataclass(frozen=True, slots=True)
class Key:
    """A private key and its public point."""

    secret: int
    public: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Authority:
    """Signs certificates."""

    name: str
    key: Key

    def write(self, directory: Path, common_name: str, names: tuple[str, ...] = ()) -> None:
        """Write tls.crt, tls.key and ca.crt for a peer with these DNS names, and 127.0.0.1."""
        key = new_key()
        directory.mkdir(parents=True, exist_ok=True)
        chain = _certificate(common_name, key, self, names)
        (directory / "tls.crt").write_text(_pem("CERTIFICATE", chain))
        (directory / "tls.key").write_text(_pem("PRIVATE KEY", _private_key(key)))
        (directory / "ca.crt").write_text(
            _pem("CERTIFICATE", _certificate(self.name, self.key, self, None))
        )


def new_authority(name: str = "test authority") -> Authority:
    """Return an authority with a fresh key."""
    return Authority(name, new_key())


def new_key() -> Key:
    """Return a fresh key."""
    secret = 1 + secrets.randbelow(_N - 1)
    public = _times(secret, _G)
    assert public is not None
    return Key(secret, public)


def _certificate(
    subject: str, key: Key, authority: Authority, names: tuple[str, ...] | None
) -> bytes:
    now = datetime.now(UTC)  # noqa: TID251  # TLS checks it against the machine's calendar
    validity = _seq(_time(now - timedelta(hours=1)), _time(now + timedelta(days=1)))
    algorithm = _seq(_oid(_ECDSA_SHA256))
    extension = _constraints() if names is None else _alternative_names(names)
    body = _seq(
        _tlv(0xA0, _integer(2)),
        _integer(secrets.randbits(63) | 1),
        algorithm,
        _name(authority.name),
        validity,
        _name(subject),
        _public_key(key),
        _tlv(0xA3, _seq(extension)),
    )
    return _seq(body, algorithm, _bits(_sign(body, authority.key)))


def _sign(message: bytes, key: Key) -> bytes:
    digest = int.from_bytes(hashlib.sha256(message).digest())
    while True:
        nonce = 1 + secrets.randbelow(_N - 1)
        point = _times(nonce, _G)
        assert point is not None
        r = point[0] % _N
        s = pow(nonce, -1, _N) * (digest + r * key.secret) % _N
        if r and s:
            return _seq(_integer(r), _integer(s))


def _times(factor: int, point: _Point) -> _Point:
    result: _Point = None
    while factor:
        if factor & 1:
            result = _plus(result, point)
        point = _plus(point, point)
        factor >>= 1
    return result


def _plus(left: _Point, right: _Point) -> _Point:
    if left is None or right is None:
        return left or right
    if left[0] == right[0] and (left[1] + right[1]) % _P == 0:
        return None
    if left == right:
        slope = (3 * left[0] ** 2 + _A) * pow(2 * left[1], -1, _P) % _P
    else:
        slope = (right[1] - left[1]) * pow(right[0] - left[0], -1, _P) % _P
    x = (slope**2 - left[0] - right[0]) % _P
    return x, (slope * (left[0] - x) - left[1]) % _P


def _private_key(key: Key) -> bytes:
    inner = _seq(
        _integer(1),
        _octets(key.secret.to_bytes(32)),
        _tlv(0xA1, _bits(_encoded_point(key))),
    )
    return _seq(_integer(0), _seq(_oid(_EC_PUBLIC_KEY), _oid(_P256)), _octets(inner))


def _public_key(key: Key) -> bytes:
    return _seq(_seq(_oid(_EC_PUBLIC_KEY), _oid(_P256)), _bits(_encoded_point(key)))


def _encoded_point(key: Key) -> bytes:
    x, y = key.public
    return b"\x04" + x.to_bytes(32) + y.to_bytes(32)


def _alternative_names(names: tuple[str, ...]) -> bytes:
    encoded = [_tlv(0x82, name.encode()) for name in names]
    encoded.append(_tlv(0x87, IPv4Address("127.0.0.1").packed))
    return _seq(_oid(_ALTERNATIVE_NAMES), _octets(_seq(*encoded)))


def _constraints() -> bytes:
    true = _tlv(0x01, b"\xff")
    return _seq(_oid(_BASIC_CONSTRAINTS), true, _octets(_seq(true)))


def _name(common_name: str) -> bytes:
    text = _tlv(0x0C, common_name.encode())
    return _seq(_tlv(0x31, _seq(_oid(_COMMON_NAME), text)))


def _time(instant: datetime) -> bytes:
    return _tlv(0x17, instant.strftime("%y%m%d%H%M%SZ").encode())


def _oid(dotted: str) -> bytes:
    first, second, *rest = (int(part) for part in dotted.split("."))
    body = bytes([first * 40 + second])
    for number in rest:
        groups = [number & 0x7F]
        while number := number >> 7:
            groups.append(number & 0x7F | 0x80)
        body += bytes(reversed(groups))
    return _tlv(0x06, body)


def _integer(number: int) -> bytes:
    return _tlv(0x02, number.to_bytes(number.bit_length() // 8 + 1))


def _bits(data: bytes) -> bytes:
    return _tlv(0x03, b"\0" + data)


def _octets(data: bytes) -> bytes:
    return _tlv(0x04, data)


def _seq(*items: bytes) -> bytes:
    return _tlv(0x30, b"".join(items))


def _tlv(tag: int, body: bytes) -> bytes:
    if len(body) < 0x80:
        return bytes([tag, len(body)]) + body
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(length)]) + length + body


def _pem(label: str, data: bytes) -> str:
    text = base64.encodebytes(data).decode()
    return f"-----BEGIN {label}-----\n{text}-----END {label}-----\n"

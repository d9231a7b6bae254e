"""Where an API server is and who asks it, as loaded at one time."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a connection needs; files are paths, None where there is none."""

    server: str
    """URL without a slash at its end."""
    token: Callable[[], str | None] = lambda: None
    """Gives the whole value of the header `Authorization`; may read a file that is rotated."""
    server_name: str | None = None
    """The name that the server's certificate has to have, if not its host."""
    proxy: str | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    verify: bool = True

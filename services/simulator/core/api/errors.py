"""What the API server answers when it refuses: one exception that carries a Kubernetes `Status`.

Wordings, reasons and codes are those a client of Kubernetes matches on.

Source: Kubernetes API conventions, "Response Status Kind"; wordings as recorded from kube-apiserver
1.36.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from libs.apiserver.field_errors import FieldError
from libs.domain.errors import JoinerError
from services.simulator.core.api.resources import Resource


class ApiError(JoinerError):
    """A refusal; `status` is the object sent to the client."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: dict[str, Any] | None = None,
        *,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.details = details
        self.retry_after = retry_after
        self.warnings: tuple[str, ...] = ()

    @property
    def status(self) -> dict[str, Any]:
        """Return the `Status` object."""
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": str(self),
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        return {**status, "code": self.code}


def success(code: int | None = None, details: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the `Status` of a request that has nothing else to say."""
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
    }
    if details is not None:
        status["details"] = details
    if code is not None:
        status["code"] = code
    return status


def details_of(resource: Resource, name: str, *, kind: str | None = None) -> dict[str, Any]:
    """Return `details` naming an object by its resource, or by `kind`."""
    details: dict[str, Any] = {}
    if name:
        details["name"] = name
    if resource.group:
        details["group"] = resource.group
    details["kind"] = kind or resource.plural
    return details


def not_found(resource: Resource, name: str) -> ApiError:
    """Return the 404 of an object."""
    message = f'{resource.qualified} "{name}" not found'
    return ApiError(404, "NotFound", message, details_of(resource, name))


def no_such_resource() -> ApiError:
    """Return the 404 of a path that names no resource."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource: Resource, name: str, *, deleting: bool = False) -> ApiError:
    """Return the 409 of a creation."""
    prefix = "object is being deleted: " if deleting else ""
    message = f'{prefix}{resource.qualified} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, details_of(resource, name))


STALE = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def conflict(
    resource: Resource, name: str, why: str = STALE, *, kind: str | None = None
) -> ApiError:
    """Return the 409 of a precondition that does not hold."""
    subject = kind or resource.qualified
    message = f'Operation cannot be fulfilled on {subject} "{name}": {why}'
    details = details_of(resource, name, kind=kind)
    if kind:
        details.pop("group", None)
    return ApiError(409, "Conflict", message, details)


def bad_request(message: str) -> ApiError:
    """Return a 400."""
    return ApiError(400, "BadRequest", message)


def method_not_allowed() -> ApiError:
    """Return the 405 of a verb that a resource does not serve."""
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message, {})


def forbidden(resource: Resource, name: str, why: str) -> ApiError:
    """Return the 403 of an admission plug-in."""
    message = f'{resource.qualified} "{name}" is forbidden: {why}'
    return ApiError(403, "Forbidden", message, details_of(resource, name))


def expired(message: str) -> ApiError:
    """Return the 410 of history that is gone."""
    return ApiError(410, "Expired", message)


def internal(message: str) -> ApiError:
    """Return a 500 without a reason, as the API server words unexpected failures."""
    return ApiError(500, "", message)


def invalid(kind: str, group: str, name: str, errors: Sequence[FieldError]) -> ApiError:
    """Return the 422 that lists field errors.

    Repeated ones are worded once and listed each time.
    """
    shown = list(dict.fromkeys(f"{error.field}: {error.message}" for error in errors))
    listing = shown[0] if len(shown) == 1 else "[" + ", ".join(shown) + "]"
    qualified = f"{kind}.{group}" if group else kind
    details: dict[str, Any] = {"name": name} if name else {}
    if group:
        details["group"] = group
    if kind:
        details["kind"] = kind
    details["causes"] = [error.cause() for error in errors]
    return ApiError(422, "Invalid", f'{qualified} "{name}" is invalid: {listing}', details)


def check(resource: Resource, name: str, errors: Sequence[FieldError]) -> None:
    """Raise the 422 if there are errors."""
    if errors:
        # A kind with two APIs is validated, and its errors are named, in the one it is stored in.
        group = resource.bucket.partition(".")[2]
        raise invalid(resource.kind, group, name, errors)


@contextmanager
def warning(texts: Sequence[str]) -> Iterator[None]:
    """Let a refusal from within carry warnings too."""
    try:
        yield
    except ApiError as error:
        error.warnings = (*texts, *error.warnings)
        raise

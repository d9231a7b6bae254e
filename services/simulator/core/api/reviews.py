"""Access reviews: who may do what. Everyone may do everything, as long as nothing is enforced.

Source: Kubernetes API reference, authorization.k8s.io/v1.
"""

from typing import Any

from services.simulator.core.api import errors
from services.simulator.core.api.messages import Request, Response, to_json
from services.simulator.core.api.negotiation import decode_body

_PREFIX = "/apis/authorization.k8s.io/v1/"
_KINDS = {
    "selfsubjectaccessreviews": "SelfSubjectAccessReview",
    "selfsubjectrulesreviews": "SelfSubjectRulesReview",
}
_EVERYTHING = {
    "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    "incomplete": False,
}


def answer(request: Request) -> Response | None:
    """Return the answer to a review, None if the path is none."""
    kind = _KINDS.get(request.path.removeprefix(_PREFIX))
    if kind is None or not request.path.startswith(_PREFIX):
        return None
    if request.method != "POST":
        raise errors.method_not_allowed()
    body = decode_body(request.headers.get("content-type", ""), request.body, kind).value
    if not isinstance(body, dict) or not isinstance(body.get("spec", {}), dict):
        raise errors.bad_request(f"the body is no {kind}")
    status: dict[str, Any] = {"allowed": True}
    if kind == "SelfSubjectRulesReview":
        status = _EVERYTHING
    review = {
        "kind": kind,
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": body.get("spec", {}),
        "status": status,
    }
    return Response(status=201, body=to_json(review))

"""The kinds that are sent to be answered, not to be stored.

Apart from `reviews` because discovery and decoding name them, too.
"""

from services.simulator.core.api.resources import Resource


def _review(group: str, kind: str, *, namespaced: bool = False) -> Resource:
    return Resource(
        group=f"{group}.k8s.io",
        version="v1",
        kind=kind,
        plural=f"{kind.lower()}s",
        singular=kind.lower(),
        namespaced=namespaced,
        verbs=("create",),
        type=f"{group}/v1.{kind}",
    )


TOKEN_REQUEST = _review("authentication", "TokenRequest", namespaced=True)
"""What the `token` subresource of service accounts is sent."""

REVIEWS = (
    _review("authorization", "LocalSubjectAccessReview", namespaced=True),
    _review("authorization", "SelfSubjectAccessReview"),
    _review("authorization", "SelfSubjectRulesReview"),
    _review("authorization", "SubjectAccessReview"),
    _review("authentication", "SelfSubjectReview"),
    _review("authentication", "TokenReview"),
)

"""Which taints which tolerations bear."""

import pytest

from libs.domain.taint import (
    DISRUPTED,
    HARD_EFFECTS,
    Effect,
    Taint,
    Toleration,
    TolerationOperator,
    is_ephemeral,
    tolerates,
    untolerated,
)

DEDICATED = Taint(key="dedicated", value="ml", effect=Effect.NO_SCHEDULE)
EXISTS, GT, LT = TolerationOperator.EXISTS, TolerationOperator.GT, TolerationOperator.LT


@pytest.mark.parametrize(
    ("toleration", "borne"),
    [
        pytest.param(Toleration(key="dedicated", value="ml"), True, id="equal"),
        pytest.param(Toleration(key="dedicated", value="web"), False, id="another value"),
        pytest.param(Toleration(key="dedicated"), False, id="an empty value is a value"),
        pytest.param(Toleration(key="dedicated", operator=EXISTS), True, id="exists"),
        pytest.param(Toleration(key="other", operator=EXISTS), False, id="another key"),
        pytest.param(Toleration(operator=EXISTS), True, id="any key"),
        pytest.param(Toleration(value="ml"), True, id="any key with this value"),
        pytest.param(Toleration(operator=EXISTS, effect=Effect.NO_EXECUTE), False, id="effect"),
        pytest.param(Toleration(operator=EXISTS, effect=Effect.NO_SCHEDULE), True, id="its effect"),
    ],
)
def test_one_toleration_and_one_taint(toleration: Toleration, borne: bool) -> None:
    assert tolerates([toleration], [DEDICATED]) is borne


@pytest.mark.parametrize(
    ("operator", "limit", "value", "borne"),
    [
        pytest.param(GT, "750", "950", True, id="above"),
        pytest.param(GT, "950", "950", False, id="not above itself"),
        pytest.param(LT, "1000", "950", True, id="below"),
        pytest.param(LT, "950", "950", False, id="not below itself"),
        pytest.param(GT, "-5", "0", True, id="negative limit"),
        pytest.param(GT, "0750", "950", False, id="leading zero in the toleration"),
        pytest.param(GT, "750", "+950", False, id="plus sign in the taint"),
        pytest.param(GT, "1.5", "950", False, id="no integer"),
        pytest.param(GT, "750", "high", False, id="no number"),
        pytest.param(LT, str(2**63), "950", False, id="beyond 64 bits"),
    ],
)
def test_numbers_are_compared_only_if_asked_for(
    operator: TolerationOperator, limit: str, value: str, borne: bool
) -> None:
    toleration = Toleration(key="sla", operator=operator, value=limit)
    taint = Taint(key="sla", value=value, effect=Effect.NO_SCHEDULE)

    assert (untolerated([toleration], [taint], numeric=True) == ()) is borne
    assert untolerated([toleration], [taint]) == (taint,)


def test_every_taint_with_a_counted_effect_must_be_borne() -> None:
    soft = Taint(key="soft", effect=Effect.PREFER_NO_SCHEDULE)

    assert untolerated([], [soft, DEDICATED]) == (soft, DEDICATED)
    assert untolerated([], [soft, DEDICATED], HARD_EFFECTS) == (DEDICATED,)
    assert tolerates([Toleration(key="dedicated", operator=EXISTS)], [soft], HARD_EFFECTS)


@pytest.mark.parametrize(
    ("key", "effect", "ephemeral"),
    [
        ("node.kubernetes.io/not-ready", Effect.NO_SCHEDULE, True),
        ("node.kubernetes.io/not-ready", Effect.NO_EXECUTE, True),
        ("node.kubernetes.io/not-ready", Effect.PREFER_NO_SCHEDULE, False),
        ("node.kubernetes.io/unreachable", Effect.NO_SCHEDULE, True),
        ("node.kubernetes.io/unreachable", Effect.NO_EXECUTE, False),
        ("node.cloudprovider.kubernetes.io/uninitialized", Effect.NO_SCHEDULE, True),
        ("karpenter.sh/unregistered", Effect.NO_EXECUTE, True),
        ("karpenter.sh/disrupted", Effect.NO_SCHEDULE, False),
        ("readiness.k8s.io/network", Effect.NO_EXECUTE, True),
    ],
)
def test_known_ephemeral_taints(key: str, effect: Effect, ephemeral: bool) -> None:
    assert is_ephemeral(Taint(key=key, value="any", effect=effect)) is ephemeral


def test_a_taint_reads_as_kubectl_writes_it() -> None:
    assert str(DEDICATED) == "dedicated=ml:NoSchedule"
    assert str(DISRUPTED) == "karpenter.sh/disrupted:NoSchedule"

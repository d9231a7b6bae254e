"""Settings of the watcher as they come from the environment."""

from datetime import timedelta

import pytest

from libs.domain.feature_gates import FeatureGate
from libs.runtime.runtime_settings import RuntimeSettings
from libs.runtime.settings import SettingsError, load
from services.watcher.config import Settings


def loaded(**environ: str) -> Settings:
    variables = {f"JOINER_CFG_{name}": value for name, value in environ.items()}
    return load(variables, RuntimeSettings, Settings)[1]


def test_every_setting_is_read() -> None:
    settings = loaded(
        SINKS="disruption:1,console:2",
        PROVIDERS="karpenter.kwok.sh=kwok:1,karpenter.k8s.aws=aws:2",
        BATCH_IDLE_DURATION="2s",
        BATCH_MAX_DURATION="30s",
        FEATURE_GATES="CapacityBuffer=true,NodeOverlay=true",
        LEADER_DURATION="30s",
    )
    assert settings.sinks == ("disruption:1", "console:2")
    assert dict(settings.providers)["karpenter.k8s.aws"] == "aws:2"
    assert settings.window.idle == timedelta(seconds=2)
    assert settings.nomination == timedelta(seconds=60)
    assert settings.is_open(FeatureGate("CapacityBuffer"))
    assert settings.is_open(FeatureGate("NodeOverlay"))
    assert settings.is_open(FeatureGate("ReservedCapacity"))
    assert settings.leader.duration == timedelta(seconds=30)


def test_a_gate_without_effect_may_be_said_to_be_what_it_is() -> None:
    gates = "NodeRepair=false,StaticCapacity=false,NodeOverlay=false,SpotToSpotConsolidation=false"

    assert not loaded(FEATURE_GATES=gates).is_open(FeatureGate("NodeRepair"))


def test_claims_of_devices_count_if_somebody_says_so() -> None:
    assert not loaded().is_open(FeatureGate("DynamicResources"))
    assert loaded(FEATURE_GATES="DynamicResources=true").is_open(FeatureGate("DynamicResources"))


def test_the_nomination_window_is_never_shorter_than_ten_seconds() -> None:
    assert loaded(BATCH_MAX_DURATION="1s").nomination == timedelta(seconds=10)


@pytest.mark.parametrize(
    ("environ", "milliseconds"),
    [
        pytest.param({}, 500, id="half a second by default"),
        pytest.param({"REFINE_BUDGET": "0"}, 0, id="off"),
        pytest.param({"BATCH_MAX_DURATION": "4s"}, 200, id="a twentieth of a short batch"),
        pytest.param({"REFINE_BUDGET": "100ms"}, 100, id="less"),
    ],
)
def test_plans_are_refined_for_a_part_of_the_batch(
    environ: dict[str, str], milliseconds: int
) -> None:
    options = loaded(**environ).solve_options

    assert options.refine_budget == timedelta(milliseconds=milliseconds)
    assert options.refines is (milliseconds > 0)


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        pytest.param({"BATCH_IDLE_DURATION": "0"}, "BATCH_IDLE_DURATION", id="no idle time"),
        pytest.param({"BATCH_MAX_DURATION": "500ms"}, "BATCH_IDLE_DURATION", id="idle > maximum"),
        pytest.param({"BATCH_MAX_PODS": "0"}, "BATCH_MAX_PODS", id="empty batches"),
        pytest.param({"FEATURE_GATES": "Nope=true"}, "FEATURE_GATES", id="unknown gate"),
        pytest.param(
            {"FEATURE_GATES": "NodeRepair=true"}, "FEATURE_GATES.*'NodeRepair'", id="gate in vain"
        ),
        pytest.param({"PREFERENCE_POLICY": "Maybe"}, "PREFERENCE_POLICY", id="unknown policy"),
        pytest.param({"SOLVER": "x:1"}, "JOINER_CFG_SOLVER", id="unknown variable"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(
    environ: dict[str, str], named: str
) -> None:
    with pytest.raises(SettingsError, match=named):
        loaded(**environ)

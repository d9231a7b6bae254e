"""Default spread constraints, from the file of the settings to the claims that are asked for."""

from pathlib import Path

import pytest

from tests.unit.services.watcher.stage import Stage, on_stage, with_settings

CONFIG = """
podTopologySpread:
  defaultConstraints:
    - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}
"""


@pytest.mark.parametrize(("configured", "claims"), [(True, 3), (False, 1)])
def test_pods_of_a_service_are_spread_where_defaults_are_configured(
    tmp_path: Path, configured: bool, claims: int
) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(CONFIG)

    async def play(stage: Stage) -> None:
        ports = [{"port": 80}]
        stage.server.direct.create(
            "services",
            {
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {"selector": {"app": "web"}, "ports": ports},
            },
        )
        settings = with_settings(scheduler_config=str(file) if configured else "")
        await stage.start_watcher(settings=settings)
        await stage.passed(5)
        for number in range(3):
            stage.add_pod(f"p{number}", labels={"app": "web"})
        await stage.passed(3)
        assert len(stage.claims()) == claims

    on_stage(play)

"""`joiner bench`: what it says to whoever asks for what there is not."""

import pytest

from tests.unit.cli.command import joiner

BAD_INPUT = 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["solve", "--workload", "peermix"], "is none of peer-mix", id="workload"),
        pytest.param(
            ["solve", "--workload", "openb", "--pods", "9000"], "has 8152 pods", id="too many pods"
        ),
        pytest.param(
            ["quality", "--types", "5000"], "there are 932 such types, not 5000", id="types"
        ),
        pytest.param(
            ["quality", "--families", "c,zz"], "'zz' is none of a, c, d, f, g", id="families"
        ),
        pytest.param(["consolidate", "--families", "zz"], "'zz' is none of", id="another bench"),
        pytest.param(["solve", "--families", "c"], "the types of peer-mix have none", id="no EC2"),
        pytest.param(["consolidate", "--node-budget", "many"], "a share such as 10%", id="budget"),
        pytest.param(["simulator", "--nodes", "0"], "0 is below 1", id="nodes"),
    ],
)
def test_bad_input_is_one_line_that_names_the_option(arguments: list[str], message: str) -> None:
    done = joiner("bench", *arguments)

    assert done.code == BAD_INPUT
    assert message in done.err
    assert done.err.count("\n") == 1

"""Numbers beyond what an option takes: one line that names it, in whatever format."""

from pathlib import Path

import pytest

from tests.unit.cli.command import POD, joiner, written

HUGE = "9" * 30
FAR = "9" * 5_000


@pytest.mark.parametrize(
    ("command", "option", "text", "said"),
    [
        pytest.param("plan", "--seed", str(2**63), "above 9223372036854775807", id="a seed"),
        pytest.param("plan", "--seed", f"-{HUGE}", "below -9223372036854775808", id="under a seed"),
        pytest.param("plan", "--seed", FAR, "above 9223372036854775807", id="thousands of digits"),
        pytest.param("plan", "--seed", "1.5", "'1.5' is no whole number", id="a fraction"),
        pytest.param("plan", "--refine-iterations", HUGE, "above", id="iterations"),
        pytest.param("plan", "--refine-iterations", "-1", "-1 is below 0", id="no iterations"),
        pytest.param("simulate", "--refine-iterations", HUGE, "above", id="of what-ifs"),
        pytest.param("plan", "--refine-budget", "-1s", "'-1s' is below 0", id="a budget below 0"),
        pytest.param("plan", "--objective-node", HUGE, "dollars per hour", id="a node"),
        pytest.param("plan", "--objective-spot-types", "601", "above 600", id="types"),
        pytest.param("consolidate", "--max-moves", str(2**31), "above 2147483647", id="moves"),
        pytest.param("consolidate", "--max-moves", "-1", "-1 is below 0", id="less than no moves"),
        pytest.param("consolidate", "--node-budget", HUGE, "above 2147483647", id="nodes"),
        pytest.param("consolidate", "--node-budget", "101%", "101% is above 100%", id="over all"),
        pytest.param("consolidate", "--node-budget", f"{FAR}%", "above 100%", id="far over all"),
        pytest.param("consolidate", "--node-budget", "few", "'few' is neither", id="no budget"),
        pytest.param("consolidate", "--move-price", "nan", "'nan' is no number", id="no price"),
        pytest.param("consolidate", "--move-price", "1e7", "not between 0 and", id="a dear move"),
    ],
)
@pytest.mark.parametrize("output", ["table", "json"])
def test_numbers_out_of_range_are_refused_in_one_line(
    tmp_path: Path, command: str, option: str, text: str, said: str, output: str
) -> None:
    files = written(tmp_path, POD)

    done = joiner(command, "-f", files, f"{option}={text}", "--format", output, *_asked(command))

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"joiner: {option}: ")
    assert said in done.err
    assert done.err.count("\n") == 1


def _asked(command: str) -> tuple[str, ...]:
    return ("--price", "+1%") if command == "simulate" else ()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["plan"], "joiner: missing option '-f' / '--filename'", id="no file"),
        pytest.param(["plan", "--bogus"], "joiner: no such option: --bogus", id="no such option"),
        pytest.param(["plam"], "joiner: no such command 'plam'", id="no such command"),
        pytest.param(
            ["plan", "-f", "x", "--format", "xml"],
            "joiner: --format: 'xml' is not one",
            id="format",
        ),
        pytest.param(["bench", "solve", "--repeat", "0"], "joiner: --repeat: 0 is below 1", id="0"),
        pytest.param(
            ["bench", "quality", "--budget", "inf"], "joiner: --budget: 'inf' is no", id="forever"
        ),
        pytest.param(
            ["bench", "consolidate", "--utilisation", "0.9", "0.1"],
            "joiner: --utilisation: 0.9 0.1 are not shares",
            id="the larger first",
        ),
    ],
)
def test_a_command_line_that_cannot_be_read_is_told_in_one_line(
    arguments: list[str], said: str
) -> None:
    done = joiner(*arguments)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(said)
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("seed", [str(2**63 - 1), str(-(2**63)), "+7", "007"])
def test_all_of_64_bits_is_a_seed(tmp_path: Path, seed: str) -> None:
    done = joiner("plan", "-f", written(tmp_path, POD), f"--seed={seed}", "--format", "json")

    assert done.code == 0
    assert f'"seed": "{int(seed)}"' in done.out

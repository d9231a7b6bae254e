import gzip
import json
from pathlib import Path

import pytest

from libs.domain.errors import InvalidRequest
from libs.kube import document_files
from tests.unit.cli.command import POD, joiner, written

TEXT = json.dumps(POD)
YAML = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"


def _bomb(depth: int) -> str:
    lines = ['a0: &a0 ["x", "x", "x", "x", "x", "x", "x", "x", "x", "x"]']
    for number in range(1, depth + 1):
        members = ", ".join([f"*a{number - 1}"] * 10)
        lines.append(f"a{number}: &a{number} [{members}]")
    return YAML + "\n".join(lines)


@pytest.mark.parametrize(
    ("data", "count"),
    [
        pytest.param(TEXT.encode(), 1, id="JSON"),
        pytest.param(f"[{TEXT}, {TEXT}]".encode(), 1, id="array"),
        pytest.param(f"{TEXT}\n{TEXT}\n".encode(), 2, id="JSON one after another"),
        pytest.param(f"---\n{YAML}---\n{YAML}---\n".encode(), 2, id="YAML documents"),
        pytest.param(b"{kind: Pod, metadata: {name: web}}", 1, id="flow YAML"),
        pytest.param(b"\xef\xbb\xbf" + YAML.encode(), 1, id="byte order mark"),
        pytest.param(YAML.encode("utf-16"), 1, id="UTF-16 of a Windows shell"),
        pytest.param(b"", 0, id="empty"),
        pytest.param(b"# nothing\n---\n", 0, id="comments"),
        pytest.param(b"a: &a [1]\nb: [*a, *a]", 1, id="modest aliases"),
        pytest.param(gzip.compress(f"{TEXT}\n{TEXT}\n".encode()), 2, id="packed"),
    ],
)
def test_documents_are_found(tmp_path: Path, data: bytes, count: int) -> None:
    path = written(tmp_path, data)

    assert len(list(document_files.read([str(path)]))) == count


def test_dates_stay_text(tmp_path: Path) -> None:
    path = written(tmp_path, b"created: 2026-01-01T00:00:00Z")

    assert list(document_files.read([str(path)])) == [
        (str(path), {"created": "2026-01-01T00:00:00Z"})
    ]


def test_a_packed_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(TEXT.encode())[:-9])

    with pytest.raises(InvalidRequest, match="is no whole gzip file"):
        list(document_files.read([str(path)]))


@pytest.mark.parametrize(
    ("text", "value"),
    [("12:30", "12:30"), ("1:30.5", "1:30.5"), ("010", 8), ("0x1f", 31), ("1_000", 1000)],
)
def test_numbers_are_those_of_kubernetes(tmp_path: Path, text: str, value: object) -> None:
    path = written(tmp_path, f"a: {text}".encode())

    assert list(document_files.read([str(path)])) == [(str(path), {"a": value})]


def test_a_whole_character_may_be_written_as_an_escape(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a": "\\ud83d\\ude00"}')

    assert list(document_files.read([str(path)])) == [(str(path), {"a": "\U0001f600"})]


def test_a_merged_key_may_be_written_anew(tmp_path: Path) -> None:
    path = written(tmp_path, b"a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: {1: a, '1': b}")

    ((_, found),) = document_files.read([str(path)])

    assert found == {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 2}, "c": {1: "a", "1": "b"}}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"a: [1,\nb: }", ":2: not YAML: ", id="YAML"),
        pytest.param(b"kind: Pod\n\tname: x", ":2: not YAML: ", id="tabs"),
        pytest.param(b'{"kind": "Pod",\n "a" 1}', ":2: not JSON: ", id="JSON"),
        pytest.param(b"a: *nowhere", ":1: not YAML: found undefined alias", id="alias"),
        pytest.param(b"a: b\nc: \x00", ":2: not YAML: ", id="control character"),
        pytest.param(b"a: !!python/name:os.system x", ":1: not YAML: ", id="foreign tag"),
        pytest.param(b"? [a]\n: 1", ":1: not YAML: found unhashable key", id="list as a key"),
        pytest.param(b"a: 1\nb: 2\na: 3", ":3: not YAML: key 'a' is there twice", id="a key twice"),
        pytest.param(
            b'{"a": 1, "a": 2}', ": not JSON: key 'a' is there twice", id="JSON key twice"
        ),
        pytest.param(b'{"a": "\\ud800"}', ": not text in UTF-8: ", id="half a character"),
        pytest.param(b"\xff\x00\xfe", ": not text in UTF-8: invalid start byte", id="binary"),
        pytest.param(b"[" * 100_000, ": not JSON: is nested too deeply", id="nested JSON"),
        pytest.param(b"1" * 5_000, ": not YAML: ", id="digits without end"),
        pytest.param(_bomb(11).encode(), ": aliases make it more than ", id="billion laughs"),
        pytest.param(_bomb(6).encode(), ": aliases make it more than ", id="million laughs"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, data: bytes, message: str
) -> None:
    path = written(tmp_path, data)

    with pytest.raises(InvalidRequest) as caught:
        list(document_files.read([str(path)]))

    assert str(caught.value).startswith(f"{path}{message}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("nowhere.yaml", "No such file or directory", id="missing"),
        pytest.param("", "Is a directory", id="directory"),
    ],
)
def test_files_that_cannot_be_opened_are_named(tmp_path: Path, name: str, message: str) -> None:
    done = joiner("plan", "-f", tmp_path / name)

    assert (done.code, done.out) == (2, "")
    assert done.err == f"joiner: {tmp_path / name}: {message}\n"


def test_standard_input_is_read() -> None:
    assert joiner("plan", "-f", "-", stdin=TEXT.encode()).code == 0

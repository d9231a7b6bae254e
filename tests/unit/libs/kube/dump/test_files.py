"""The file of a dump."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from libs.domain.errors import InvalidRequest
from libs.kube import document_files
from libs.kube.dump import files

AT = datetime(2026, 1, 31, 8, tzinfo=UTC)
HEADER = files.Header(captured_at=AT, server_version="v1.36.2", counts={"nodes": 1}, missing={})
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "ü"}}


@pytest.mark.parametrize("name", ["dump.jsonl.gz", "dump.jsonl", "dump"])
def test_a_dump_is_read_as_files_of_objects_are(tmp_path: Path, name: str) -> None:
    path = tmp_path / name

    files.write(path, HEADER, [NODE])

    header, node = [document for _, document in document_files.read([str(path)])]
    assert isinstance(header, dict)
    assert files.is_header(header)
    assert files.captured_at(header) == AT
    assert node == NODE
    assert list(tmp_path.iterdir()) == [path]


def test_it_is_packed_unless_its_name_says_otherwise(tmp_path: Path) -> None:
    files.write(tmp_path / "a.gz", HEADER, [NODE])
    files.write(tmp_path / "a.jsonl", HEADER, [NODE])

    plain = (tmp_path / "a.jsonl").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == plain
    assert [json.loads(line)["kind"] for line in plain.splitlines()] == ["ClusterDump", "Node"]


def test_equal_dumps_are_equal_bytes(tmp_path: Path) -> None:
    for name in "ab":
        files.write(tmp_path / name, HEADER, [NODE])

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("text", [None, "yesterday", "2026-01-31T08:00:00"])
def test_a_header_without_its_instant_is_refused(text: object) -> None:
    with pytest.raises(InvalidRequest, match="capturedAt: is no instant"):
        files.captured_at({"capturedAt": text})

"""`hn.compact`: the same trace in fewer bytes."""

from pathlib import Path

import pytest

import homenode as hn
from support.traces import make_trace


def test_a_compacted_trace_is_the_same_in_fewer_bytes(tmp_path: Path) -> None:
    trace = make_trace(tmp_path / "t.hnt", 40_000)
    before = trace.path.stat().st_size
    small = hn.compact(trace, tmp_path / "u.hnt")
    assert small.path == tmp_path / "u.hnt"
    assert small.path.stat().st_size < before == trace.path.stat().st_size
    assert small.to_arrow() == trace.to_arrow()
    assert small.metadata == trace.metadata
    assert small.checksum == trace.checksum


def test_in_its_place_a_trace_stays_the_same_object(tmp_path: Path) -> None:
    trace = make_trace(tmp_path / "t.hnt", 40_000)
    before = trace.info["bytes"]
    content = trace.to_arrow()
    calls: list[tuple[int, int | None]] = []
    again = hn.compact(trace, level=9, progress=lambda *done: calls.append(done))
    assert again is trace
    assert trace.info["bytes"] == trace.path.stat().st_size < before
    assert trace.to_arrow() == content
    assert calls[-1] == (40_000, 40_000)
    opened = hn.compact(str(trace.path))
    assert (opened.path, opened.checksum) == (trace.path, trace.checksum)
    assert [path.name for path in tmp_path.iterdir()] == ["t.hnt"]


def test_a_temporary_trace_goes_with_its_object_as_before() -> None:
    trace = hn.Trace.from_numpy(thread=0, kind="R", address=range(0, 80_000, 8))
    path = trace.path
    assert hn.compact(trace) is trace
    assert path.exists()
    del trace
    assert not path.exists()


@pytest.mark.parametrize("level", [-1, 0, 23])
def test_there_are_22_levels(level: int, tmp_path: Path) -> None:
    trace = make_trace(tmp_path / "t.hnt", 100)
    with pytest.raises(hn.ConfigError, match=f"expected 1 to 22, found {level}"):
        hn.compact(trace, level=level)


def test_what_progress_raises_leaves_the_trace_alone(tmp_path: Path) -> None:
    trace = make_trace(tmp_path / "t.hnt", 40_000)
    before = trace.path.read_bytes()

    def stop(_done: int, _total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hn.compact(trace, progress=stop)
    assert trace.path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["t.hnt"]

"""Inputs as users have them: compressed, in pipes, damaged, with other names and numbers."""

import bz2
import gzip
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import homenode as hn
from homenode.trace import interchange
from support.command import Command

FORMATS = Path(__file__).parents[2] / "testdata" / "formats"
CSV = b"thread,kind,addr\n0,W,0x1000\n1,R,0x1000\n"


def _zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "zst": _zstd,
    "bz2": bz2.compress,
}


def _parquet(tmp_path: Path, name: str = "t.parquet", **columns: list[object]) -> Path:
    path = tmp_path / name
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("ending", COMPRESS)
def test_compressed_files_are_read(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"refs.csv.{ending}"
    # Two parts, as programs that append to a compressed file make them.
    path.write_bytes(COMPRESS[ending](CSV) + COMPRESS[ending](b"1,W,0x2000\n"))
    assert hn.Trace.import_(path).references == 3
    # The bytes decide, not the name.
    plain = path.rename(tmp_path / "refs.csv")
    assert hn.Trace.import_(plain).references == 3


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_cut_or_damaged_compressed_file_is_an_error(
    tmp_path: Path, homenode: Command, ending: str
) -> None:
    data = COMPRESS[ending](b"".join(b"0 W %x\n" % (i * i * 7919) for i in range(20000)))
    for damaged in (data[: len(data) // 2], data[:200] + bytes(50) + data[250:]):
        (tmp_path / f"refs.txt.{ending}").write_bytes(damaged)
        done = homenode("import", tmp_path / f"refs.txt.{ending}", "-o", tmp_path / "t.hnt")
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert f"refs.txt.{ending}" in done.err
        assert "damaged or cut off" in done.err or "expected" in done.err
        assert not list(tmp_path.glob("t.hnt*"))


def test_compressed_standard_input_and_columns(tmp_path: Path) -> None:
    words = [sys.executable, "-P", "-m", "homenode", "import", "-", "--format"]
    table = _parquet(tmp_path, thread=[0, 1], kind=["W", "R"], addr=[16, 16])
    for form, data in (("csv", CSV), ("parquet", table.read_bytes())):
        out = str(tmp_path / f"{form}.hnt")
        done = subprocess.run(
            [*words, form, "-o", out], input=gzip.compress(data), capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert hn.Trace.open(out).references == 2


def test_archives_are_named(tmp_path: Path) -> None:
    header = bytearray(1024)
    header[257:262] = b"ustar"
    path = tmp_path / "x.champsimtrace.xz"
    path.write_bytes(lzma.compress(bytes(header)))
    with pytest.raises(hn.TraceError, match=r"x\.champsimtrace\.xz: it is a tar archive; extract"):
        hn.Trace.import_(path)


def test_columns_have_the_names_of_csv_in_any_case(tmp_path: Path) -> None:
    path = _parquet(tmp_path, Thread=[0, 1], KIND=["W", "R"], addr=[16, 16], colour=[1, 2])
    trace = hn.Trace.import_(path)
    [batch] = trace.batches()
    assert batch.column("address").to_pylist() == [16, 16]
    assert batch.column("size").to_pylist() == [4, 4]
    both = _parquet(tmp_path, thread=[0], kind=["W"], addr=[1], address=[1])
    with pytest.raises(hn.TraceError, match="column address occurs 2 times; keep one"):
        hn.Trace.import_(both)


def test_foreign_thread_numbers_in_columns(tmp_path: Path) -> None:
    path = _parquet(
        tmp_path, thread=[182628, 7, 182630, 182628], kind=["W"] * 4, addr=[16, 16, 16, 16]
    )
    trace = hn.Trace.import_(path)
    [batch] = trace.batches()
    assert batch.column("thread").to_pylist() == [0, 1, 2, 0]
    note = "threads were renumbered: 0 was 182628, 1 was 7, 2 was 182630"
    assert note in trace.metadata["provenance"]


def test_own_thread_numbers_stay(tmp_path: Path) -> None:
    text = tmp_path / "t.txt"
    text.write_text("# thread kind address size [pc] [gap=] [pid=] [flags=]\n400 W 10 4\n")
    trace = hn.Trace.import_(text)
    for name in ("t.parquet", "t.arrow", "t.csv"):
        trace.export(tmp_path / name)
        assert hn.Trace.import_(tmp_path / name).threads == 401, name
    assert hn.Trace.from_arrow(trace.to_arrow()).threads == 401


def _damaged_texts() -> pa.Array:
    offsets = pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]))
    return pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"R\xff")])


def _damaged_indices() -> pa.Array:
    indices = pa.array([0, 9], pa.int8())
    return pa.DictionaryArray.from_arrays(indices, pa.array(["R"]), safe=False)


@pytest.mark.parametrize("make", [_damaged_texts, _damaged_indices])
def test_damaged_columns_are_errors(
    tmp_path: Path, homenode: Command, make: Callable[[], pa.Array]
) -> None:
    table = pa.table({"thread": [0, 1], "kind": make(), "address": [16, 16]})
    path = tmp_path / "t.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    done = homenode("import", path, "-o", tmp_path / "t.hnt")
    assert done.code == 2, done.err
    assert f"{path}: row 0: column kind is damaged (" in done.err
    assert not list(tmp_path.glob("t.hnt*"))
    with pytest.raises(hn.TraceError, match="column kind is damaged"):
        hn.Trace.from_arrow(table)


def test_a_full_temporary_folder_is_no_damaged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        def write(self, _: bytes) -> int:
            raise OSError(28, "No space left on device")

        def __enter__(self) -> "Full":
            return self

        def __exit__(self, *_: object) -> None:
            pass

    path = tmp_path / "t.parquet"
    path.write_bytes(gzip.compress(b"x"))
    monkeypatch.setattr(interchange.tempfile, "TemporaryFile", Full)
    with pytest.raises(OSError, match=r"No space left on device \(temporary file in .*TMPDIR"):
        hn.Trace.import_(path)


def test_output_of_the_tools_themselves() -> None:
    lackey = hn.Trace.import_(FORMATS / "valgrind-3.19.lackey").info
    assert (lackey["references"], lackey["fetches"], lackey["atomics"]) == (5, 9, 2)
    [batch] = hn.Trace.import_(FORMATS / "perf-6.1.perf").batches()
    assert {hex(pc) for pc in batch.column("pc").to_pylist()[:3]} == {"0x40110d"}

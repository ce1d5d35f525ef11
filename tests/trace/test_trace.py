"""The Python class `Trace`."""

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import homenode as hn
from homenode.options.tables import core_table
from homenode.trace.trace import format_of


def test_numpy_arrays_become_a_trace(tmp_path: Path) -> None:
    trace = hn.Trace.from_numpy(
        thread=np.array([0, 1, 2]),
        kind=["R", "W", "A"],
        address=np.array([0x10, 0x20, 2**64 - 64], np.uint64),
        size=[4, 8, 16],
        pc=[1, 2, 3],
        path=tmp_path / "t.hnt",
    )
    assert trace.path == tmp_path / "t.hnt"
    assert (trace.references, trace.threads) == (3, 3)
    assert trace.to_arrow().to_pydict() == {
        "thread": [0, 1, 2],
        "kind": [0, 1, 2],
        "address": [0x10, 0x20, 2**64 - 64],
        "size": [4, 8, 16],
        "pc": [1, 2, 3],
    }


def test_one_value_stands_for_all_rows() -> None:
    trace = hn.Trace.from_numpy(thread=0, kind="R", address=np.arange(5) * 4)
    assert trace.to_arrow()["size"].to_pylist() == [4] * 5


def test_a_data_frame_becomes_a_trace() -> None:
    frame = pd.DataFrame({"thread": [0], "kind": ["W"], "address": [64], "size": [4]})
    assert hn.Trace.from_arrow(frame).info["writes"] == 1


def test_a_record_batch_becomes_a_trace() -> None:
    batch = pa.RecordBatch.from_pydict({"thread": [0], "kind": [0], "address": [64], "size": [4]})
    assert hn.Trace.from_arrow(batch).references == 1


def test_an_empty_trace_is_a_trace() -> None:
    trace = hn.Trace.from_numpy(thread=[], kind=[], address=[], size=[])
    assert (trace.references, trace.bytes_per_reference) == (0, 0)
    assert trace.to_arrow().num_rows == 0


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(hn.ConfigError, match=r"differ in length: thread \(2,\), .* address \(3,\)"):
        hn.Trace.from_numpy(thread=[0, 1], kind="R", address=[1, 2, 3])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"address": [[1, 2]]}, r"column address has shape \(1, 2\)"),
        ({"address": [1, 2**64]}, "column address: .*64 bits"),
        ({"privat": [1, 1]}, "there is no column privat; the columns are .*private"),
    ],
)
def test_wrong_arrays_are_named(change: dict[str, Any], said: str) -> None:
    given = {"thread": [0, 1], "kind": "R", "address": [1, 2]} | change
    with pytest.raises(hn.ConfigError, match=said):
        hn.Trace.from_numpy(**given)


def test_any_address_and_byte_order_will_do() -> None:
    last = hn.Trace.from_numpy(thread=0, kind="R", address=[64, 2**64 - 1], size=1)
    assert last.to_arrow()["address"].to_pylist() == [64, 2**64 - 1]
    foreign = hn.Trace.from_numpy(thread=0, kind="R", address=np.array([64, 128], ">u8"))
    assert foreign.to_arrow()["address"].to_pylist() == [64, 128]


def test_a_negative_address_is_refused() -> None:
    with pytest.raises(hn.TraceError, match="row 1: address -4"):
        hn.Trace.from_numpy(thread=0, kind="R", address=[4, -4])


def test_temporary_files_go_with_the_object() -> None:
    trace = hn.Trace.from_numpy(thread=[0], kind=["R"], address=[4])
    path = trace.path
    assert path.exists()
    del trace
    gc.collect()
    assert not path.parent.exists()


def test_temporary_files_go_when_the_input_is_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(hn.TraceError):
        hn.Trace.from_numpy(thread=[0], kind=["X"], address=[4])
    assert list(tmp_path.iterdir()) == []


def test_the_same_content_has_the_same_checksum(trace: hn.Trace, tmp_path: Path) -> None:
    trace.export(tmp_path / "t.parquet")
    first = hn.Trace.import_(tmp_path / "t.parquet")
    again = hn.Trace.import_(tmp_path / "t.parquet")
    assert first.checksum == again.checksum
    assert len(first.checksum) == 32


def test_batches_are_the_table_in_pieces(trace: hn.Trace) -> None:
    assert pa.Table.from_batches(trace.batches()) == trace.to_arrow()


def test_text_goes_out_and_comes_back(trace: hn.Trace, tmp_path: Path) -> None:
    trace.export(tmp_path / "t.txt")
    assert hn.Trace.import_(tmp_path / "t.txt").to_arrow() == trace.to_arrow()


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.parquet", "parquet"), ("a.PQ", "parquet"), ("x/y.txt", "text"), ("a.arrow", "arrow")],
)
def test_formats_are_guessed_from_names(name: str, form: str) -> None:
    assert format_of(name, None, "import") == format_of(name, None, "export") == form


@pytest.mark.parametrize("name", ["a", "a.xyz", "-", ".parquet/x"])
def test_unknown_endings_need_a_format(name: str) -> None:
    with pytest.raises(hn.ConfigError, match="give one of text"):
        format_of(name, None, "import")


def test_export_offers_what_it_can_write(trace: hn.Trace, tmp_path: Path) -> None:
    names = "text, csv, din, parquet, arrow"
    for name, form, said in (
        ("t.xyz", None, f"give one of {names}"),
        ("t.lackey", None, f'"lackey" is for import only; for export there are {names}'),
        ("t.txt", "drmemtrace", f'"drmemtrace" is for import only; for export there are {names}'),
        ("t.txt", "elf", f'unknown format "elf"; known: {names}'),
    ):
        with pytest.raises(hn.ConfigError, match=f"{said}$"):
            trace.export(tmp_path / name, format=form)
        assert not (tmp_path / name).exists()
    with pytest.raises(hn.ConfigError, match=r"text, csv, lackey, .*, parquet, arrow$"):
        hn.Trace.import_("t.txt", format="elf")
    for row in core_table("formats"):
        if row["export"]:
            trace.export(tmp_path / "out", format=row["name"])
            assert (tmp_path / "out").exists()


def test_opening_what_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(hn.TraceError, match=r"nothing\.hnt"):
        hn.Trace.open(tmp_path / "nothing.hnt")

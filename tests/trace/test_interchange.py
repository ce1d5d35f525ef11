"""Arrow and Parquet: exports can be imported again, and errors name their place."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import homenode as hn

_ROW = st.fixed_dictionaries(
    {
        "thread": st.integers(0, 2**16 - 2),
        "kind": st.integers(0, 3),
        "address": st.integers(0, 2**64 - 1),
        "size": st.integers(1, 64),
        "pc": st.integers(0, 2**64 - 1),
        "gap": st.integers(0, 2**32 - 1),
        "pid": st.integers(0, 2**32 - 1),
        "private": st.booleans(),
        "sync": st.booleans(),
        "kernel": st.booleans(),
        "transfer": st.booleans(),
    }
)
_TYPES = {
    "thread": pa.uint16(),
    "kind": pa.uint8(),
    "address": pa.uint64(),
    "size": pa.uint8(),
    "pc": pa.uint64(),
    "gap": pa.uint32(),
    "pid": pa.uint32(),
    "private": pa.bool_(),
    "sync": pa.bool_(),
    "kernel": pa.bool_(),
    "transfer": pa.bool_(),
}


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=pa.schema(list(_TYPES.items())))


def _good() -> dict[str, Any]:
    return {
        "thread": pa.array([0, 1], pa.uint16()),
        "kind": pa.array([1, 0], pa.uint8()),
        "address": pa.array([64, 128], pa.uint64()),
        "size": pa.array([4, 8], pa.uint8()),
    }


@settings(max_examples=30)
@given(st.lists(_ROW, max_size=40))
def test_every_column_survives_a_trace(rows: list[dict[str, Any]]) -> None:
    table = _table(rows)
    assert hn.Trace.from_arrow(table).to_arrow().to_pylist() == table.to_pylist()


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@settings(max_examples=10)
@given(rows=st.lists(_ROW, max_size=20))
def test_files_come_back(form: str, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    first = hn.Trace.from_arrow(_table(rows), tmp_path / "a.hnt")
    first.export(tmp_path / f"a.{form}")
    again = hn.Trace.import_(tmp_path / f"a.{form}", tmp_path / "b.hnt")
    assert again.to_arrow() == first.to_arrow()
    assert again.metadata["program"] == "arrow table"
    assert again.metadata["provenance"] == ["from_arrow", f"import {form} a.{form}"]


def test_row_groups_are_read_in_order(tmp_path: Path) -> None:
    table = pa.table(
        {
            "thread": pa.array(np.zeros(5000, np.uint16)),
            "kind": pa.array(np.zeros(5000, np.uint8)),
            "address": pa.array(np.arange(5000, dtype=np.uint64) * 4),
            "size": pa.array(np.full(5000, 4, np.uint8)),
        }
    )
    pq.write_table(table, tmp_path / "groups.parquet", row_group_size=700)
    seen: list[tuple[int, int | None]] = []
    trace = hn.Trace.import_(
        tmp_path / "groups.parquet", progress=lambda done, total: seen.append((done, total))
    )
    assert trace.to_arrow()["address"].to_pylist() == list(range(0, 20000, 4))
    assert seen[-1] == (5000, 5000)


@pytest.mark.parametrize(
    "kind",
    [
        pa.array(["W", "R"]),
        pa.array(["w", "r"], pa.large_string()),
        pa.array(["W", "R"]).dictionary_encode(),
        pa.array([1, 0], pa.int64()),
        pa.chunked_array([["W"], ["R"]]),
    ],
)
def test_kinds_may_be_letters_or_numbers(kind: Any) -> None:
    trace = hn.Trace.from_arrow(pa.table(_good() | {"kind": kind}))
    assert (trace.info["writes"], trace.info["reads"]) == (1, 1)


def test_numbers_in_tables_stay_and_must_fit() -> None:
    """Tables are given by programs, and not files of other tools: nothing is renumbered."""
    for thread in (65535, 70000):
        table = pa.table(_good() | {"thread": pa.array([thread, 0], pa.int64())})
        message = f"row 0: thread {thread} is not between 0 and 65534"
        with pytest.raises(hn.TraceError, match=message):
            hn.Trace.from_arrow(table)


def test_other_columns_are_left_alone() -> None:
    table = pa.table(_good() | {"note": pa.array(["a", "b"])})
    assert hn.Trace.from_arrow(table).to_arrow().column_names == [
        "thread",
        "kind",
        "address",
        "size",
    ]


def test_flag_bits_are_the_flag_columns() -> None:
    table = pa.table(_good() | {"flags": pa.array([5, 2], pa.uint8())})
    back = hn.Trace.from_arrow(table).to_arrow()
    assert back["private"].to_pylist() == [True, False]
    assert back["sync"].to_pylist() == [False, True]
    assert back["kernel"].to_pylist() == [True, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"address": None}, "column address is missing"),
        ({"thread": pa.array([0.5, 1.0])}, "column thread holds double; expected integers"),
        (
            {"kind": pa.array([True, False])},
            "column kind holds bool; expected integers or the letters",
        ),
        ({"kind": pa.array(["W", "X"])}, "row 1: kind 'X' is none of R, W, A, I"),
        ({"kind": pa.array([0, 4])}, "row 1: kind 4 is not between 0 and 3"),
        ({"size": pa.array([0, 4])}, "row 0: size 0 is not between 1 and 64"),
        ({"size": pa.array([4, 300])}, "row 1: size 300 is not between 1 and 64"),
        ({"thread": pa.array([0, -1])}, "row 1: thread -1 is not between 0 and "),
        ({"address": pa.array([64, -1])}, "row 1: address -1 .* unsigned 64-bit"),
        ({"address": pa.array([64, None])}, "row 1: column address is empty"),
        ({"kind": pa.array([None, "R"])}, "row 0: column kind is empty"),
        ({"flags": pa.array([0, 16])}, "row 1: flags 16 is not between 0 and 15"),
        ({"kernel": pa.array([0, 2])}, "row 1: kernel 2 is neither 0 nor 1"),
        ({"private": pa.array(["no", "yes"])}, "column private holds string"),
    ],
)
def test_wrong_columns_are_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    columns = {name: value for name, value in (_good() | change).items() if value is not None}
    pq.write_table(pa.table(columns), tmp_path / "bad.parquet")
    with pytest.raises(hn.TraceError, match=f"bad.parquet: {message}") as caught:
        hn.Trace.import_(tmp_path / "bad.parquet", tmp_path / "bad.hnt")
    assert caught.value.path == str(tmp_path / "bad.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.parquet"]


def test_a_column_twice_is_refused() -> None:
    names = ["thread", "kind", "address", "size", "kind"]
    table = pa.Table.from_arrays([pa.array([1])] * 5, names=names)
    with pytest.raises(hn.TraceError, match="column kind occurs 2 times"):
        hn.Trace.from_arrow(table)


def test_an_empty_value_hides_in_no_dictionary() -> None:
    kinds = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["R", None]))
    with pytest.raises(hn.TraceError, match="row 1: column kind is empty"):
        hn.Trace.from_arrow(pa.table(_good() | {"kind": kinds}))


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_name_that_is_no_text_is_damage(form: str, trace: hn.Trace, tmp_path: Path) -> None:
    source = tmp_path / f"bad.{form}"
    trace.export(source)
    source.write_bytes(source.read_bytes().replace(b"thread", b"thr\xffad"))
    with pytest.raises(hn.TraceError, match=f"bad.{form}: .*(readable|missing)"):
        hn.Trace.import_(source, tmp_path / "t.hnt")


@pytest.mark.parametrize(
    "stored",
    [b"{", b"[]", b"null", b"\xff", b'{"provenance": 3}', b'{"program": 5}', b"[" * 100_000],
)
def test_foreign_metadata_is_refused(stored: bytes, tmp_path: Path) -> None:
    table = pa.table(_good()).replace_schema_metadata({b"homenode.metadata": stored})
    pq.write_table(table, tmp_path / "odd.parquet")
    with pytest.raises(hn.TraceError, match=r"odd.parquet: the key homenode.metadata .*remove it"):
        hn.Trace.import_(tmp_path / "odd.parquet", tmp_path / "t.hnt")
    assert [path.name for path in tmp_path.iterdir()] == ["odd.parquet"]


def test_a_missing_file_is_not_a_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        hn.Trace.import_(tmp_path / "none.parquet", tmp_path / "t.hnt")
    assert caught.value.filename == str(tmp_path / "none.parquet")


def test_a_late_bad_row_leaves_nothing_and_has_its_number(tmp_path: Path) -> None:
    size = np.full(300_000, 4, np.uint8)
    size[299_999] = 65
    table = pa.table(
        {
            "thread": pa.array(np.zeros(300_000, np.uint16)),
            "kind": pa.array(np.zeros(300_000, np.uint8)),
            "address": pa.array(np.zeros(300_000, np.uint64)),
            "size": pa.array(size),
        }
    )
    pq.write_table(table, tmp_path / "late.parquet")
    with pytest.raises(hn.TraceError, match="row 299999: size 65"):
        hn.Trace.import_(tmp_path / "late.parquet", tmp_path / "late.hnt")
    assert [path.name for path in tmp_path.iterdir()] == ["late.parquet"]


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"ARROW1\0\0", b"nonsense" * 100])
def test_foreign_files_are_refused(form: str, content: bytes, tmp_path: Path) -> None:
    source = tmp_path / f"foreign.{form}"
    source.write_bytes(content)
    with pytest.raises(hn.TraceError, match=f"not a readable {form} file"):
        hn.Trace.import_(source, tmp_path / "t.hnt")
    assert not (tmp_path / "t.hnt").exists()


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_cut_and_damaged_files_are_refused(form: str, trace: hn.Trace, tmp_path: Path) -> None:
    whole = tmp_path / f"whole.{form}"
    trace.export(whole)
    content = whole.read_bytes()
    rng = np.random.default_rng(3)
    for _ in range(40):
        broken = bytearray(content)
        place = int(rng.integers(len(broken)))
        if rng.random() < 0.5:
            del broken[place:]
        else:
            broken[place] ^= 1 << int(rng.integers(8))
        source = tmp_path / f"broken.{form}"
        source.write_bytes(broken)
        try:
            hn.Trace.import_(source, tmp_path / "t.hnt")
        except hn.TraceError as error:
            assert str(source) in str(error)  # noqa: PT017 - some damage goes unnoticed


def test_interrupting_an_import_leaves_nothing(trace: hn.Trace, tmp_path: Path) -> None:
    trace.export(tmp_path / "t.parquet")

    def interrupt(_done: int, _total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hn.Trace.import_(tmp_path / "t.parquet", tmp_path / "u.hnt", progress=interrupt)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.hnt", "t.parquet"]


def test_interrupting_an_export_leaves_nothing(trace: hn.Trace, tmp_path: Path) -> None:
    def interrupt(_done: int, _total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trace.export(tmp_path / "t.parquet", progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["small.hnt"]

"""Tables of every command: they have all numbers and columns at every width of the terminal."""

import json
import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

import homenode as hn
from homenode.capture import checking
from homenode.cli import engine_tables, tables
from homenode.cli.record_check import print_check
from homenode.results.result import Result
from support import workloads
from support.command import Command
from support.tables import Drawn, check_widths, drawn, printing_functions, text_of
from support.traces import make_named_trace, make_trace

__all__ = ["drawn"]

# A row of an engine that has no table of its own.
ENGINE_ROW = {
    "machine": "a-machine-of-a-kind-with-a-long-name",
    **{f"transactions_of_kind_{kind}": 5_773_814 * kind for kind in range(1, 12)},
    "missing": None,
}

# Commands, and the functions whose tables they print. T is a trace of four threads, NAMED one with
# call stacks and fields, BAD one that was cut off, MIX one of servers and their kernel, SYSTEM one
# of a whole system, OUT a file to write.
CASES = {
    "advise NAMED --machine cc --block-size 64": "advise._print",
    "simulate T --machine bus-smp --protocol mesi,pscr": "bus_table._print_protocols",
    "simulate T --machine bus-smp --protocol mesi --order trace": "bus_table._print_protocols",
    "simulate MIX --machine spr-2s-lines": "bus_table._print_protocols",
    "simulate T --machine bus-smp --protocol mesi --scaling 1-4": "bus_table._print_scaling",
    "check-protocol mesi": "check_protocol._print_numbers",
    "simulate T --machine markatos --realign": "coherence_table.print_columns "
    "realign_table.print_report",
    "simulate T --machine markatos --realign --block-size 1K,4K": "realign_table.print_sizes "
    "simulate._print_grid",
    "compact T -o OUT": "compact.compact",
    "synthetic servers --from foglia-web --scale 400 -o OUT": "synthetic._print",
    "simulate T --machine dash-mesh": "directory_table._print_lines directory_table._print_hottest",
    "simulate T --machine dash-mesh --order trace": "directory_table._print_lines",
    "simulate T --machine alite --buffers infinite,1 --proxies none,basic": ""
    "directory_table._print_lines",
    "explain mesi": "explain_text._print_meanings explain_text._print_cells "
    "explain_text._print_transactions",
    "explain dash": "explain_text._print_controllers explain_text._print_controller "
    "explain_text._print_messages",
    "explain lrc": "explain_text._print_meanings explain_text._print_controllers "
    "explain_text._print_controller explain_text._print_messages",
    "info T": "info._print",
    "sharing NAMED --machine cc --block-size 64": "sharing._print_fields sharing._print_stacks",
    "simulate T --machine numa --policy optimal,ace": "simulate._print_one_size",
    "simulate T --machine numa,cc --block-size 64-8K": "simulate._print_grid",
    "simulate T --machine cc --block-size 64": "interleavings_table.show",
    "list policies": "list_._print",
    "list machines": "list_._print_machines",
    "transform merge T T -o OUT": "mix_table.print_merger",
    "transform processes SYSTEM -o OUT": "mix_table.print_mix",
    "transform own-frames SYSTEM -o OUT": "totals.print_frames",
    "optimal T --machine numa,cc --block-size 64,4K": "optimal._print_points optimal._print_moves",
    "optimal T --machine prices:r=15,R=59 --curve R=31..400": "optimal._print_curve",
    "pmap --table": "pmap._print_actions",
    "pmap T": "pmap._print_counts pmap._print_cells pmap._print_time pmap._print_busiest",
    "record -o OUT -- PROGRAM": "record.record",
    "repair BAD -o OUT": "repair.repair",
    "run --machine bus-smp --protocol mesi -- PROGRAM": "run.run",
    "sensitivity T --reinterleave 2": "sensitivity._print",
    "sharing T --machine cc,spr-2s-lines --block-size 64 --compare T": "sharing.print_waits "
    "sharing._print_costs sharing._print_shares sharing._print_savings sharing._print_detail",
    "tlb T --tlb ace,r4000 --page-size 512-8192": "tlb._print",
    "transform filter T --cache 8K:2:64 -o OUT": "totals.print_filter",
}
NAMES = {
    "ranges": [{"kind": "heap", "start": 0x1000, "size": 64, "stack": 1, "layout": 1}],
    "stacks": [{"frames": [0, 1], "layout": 1}],
    "frames": [
        {"function": "make", "file": "drv.c", "line": 17},
        {"function": "main", "file": "drv.c", "line": 1234},
    ],
    "layouts": [
        {
            "name": "Table",
            "size": 64,
            "fields": [{"name": f"slot_{i}", "offset": 4 * i, "size": 4} for i in range(4)],
        }
    ],
    "lines": [],
}


@pytest.fixture
def files(tmp_path: Path, trace: hn.Trace) -> Callable[[str], list[str]]:
    """The words of a command line, with the files that it names."""

    def cut() -> str:
        bad = tmp_path / "bad.hnt"
        bad.write_bytes(make_trace(tmp_path / "whole.hnt", 400_000).path.read_bytes()[:-30_000])
        return str(bad)

    def program() -> str:
        source, path = tmp_path / "p.c", tmp_path / "p"
        source.write_text("int table[64]; int main(void) { return table[7]++; }")
        line = ["-m", "homenode", "cc", "-O1", "-g", str(source), "-o", str(path)]
        subprocess.run([sys.executable, *line], check=True)
        return str(path)

    def system() -> str:
        thread, pid = [0, 0, 1, 1] * 50, [5, 7, 5, 8] * 50
        kind, address = ["R", "W"] * 100, [0x1000 + 8 * (i % 10) for i in range(200)]
        columns = {
            "thread": thread,
            "pid": pid,
            "kind": kind,
            "address": address,
            "kernel": [0, 0, 0, 1] * 50,
        }
        return str(hn.Trace.from_numpy(**columns, path=tmp_path / "system.hnt").path)

    made: dict[str, Callable[[], str]] = {
        "T": lambda: str(trace.path),
        "NAMED": lambda: str(make_named_trace(tmp_path / "named.hnt", [0x1000], NAMES).path),
        "BAD": cut,
        "MIX": lambda: str(workloads.FOLDER / "ecommerce" / "ec.hnt"),
        "SYSTEM": system,
        "PROGRAM": program,
        "OUT": lambda: str(tmp_path / "out.hnt"),
    }
    return lambda line: [made.get(word, lambda word=word: word)() for word in line.split()]


@pytest.mark.parametrize("line", CASES)
def test_all_numbers_and_columns_are_there_at_every_width(
    homenode: Command, files: Callable[[str], list[str]], drawn: tuple[Drawn, set[str]], line: str
) -> None:
    result = homenode(*files(line))
    found, functions = drawn
    assert functions >= set(CASES[line].split()), result.err
    for table in found:
        check_widths(table)


def test_the_columns_that_an_engine_declares(
    drawn: tuple[Drawn, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = [{"heading": name.replace("_", " "), "field": name} for name in ENGINE_ROW]
    monkeypatch.setattr(engine_tables, "engines", lambda: {"flat": {"columns": columns}})
    engine_tables.print_result("flat", Result([ENGINE_ROW, ENGINE_ROW], {}, {}))
    found, functions = drawn
    assert functions == {"engine_tables._print_columns"}
    for table in found:
        check_widths(table)


def test_the_rows_of_a_check(drawn: tuple[Drawn, set[str]]) -> None:
    seen = hn.Trace.from_numpy(thread=[0, 0], kind=["W", "R"], address=[0x1000, 0x1000])
    more = hn.Trace.from_numpy(thread=[0] * 9000, kind=["W"] * 9000, address=[0x1000] * 9000)
    print_check(checking.compare(seen, more))
    found, functions = drawn
    assert functions == {"record_check.print_check"}
    for table in found:
        check_widths(table)


def test_every_function_that_prints_a_table_has_a_case() -> None:
    tested = {function for functions in CASES.values() for function in functions.split()}
    tested |= {"engine_tables._print_columns", "record_check.print_check"}
    assert printing_functions(Path(tables.__file__).parent) == tested


def test_a_real_terminal_shows_whole_numbers(homenode: Command, trace: hn.Trace) -> None:
    parent, child = pty.openpty()
    termios.tcsetwinsize(child, (24, 80))
    words = ["simulate", str(trace.path), "--machine", "spr-2s-lines"]
    variables = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    variables |= {"TERM": "xterm"}
    done = subprocess.Popen(
        [sys.executable, "-m", "homenode", *words],
        stdout=child,
        stderr=subprocess.DEVNULL,
        env=variables,
    )
    os.close(child)
    chunks = []
    while chunk := _read(parent):
        chunks.append(chunk)
    assert done.wait() == 0
    lines = re.sub(r"\x1b\[[0-9;]*m", "", b"".join(chunks).decode()).splitlines()
    assert max(map(len, lines)) <= 80
    row = json.loads(homenode(*words, "--json").out)[0]
    assert f"{row['cycles']:,}" in "\n".join(lines)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other end is closed
        return b""


def test_a_summary_has_no_values_of_python() -> None:
    facts = {"native_time_s": None, "children": [], "races": ["a.c:1", "a.c:2"], "bytes": 7172}
    assert tables.summary(facts) == [
        ("native time s", "none"),
        ("children", "none"),
        ("races", "a.c:1, a.c:2"),
        ("bytes", "7,172"),
    ]


@pytest.mark.parametrize(
    "facts",
    [
        [("a name", "a value"), ("b", "1,234")],
        [("", ""), ("x", " [bold]:smile: ")],
        [("n" * 20, "v " * 89), ("n", "")],
        [("n" * 20, "v " * 89 + "v"), ("n", "")],
        [("accented", "caf\u00e9"), ("wide", "\u6f22")],
        [],
    ],
)
def test_facts_in_files_are_as_rich_draws_them(
    facts: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    table = tables.Facts(tuple(facts))
    short = text_of(table, None)
    monkeypatch.setattr(tables.Facts, "_plain", lambda _: None)
    assert short == text_of(table, None)


def test_facts_in_files_have_the_colours_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[2m" in text_of(tables.Facts((("name", "value"),)), None)

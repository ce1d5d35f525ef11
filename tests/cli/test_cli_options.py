"""Values that no option can have: the error names the option, and no file is written."""

import io
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from test_cli_errors import refused

import homenode as hn
from support.command import Command

_HUGE = "99999999999999999999999"
_THREE = "\u0663"  # an Arabic digit, which Python reads as 3


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("sharing", ["--detail", "10"], "detail: block size 10 is not a power of two"),
        ("sharing", ["--detail", "64-128"], "detail: '64-128': expected one block size"),
        ("sharing", ["--top", _HUGE], "'--top': "),
        ("picture", ["-o", "p.svg", "--block-size", "10"], "block_size: block size 10"),
        ("picture", ["-o", "p.svg", "--block-size", "64,128"], "expected one block size"),
        ("pmap", ["--page-size", "10"], "page_size: page size 10 is not a power of two"),
        ("tlb", ["--page-size", "10"], "'--page-size': block size 10"),
        ("simulate", ["--scaling", "junk"], "scaling: number of processors 'junk'"),
        ("simulate", ["--associativity", "x"], "associativities (--associativity): "),
        ("simulate", ["--private-range", "0"], "private_ranges (--private-range): "),
        ("simulate", ["--realign-window", _HUGE], "'--realign-window': "),
        ("simulate", ["--cache-size", _HUGE], "'--cache-size': cache size"),
        ("simulate --machine bus-smp", ["--cache-size", "10"], "cache size 10 bytes"),
        ("simulate --machine bus-smp", ["--block-size", "8"], "block size 8 bytes"),
        ("simulate", ["--block-size", "-1"], "'-1' is not a number of bytes"),
        ("simulate", ["--processors", _THREE], "'--processors': '\u0663': expected a whole number"),
        ("simulate", ["--processors", "1_0"], "'1_0': expected a whole number"),
        ("simulate", ["--associativity", _THREE], "associativity '\u0663': expected"),
        ("simulate", ["--csv", "q", "--parquet", "q"], "q: two outputs have this name"),
        ("simulate", ["--csv", "q", "--parquet", "./q"], "two outputs have this name"),
        ("simulate", ["--csv", ""], "an output has an empty name"),
        ("export", ["-o", "x", "--format", ""], 'unknown format ""'),
        ("transform select", ["-o", "u.hnt", "--threads", "70000"], "from 0 to 65534"),
        ("transform select", ["-o", "u.hnt", "--pids", "4294967296"], "pids=4294967296: expected"),
        ("transform select", ["-o", "u.hnt", "--from", "marker:no"], "has no such event; it has"),
        ("transform select", ["-o", "u.hnt", "--threads", "9"], "nothing is left"),
    ],
)
def test_an_error_names_the_option(
    command: str,
    options: list[str],
    said: str,
    trace: hn.Trace,
    homenode: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(homenode(*command.split(), trace.path, *options), said)
    assert [path.name for path in tmp_path.iterdir()] == ["small.hnt"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--quantum", "18446744073709551615"], "'--quantum': '18446744073709551615': expected"),
        (["--repeat", _HUGE], "'--repeat'"),
        (["--seed", "4294967295", "--repeat", "2"], "--seed 4294967295 and --repeat 2"),
        (["--seed", _THREE], "'--seed'"),
    ],
)
def test_numbers_of_a_recording_are_bounded(
    options: list[str], said: str, homenode: Command, tmp_path: Path
) -> None:
    refused(homenode("record", "-o", tmp_path / "t.hnt", *options, "--", "true"), said)
    assert list(tmp_path.iterdir()) == []


def test_python_names_the_number_of_a_recording(tmp_path: Path) -> None:
    with pytest.raises(hn.ConfigError, match="quantum: 18446744073709551615: expected"):
        hn.Trace.record(["true"], tmp_path / "t.hnt", quantum=(1 << 64) - 1)
    with pytest.raises(
        hn.ConfigError, match="seed: 4294967296: expected a whole number from 0 to 4294967295"
    ):
        hn.Trace.record(["true"], tmp_path / "t.hnt", seed=1 << 32)


@pytest.mark.parametrize("value", [_THREE, f"{_THREE}.5"])
def test_costs_have_plain_digits(value: str, homenode: Command) -> None:
    refused(homenode("pmap", "t", "--cost", f"fault={value}"), "'--cost'")


def test_two_tables_may_go_to_a_device(trace: hn.Trace, homenode: Command) -> None:
    both = ["--csv", "/dev/null", "--parquet", "/dev/null"]
    assert homenode("simulate", trace.path, "--policy", "ace", *both).code == 0


def test_parquet_goes_to_standard_output_too(
    trace: hn.Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # The output is not text, so it is read from the process.

    line = [sys.executable, "-m", "homenode", "simulate", str(trace.path), "--policy", "ace"]
    done = subprocess.run([*line, "--parquet", "-"], capture_output=True, check=True)
    assert pq.read_table(io.BytesIO(done.stdout)).num_rows == 1
    assert [path.name for path in tmp_path.iterdir()] == ["small.hnt"]


def test_an_error_in_a_machine_on_a_bus_is_not_hidden(
    trace: hn.Trace, homenode: Command, tmp_path: Path
) -> None:
    file = tmp_path / "bus.toml"
    wait = "wait_cycles = { value = 18446744073709551615, source = 'x' }"
    file.write_text(f"name = 'x'\nbase = 'bus-smp'\n[bus]\n{wait}\n")
    done = homenode("simulate", trace.path, "--machine", file, "--protocol", "mesi")
    refused(done, "bus.wait_cycles")


def test_machine_files_that_describe_none(
    trace: hn.Trace, homenode: Command, tmp_path: Path
) -> None:
    file = tmp_path / "m.toml"
    for text, said in (
        ("name = 'x'", "no finite price"),
        ("name = ''\nbase = 'numa'", 'name is ""'),
        ('name = "a\\u001b[31m"\nbase = "numa"', "control characters"),
        ("name = 'x'\nbase = 'numa'\nblock_size_bytes = 3", "block_size_bytes: block size 3"),
    ):
        file.write_text(text)
        refused(homenode("simulate", trace.path, "--machine", file), str(file), said)


def test_a_trace_that_is_not_there_has_a_remedy(homenode: Command) -> None:
    for words in (["info", "no.hnt"], ["simulate", "no.hnt"], ["picture", "no.hnt", "--json"]):
        refused(homenode(*words), "no.hnt: there is no such file", "homenode record", "import")

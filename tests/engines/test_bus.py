"""Machines on a bus: the command line and the Python interface."""

import json
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode.cli import main
from homenode.options.values import address_range
from support.command import Command

# Two processors: one writes, both read, the other one writes; then a private area migrates.
_REFERENCES = [
    (0, "W", 0x1000),
    (1, "R", 0x1000),
    (0, "R", 0x1000),
    (1, "W", 0x1000),
    (0, "R", 0x1000),
    (0, "W", 0x8000),
    (1, "R", 0x8000),
    (0, "R", 0x8000),
]


@pytest.fixture
def trace(tmp_path: Path) -> str:
    thread, kind, address = (list(column) for column in zip(*_REFERENCES, strict=True))
    path = str(tmp_path / "t.hnt")
    hn.Trace.from_numpy(thread=thread, kind=kind, address=address, path=path)
    return path


_CACHE = ["--cache-size", "4096", "--associativity", "2", "--block-size", "32"]


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main([*arguments, "--json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


def test_the_command_of_the_contract(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", trace, "--machine", "bus-smp", "--protocol", "mesi,amsd,pscr"]
    words += ["--processors", "4", *_CACHE, "--order", "trace", "--check"]
    rows = _json(capsys, *words, "--private-range", "0x8000-0x9000")
    assert [row["protocol"] for row in rows] == ["mesi", "amsd", "pscr"]
    for row in rows:
        assert row["references"] == len(_REFERENCES)
        assert row["hits"] + sum(row["misses"].values()) == len(_REFERENCES)
        assert sum(row["coherence"].values()) == (
            row["transactions"]["invalidate"] + row["transactions"]["write"]
        )
        assert (row["cache_size"], row["block_size"], row["associativity"]) == (4096, 32, 2)
        assert (row["processors"], row["order"], row["gsp"]) == (4, "trace", None)
    mesi, _, pscr = rows
    assert mesi["misses"]["invalidation_true"] == 1
    assert mesi["transactions"]["invalidate"] == 1
    assert pscr["misses"]["removal"] == 1
    assert (pscr["transactions"]["write"], pscr["transactions"]["invalidate"]) == (1, 0)
    assert mesi["bus_cycles"] == 68 * 2 + 12 * 3 + 5


def test_every_combination_comes_in_order(trace: str) -> None:
    result = hn.simulate(
        trace,
        "bus-smp",
        protocols=["mesi", "pscr:private_kernel=yes"],
        cache_sizes="1K-4K",
        associativities="1,full",
        block_sizes=[16, 64],
        private_ranges=[(0x8000, 0x9000)],
    )
    keys = [(r["protocol"], r["cache_size"], r["associativity"], r["block_size"]) for r in result]
    assert keys == [
        (protocol, size, ways or size // block, block)
        for protocol in ("mesi", "pscr:private_kernel=yes")
        for size in (1024, 2048, 4096)
        for ways in (1, 0)
        for block in (16, 64)
    ]
    columns = result.columns()
    assert columns["misses_cold"] == [row["misses"]["cold"] for row in result]
    assert columns["kernel_coherence_true"] == [0] * len(result)
    assert result.provenance["private_ranges"] == [[0x8000, 0x9000]]
    assert "misses_removal" in result.to_pandas().columns


def test_the_table_for_people(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", trace, "--protocol", "mesi", *_CACHE]
    assert main([*words, "--order", "trace"]) == 0
    # A title with a long path takes several lines.
    shown = " ".join(capsys.readouterr().out.split())
    assert "bus-smp, 2 processors, 4 KB 2-way, 32 B blocks: 8 references" in shown
    assert "62.5%" in shown
    assert main(["simulate", trace, "--machine", "bus-smp", "--associativity", "full"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "2 MB fully associative, 128 B blocks" in shown
    assert all(row["name"] in shown for row in hn.table("protocols"))


def test_a_machine_in_cycles(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", trace, "--machine", "bus-smp", "--protocol", "mesi,pscr", *_CACHE]
    rows = _json(capsys, *words, "--scaling", "1-2", "--scheduler", "affinity", "--seed", "3")
    keys = [(row["protocol"], row["processors"]) for row in rows]
    assert keys == [("mesi", 1), ("mesi", 2), ("pscr", 1), ("pscr", 2)]
    for row in rows:
        assert row["order"] == "clock"
        time = row["busy_cycles"] + row["delay_cycles"] + row["idle_cycles"]
        assert time == row["processors"] * row["cycles"]
        assert row["busy_cycles"] == 2 * len(_REFERENCES)
        assert 0 < row["gsp"] < row["processors"]
        assert row["gsp"] == pytest.approx(row["processors"] * row["processor_utilisation"])
        assert 0 < row["bus_utilisation"] <= 1
    assert main([*words, "--scaling", "1,2"]) == 0
    shown = capsys.readouterr().out
    assert shown.split().count("power") == 2, "one column a protocol, one line a number"
    assert f"{rows[1]['gsp']:.2f}" in shown
    assert "mesi on bus-smp, 4 KB, 32 B blocks: critical point 1 processor" in shown
    result = hn.simulate(trace, "bus-smp", protocols="mesi", scaling=[1, 2], addresses="trace")
    assert [line["critical_point"] for line in result.scalability] == [1]
    assert result.provenance["addresses"] == "trace"
    assert result.provenance["processors"] == [1, 2]
    assert main([*words, "--order", "trace", "--seed", "1"]) == 2
    assert "seed is for order clock" in capsys.readouterr().err
    for bad in ("0", "x", "5-4", "1025", ""):
        assert main([*words, "--scaling", bad]) == 2
        assert "expected numbers from 1 to 1024" in capsys.readouterr().err


def test_the_window_counts_instructions_that_the_trace_has_and_issues(
    homenode: Command, tmp_path: Path
) -> None:
    text, trace = tmp_path / "t.txt", tmp_path / "t.hnt"

    def cycles(lines: list[str], *words: str) -> int:
        text.write_text("\n".join(lines))
        assert homenode("import", text, "-o", trace).code == 0
        line = ("simulate", trace, "--machine", "bus-smp", "--protocol", "mesi", *_CACHE)
        found: int = json.loads(homenode(*line, *words, "--json").out)[0]["cycles"]
        return found

    # A miss of 68 cycles and ten hits, each with nine other instructions before it: six are within
    # 64 instructions of the miss and begin meanwhile, four are not and take 2 cycles each after it.
    counted = ["0 R 0x1000", *["0 R 0x1004 gap=9"] * 10]
    assert cycles(counted) == 68 + 4 * 2
    # Without those the window is full after 16 cycles, when seven have begun.
    assert cycles([line.partition(" gap")[0] for line in counted]) == 68 + 3 * 2
    # If a trace has fetches, they are all its instructions: the load after the first one, which
    # takes 68 cycles and 2, has seven hits in its 16 cycles.
    assert cycles(["0 I 0x1008 4", "0 R 0x2000", *counted[1:]]) == 70 + 68 + 3 * 2
    # The second miss asks at 8, when the bus is free. The hit is instruction 65, behind the window
    # of the first miss, and then behind that of the second, which is full. Without the second miss
    # it still is instruction 65.
    private = ["0 R 0x1000", "0 R 0x9000 gap=62 flags=private", "0 R 0x1004"]
    assert cycles(private) == 8 + 68 + 2
    assert cycles(private, "--private", "exclude") == 68 + 2


def test_pictures_have_a_line_a_protocol_and_cache(trace: str) -> None:
    result = hn.simulate(trace, "bus-smp", protocols="mesi,pscr", scaling="1-2")
    power, bus = result.plot().axes
    assert [line.get_label() for line in power.lines] == ["mesi", "pscr"]
    for panel, field, scale in ((power, "gsp", 1), (bus, "bus_utilisation", 100)):
        drawn = [value for line in panel.lines for value in line.get_ydata()]
        assert drawn == [scale * row[field] for row in result]
    sizes = hn.simulate(
        trace, "bus-smp", protocols="mesi", cache_sizes="2K,4K", block_sizes=[32, 64]
    )
    power, _ = sizes.plot().axes
    assert [line.get_label() for line in power.lines] == ["mesi, 32 B blocks", "mesi, 64 B blocks"]
    with pytest.raises(hn.ConfigError, match="no line to draw"):
        hn.simulate(trace, "bus-smp", protocols="mesi,pscr").plot()
    with pytest.raises(hn.ConfigError, match="no line to draw"):
        hn.simulate(trace, "bus-smp", protocols="mesi", scaling="1-2", order="trace").plot()


def test_synchronisation_counts_unless_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "s.hnt")
    hn.Trace.from_numpy(thread=0, kind="R", address=[0, 64], flags=[2, 0], path=path)
    words = ["simulate", path, "--protocol", "mesi", "--machine", "bus-smp"]
    assert _json(capsys, *words)[0]["references"] == 2
    assert _json(capsys, *words, "--sync", "exclude")[0]["references"] == 1
    assert _json(capsys, *words, "--sync", "include")[0]["references"] == 2


def test_machines_of_the_two_kinds_do_not_mix(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [
        (["--machine", "numa,bus-smp"], "one kind at a time"),
        (["--machine", "numa", "--protocol", "mesi"], "--protocol is for machines with caches"),
        (["--machine", "numa", "--cache-size", "4K"], "--cache-size is for machines with caches"),
        (["--machine", "ace", "--check"], "--check is for machines with caches"),
        (["--machine", "bus-smp", "--policy", "ace"], "--policy is for machines with prices"),
        (["--machine", "bus-smp", "--realign"], "--realign is for machines with prices"),
        (["--machine", "bus-smp", "--force"], "--force is for machines with prices"),
        (["--protocol", "mesif"], "expected one of mesi, amsd, pscr, moesi, dragon"),
        (
            ["--protocol", "mesi", "--associativity", "two"],
            "expected a whole number from 1, or full",
        ),
        (["--protocol", "mesi", "--cache-size", "100"], "cache size 100 bytes"),
        (["--protocol", "mesi", "--cache-size", "0"], "cache size '0' is not a number of bytes"),
        (["--protocol", "mesi", "--private-range", "5"], "expected LO-HI"),
        (["--protocol", "mesi", "--private-range", "0x20-0x10"], "one past the last"),
    ]
    for words, message in cases:
        assert main(["simulate", trace, *words]) == 2, words
        error = capsys.readouterr().err
        assert message in error, error
        assert error.count("\n") == 1, error


@pytest.mark.parametrize(
    ("machine", "option", "flag", "value"),
    [
        ("bus-smp", "policies", "--policy", "ace"),
        ("bus-smp", "word_bytes", "--word-bytes", "4"),
        ("numa", "protocols", "--protocol", "mesi"),
        ("numa", "cache_sizes", "--cache-size", "4K"),
    ],
)
def test_an_error_names_the_option_as_the_caller_wrote_it(
    trace: str,
    capsys: pytest.CaptureFixture[str],
    machine: str,
    option: str,
    flag: str,
    value: str,
) -> None:
    with pytest.raises(hn.ConfigError, match=f"^{option} is for machines with") as error:
        hn.simulate(trace, machine, **{option: value})  # type: ignore[arg-type]
    assert "--" not in str(error.value)
    assert main(["simulate", trace, "--machine", machine, flag, value]) == 2
    said = capsys.readouterr().err
    assert said == f"homenode: error: {str(error.value).replace(option, flag)}\n"


def test_a_machine_in_a_file(
    trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'name = "mine"\nkind = "bus"\nbase = "bus-smp"\n'
        '[cache]\nsize_bytes = { value = 65536, source = "test" }\n'
        '[transactions.write]\nterms = { constant = 7 }\nsource = "test"\n'
    )
    words = ["simulate", trace, "--machine", f"{file},bus-smp", "--protocol", "dragon"]
    mine, paper = _json(capsys, *words, "--order", "trace")
    assert (mine["machine"], mine["cache_size"], paper["cache_size"]) == ("mine", 65536, 2 << 20)
    assert mine["bus_cycles"] - paper["bus_cycles"] == 2 * mine["transactions"]["write"]
    file.write_text('kind = "bus"\nbase = "bus-smp"\n[cache]\nways = 2\n')
    assert main([*words[:4], "--protocol", "mesi"]) == 2
    assert main(["simulate", trace, "--machine", str(file), "--protocol", "mesi"]) == 2
    assert "unknown field `ways`" in capsys.readouterr().err


def test_protocols_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-protocol"]) == 0
    shown = capsys.readouterr().out
    listed = hn.table("protocols") + hn.table("directory-protocols")
    assert all(row["name"] in shown for row in listed)
    assert shown.count("none") == len(listed)
    (report,) = _json(capsys, "check-protocol", "amsd")
    assert (report["protocol"], report["caches"], report["findings"]) == ("amsd", 4, [])
    assert report["situations"] > 50
    assert main(["check-protocol", "mosi"]) == 2
    assert "expected one of mesi" in capsys.readouterr().err


def test_findings_have_their_steps(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = {"kind": "stale-read", "message": "old", "steps": ["first", "second"], "caches": 2}
    report = {
        "protocol": "mine",
        "caches": 2,
        **dict.fromkeys(("states", "cells", "impossible", "situations", "events"), 1),
        "findings": [finding],
    }
    monkeypatch.setattr("homenode.engines.bus.check_protocols", lambda *_: [report])
    assert main(["check-protocol", "mine"]) == 1
    assert "mine: old\n  1. first\n  2. second\n" in capsys.readouterr().out
    assert main(["check-protocol", "mine", "--json"]) == 1


def test_lists_know_protocols_and_machines() -> None:
    protocols = {row["name"]: row for row in hn.table("protocols")}
    by_caches, from_memory = ["mesi", "amsd", "pscr"], ["mesi-memory", "amsd-memory", "pscr-memory"]
    assert list(protocols) == [*by_caches, "moesi", "dragon", *from_memory]
    for name in by_caches:
        assert protocols[f"{name}-memory"]["states"] == protocols[name]["states"]
        assert protocols[f"{name}-memory"]["parameters"] == protocols[name]["parameters"]
    assert protocols["amsd"]["states"] == ["I", "E", "S", "S2", "M", "MC", "MD"]
    assert protocols["pscr"]["parameters"][0]["name"] == "private_kernel"
    machines = {row["name"]: row for row in hn.table("machines")}
    assert machines["bus-smp"]["model"] == "bus"
    assert machines["bus-smp"]["transactions"]["read_block_memory"] == 80


def test_other_commands_say_what_a_machine_on_a_bus_is_for(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["report", trace, "-o", "r.html"], ["optimal", trace], ["advise", trace]):
        assert main([*words, "--machine", "bus-smp"]) == 2
        assert "--protocol" in capsys.readouterr().err
    rows = _json(capsys, "list", "machines", "--block-size", "4,64")
    assert [row["block_size"] for row in rows if row["name"] == "bus-smp"] == [64]
    assert sum(row["name"] == "numa" for row in rows) == 2


def test_ranges_of_addresses(trace: str) -> None:
    assert address_range("0x10-32") == [16, 32]
    assert address_range((0, 1 << 40)) == [0, 1 << 40]
    for bad in ("10", "a-b", "2-1", "5-5", (3, 2), (-1, 2), (0, 1 << 65)):
        with pytest.raises(hn.ConfigError, match="private range"):
            address_range(bad)
    with pytest.raises(hn.ConfigError, match="there is no option protocol"):
        hn.simulate(trace, "bus-smp", protocols="mesi", protocol="x")  # type: ignore[call-arg]


def test_points_are_simulated_instead_of_all_combinations() -> None:
    points = [
        {"protocol": "pscr", "cache_size": 4096, "block_size": 32, "processors": 2},
        {"protocol": "mesi", "cache_size": 2048, "block_size": 64, "scheduler": "affinity"},
    ]
    trace = hn.Trace.from_numpy(
        thread=[i % 4 for i in range(400)],
        kind=["W" if i % 3 == 0 else "R" for i in range(400)],
        address=[64 * (i * 7 % 50) for i in range(400)],
    )
    found = hn.simulate(trace, points=points)
    shown = [(row["protocol"], row["cache_size"], row["block_size"]) for row in found]
    assert shown == [("pscr", 4096, 32), ("mesi", 2048, 64)]
    assert [row["processors"] for row in found] == [2, 4]
    alone = hn.simulate(
        trace,
        "bus-smp",
        protocols="mesi",
        cache_sizes=2048,
        block_sizes=64,
        processors=4,
        scheduler="affinity",
    )
    assert alone.rows == found.rows[1:]


@pytest.mark.parametrize(
    ("point", "options", "said"),
    [
        ({"cache_size": 4096}, {}, "a point names no protocol"),
        ({"protocol": "mesi", "ways": 2}, {}, "there is no option ways"),
        ({"protocol": "mesi"}, {"block_sizes": 32}, "leave out block_sizes"),
        ({"protocol": "mesi"}, {"protocols": "pscr"}, "leave out protocols"),
    ],
)
def test_points_that_say_too_little_or_too_much(
    point: dict[str, Any], options: dict[str, Any], said: str
) -> None:
    trace = hn.Trace.from_numpy(thread=[0], kind=["R"], address=[0])
    with pytest.raises(hn.ConfigError, match=said):
        hn.simulate(trace, points=[point], **options)


def test_results_say_where_the_kernel_comes_from(homenode: Command, tmp_path: Path) -> None:
    for kernel, said in (([0, 1], "captured"), ([0, 0], "none")):
        trace = hn.Trace.from_numpy(
            thread=[0, 1], kind="R", address=[0, 64], kernel=kernel, path=tmp_path / "t.hnt"
        )
        for order in ("clock", "trace"):
            row = hn.simulate(trace, "bus-smp", protocols="mesi", order=order).rows[0]
            assert row["kernel_activity"] == said
            words = ("--machine", "bus-smp", "--protocol", "mesi", "--order", order)
            assert f"kernel activity {said}" in homenode("simulate", trace.path, *words).out


def test_a_kernel_is_made_up_for_traces_without_one(homenode: Command, tmp_path: Path) -> None:
    trace = hn.Trace.from_numpy(thread=[0, 1], kind="R", address=[0, 64], path=tmp_path / "t.hnt")
    result = hn.simulate(trace, "bus-smp", protocols="mesi", processors=1, kernel_model=True)
    row = result.rows[0]
    assert row["kernel_activity"] == "modelled"
    # Each of two switches: six references and `switch_words`.
    words = result.provenance["kernel_model"]["switch_words"]
    assert row["kernel"]["references"] == 2 * (6 + words) == row["references"] - 2
    flags = ("simulate", trace.path, "--machine", "bus-smp", "--kernel-model")
    assert "kernel activity modelled" in homenode(*flags).out
    assert "kernel_model is for order clock" in homenode(*flags, "--order", "trace").err
    with_kernel = hn.Trace.from_numpy(thread=[0], kind="R", address=[0], kernel=[1])
    with pytest.raises(hn.ConfigError, match="the kernel's references already"):
        hn.simulate(with_kernel, "bus-smp", protocols="mesi", kernel_model=True)

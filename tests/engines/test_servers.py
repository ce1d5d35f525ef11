"""`homenode.servers` and `homenode synthetic servers`: traces from statistics."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import homenode as hn
from homenode import _core
from support.command import Command

PAGE = Path(__file__).parents[2] / "docs" / "servers.md"


def example() -> str:
    """The file that the page shows."""
    found = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(example(), encoding="utf-8")
    return path


def measured(trace: hn.Trace, groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What homenode counts in the trace for each group."""
    pids = [[1 + group["first_process"] + i for i in range(group["processes"])] for group in groups]
    question = {"block_size": 32, "groups": pids, "kernel": True}
    found: list[dict[str, Any]] = json.loads(_core.footprint(str(trace.path), json.dumps(question)))
    return found


def test_the_trace_has_what_the_report_says(file: Path) -> None:
    trace = hn.servers(file)
    report = trace.report
    assert report is not None
    info = trace.info
    assert info["references"] + info["fetches"] == report["references"] == 400_000
    assert [one["names"] for one in info["metadata"]["processes"]] == [["server"]] * 4 + [
        ["utility"]
    ]
    for group, counts in zip(report["groups"], measured(trace, report["groups"]), strict=True):
        for name in ("processes", "references", "distinct_blocks", "shared_blocks"):
            assert counts[name] == group[name], (group["name"], name)
        for name, count in (
            ("code", counts["fetches"]),
            ("data_write", counts["writes"]),
            ("shared_access", counts["shared_references"]),
            ("shared_write", counts["shared_writes"]),
            ("kernel", counts["kernel"]),
        ):
            assert 100 * count / counts["references"] == pytest.approx(group[name], rel=0.1), name


@pytest.mark.parametrize("name", [row["name"] for row in hn.table("servers")])
def test_presets_have_the_shares_of_the_paper_at_any_scale(name: str) -> None:
    trace = hn.servers(name, scale=200)
    report = trace.report
    assert report is not None
    assert (report["references"], report["processes"]) == (650_000, 26)
    for group, counts in zip(report["groups"], measured(trace, report["groups"]), strict=True):
        assert counts["distinct_blocks"] == group["distinct_blocks"], group["name"]
        assert counts["shared_blocks"] == group["shared_blocks"], group["name"]
        code = 100 * counts["fetches"] / counts["references"]
        assert code == pytest.approx(group["code"], abs=1), group["name"]


def test_other_commands_know_processes_kernel_and_names(file: Path, homenode: Command) -> None:
    trace = hn.servers(file, file.with_name("t.hnt"), references=100_000)
    points = [
        {"protocol": protocol, "processors": 4} for protocol in ("mesi-memory", "pscr-memory")
    ]
    mesi, pscr = hn.simulate(trace, points=points, restart=True).flat_rows()
    assert mesi["kernel_misses_cold"] > 0
    assert pscr["coherence_passive"] == 0 < mesi["coherence_true"]
    shown = homenode("sharing", str(trace.path), "--machine", "cc", "--block-size", "64")
    assert shown.code == 0
    assert "shared data of server" in shown.out or "shared data of the kernel" in shown.out


def test_seed_and_references_replace_those_of_the_file(file: Path) -> None:
    checksums = {
        hn.servers(file, references=200_000, seed=seed).info["checksum"] for seed in (1, 1, 2)
    }
    assert len(checksums) == 2
    with pytest.raises(hn.ConfigError, match=r"^seed"):
        hn.servers(file, seed=-1)
    with pytest.raises(hn.ConfigError, match=r"^scale"):
        hn.servers(file, scale=0)


def test_the_command_prints_a_table_or_json(file: Path, homenode: Command) -> None:
    path = file.with_name("t.hnt")
    done = homenode("synthetic", "servers", "--from", str(file), "-o", str(path))
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(f"{path}: 400,000 references and fetches\n")
    assert re.search(r"server +4 +360,000 +1,280 +90 +74", done.out), done.out
    other = str(file.with_name("u.hnt"))
    line = ("synthetic", "servers", "--from", "foglia-web", "--scale", "400", "-o", other)
    said = json.loads(homenode(*line, "--json").out)
    assert (said["trace"], said["from"], said["processes"]) == (other, "foglia-web", 26)
    assert [row["name"] for row in hn.table("servers")] == ["foglia-ec", "foglia-db", "foglia-web"]
    assert "26 Apache" in homenode("list", "servers").out


def test_values_replace_those_of_the_file(file: Path, homenode: Command) -> None:
    trace = hn.servers(file, values={"group.server.kernel": 50, "sessions.accesses": 24})
    report = trace.report
    assert report is not None
    assert [group["kernel"] for group in report["groups"]] == [50, 0]
    line = ("synthetic", "servers", "--from", str(file), "-o", str(file.with_name("t.hnt")))
    assert homenode(*line, "--set", "group.server.code=73.99").code == 0
    refused = homenode(*line, "--set", "sessions.length=24")
    assert (refused.code, 'there is no "length"' in refused.err) == (2, True), refused.err
    refused = homenode(*line, "--set", "sessions.accesses")
    assert (refused.code, "KEY=VALUE" in refused.err) == (2, True), refused.err


def test_impossible_statistics_are_refused_in_one_sentence(file: Path, homenode: Command) -> None:
    file.write_text(example().replace("shared_blocks = 90 ", "shared_blocks = 9000 "))
    path = file.with_name("t.hnt")
    refused = homenode("synthetic", "servers", "--from", str(file), "-o", str(path))
    said = 'group "server": shared_blocks = 9000: more than distinct_blocks = 1200; lower'
    assert (refused.code, said in " ".join(refused.err.split())) == (2, True), refused.err
    assert list(file.parent.iterdir()) == [file]
    unknown = homenode("synthetic", "servers", "--from", "foglia", "-o", str(path))
    assert (unknown.code, "foglia-ec" in unknown.err) == (2, True)
    kind = homenode("synthetic", "t-x", "-o", str(path))
    assert (kind.code, "t-f, t-s, t-gamma, servers" in kind.err) == (2, True)

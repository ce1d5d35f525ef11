"""The page manager: from Python and from the command line."""

import json
from typing import Any

import pytest

import homenode as hn
from homenode.engines.pmap import page_actions
from support.command import Command


def test_the_report_is_that_of_the_command(trace: hn.Trace, homenode: Command) -> None:
    shown = homenode("pmap", trace.path, "--page-size", "1K", "--limit", 2, "--pages", 3, "--json")
    assert shown.code == 0
    report = hn.pmap(trace, "1K", limit=2, count=3)
    assert json.loads(shown.out) == report
    assert report["page_size"] == 1024
    assert report["counts"]["pins"] > 0
    assert len(report["busiest"]) == 3


def test_text_has_every_count_and_the_cells_used(trace: hn.Trace, homenode: Command) -> None:
    shown = homenode("pmap", trace.path)
    report = hn.pmap(trace)
    assert shown.code == 0
    assert all(name.replace("_", " ") in shown.out for name in report["counts"])
    used = [row for row in report["faults"] if row["count"]]
    assert used
    assert all(row["actions"] in shown.out for row in used)
    assert all(page["address"] in shown.out for page in report["busiest"])


@pytest.mark.parametrize("owner_copy", ["flush", "keep"])
def test_the_table_is_printed_without_a_trace(owner_copy: str, homenode: Command) -> None:
    rows = page_actions(owner_copy)
    assert len(rows) == 16
    assert json.loads(homenode("pmap", "--table", "--owner-copy", owner_copy, "--json").out) == rows
    shown = homenode("pmap", "--table", "--owner-copy", owner_copy)
    assert shown.code == 0
    assert all(row["actions"] in shown.out for row in rows)
    assert ("protect" in shown.out) == (owner_copy == "keep")


def test_costs_change_the_kernels_time_and_nothing_else(trace: hn.Trace) -> None:
    usual = hn.pmap(trace)
    costly = hn.pmap(trace, costs={"fault": 1000, "flush": 3.5})
    assert costly["counts"] == usual["counts"]
    assert costly["kernel_time"]["faults_s"] == pytest.approx(usual["counts"]["faults"] * 1e-3)
    assert costly["kernel_time"]["flushes_s"] == pytest.approx(usual["counts"]["flushes"] * 3.5e-6)
    assert costly["kernel_time"]["copies_s"] == usual["kernel_time"]["copies_s"]


def test_a_limit_of_none_is_all_global(trace: hn.Trace) -> None:
    nothing, everything = (
        hn.pmap(trace, limit=limit, policy=policy)
        for limit, policy in ((0, "limit"), (9, "all-global"))
    )
    assert nothing["counts"] == everything["counts"]
    assert nothing["counts"]["local_reads"] == 0
    assert nothing["locality"]["alpha"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no trace given; name one, or give --table"),
        (["T", "--policy", "lru"], "expected one of limit, limit-writes, all-global"),
        (["T", "--page-size", "3000"], "3000"),
        (["T", "--page-size", "64-128"], "'64-128': expected one page size"),
        (["T", "--cost", "walk=3"], "the costs are local-fetch"),
        (["T", "--cost", "fault"], "expected name=microseconds"),
        (["T", "--cost", "fault=-3"], "0 or more"),
        (["T", "--limit", "-1"], "--limit"),
        (["missing.hnt"], "missing.hnt"),
    ],
)
def test_what_cannot_be_used_is_an_error_of_usage(
    words: list[str], message: str, trace: hn.Trace, homenode: Command
) -> None:
    shown = homenode("pmap", *(trace.path if word == "T" else word for word in words))
    assert (shown.code, shown.out) == (2, "")
    assert message in shown.err


@pytest.mark.parametrize(
    "options",
    [{"limit": 1.5}, {"owner_copy": "lose"}, {"count": -1}, {"speed": 1}, {"page_size": "64,128"}],
)
def test_options_are_checked(options: dict[str, Any], trace: hn.Trace) -> None:
    with pytest.raises(hn.ConfigError):
        hn.pmap(trace, **options)

"""Errors name what the user said, and give advice that can be followed."""

from pathlib import Path

import pytest

import homenode as hn
from support.command import Command

_NO_DIRECTORY = "a picture of pages is of a machine with a directory, such as dash-mesh"
_NO_OPTIMUM = "machine markatos has latencies, from which no optimum can be found"
_CONTROLLERS = "machine alite: where nodes have controllers, waits are not split by cause"
_ORDERS = "machine bus-smp: orders are compared on machines with prices of references"


@pytest.mark.parametrize(
    ("command", "said", "unsaid"),
    [
        ("picture T --machine bus-smp -o o.svg", f"--machine bus-smp: {_NO_DIRECTORY}", "--home"),
        ("picture T --machine numa -o o.svg", f"--machine numa: {_NO_DIRECTORY}", "--home"),
        ("optimal T --machine markatos", _NO_OPTIMUM, "--policy"),
        ("optimal T --machine numa,markatos", _NO_OPTIMUM, "--policy"),
        ("sharing T --machine markatos", _NO_OPTIMUM, "--policy"),
        ("sharing T --machine cc,markatos", _NO_OPTIMUM, "--policy"),
        ("sharing T --machine alite", _CONTROLLERS, "lines requires"),
        ("advise T --machine alite", _CONTROLLERS, "lines requires"),
        ("sensitivity T --machine alite", _CONTROLLERS, "lines requires"),
        ("report T --machine alite -o o.html", _CONTROLLERS, "lines requires"),
        ("sensitivity T --machine bus-smp --block-size 64", _ORDERS, "internal"),
        ("explain dash --machine numa", "such as --machine dash-mesh", "bus-smp"),
        ("explain dash --machine bus-smp", "such as --machine dash-mesh", "simulate"),
        ("explain lrc:x=1 --machine numa", "such as --machine dash-mesh", "bus-smp"),
        ("explain sdd --machine numa", "such as --machine alite", "bus-smp"),
        ("explain mesi --machine numa", "such as --machine bus-smp", "dash-mesh"),
        ("record -o o.hnt -- no-such", "no-such: no program of this name is in PATH", "entity"),
        ("record --via qemu -o o.hnt -- no-such", "no-such: no program of this name", "entity"),
        ("run -- no-such", "no-such: no program of this name is in PATH", "entity"),
    ],
)
def test_an_error_is_about_what_was_said(
    homenode: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    said: str,
    unsaid: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    hn.synthetic("t-s", references=100, path="t.hnt")
    done = homenode(*command.replace("T", "t.hnt").split())
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert unsaid not in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["t.hnt"]


@pytest.mark.parametrize("protocol", ["dash", "lrc", "sdd", "mesi"])
def test_the_advised_machine_explains_the_protocol(homenode: Command, protocol: str) -> None:
    refused = homenode("explain", protocol, "--machine", "numa")
    advised = refused.err.rpartition("--machine ")[2].strip()
    assert homenode("explain", protocol, "--machine", advised).code == 0

"""Options are declared once: the command line, the types and the documentation follow."""

from collections.abc import Iterable
from pathlib import Path

import pytest

import homenode as hn
from homenode.cli.options import given_options, only_on
from homenode.engines import advise, placement, sensitivity, sharing
from homenode.options import typed
from homenode.options.checked import checked, only_declared
from homenode.options.declared import STUDIES, options_of, schema
from homenode.options.generate import generated
from support.command import Command

_ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", generated())
def test_what_follows_from_the_declarations_is_written_down(path: str) -> None:
    assert (_ROOT / path).read_text(encoding="utf-8") == generated()[path], "make generate"


@pytest.mark.parametrize("study", STUDIES)
def test_missing_options_have_the_defaults_of_the_schema(study: str) -> None:
    config = checked(study, {})
    declared = options_of(study)
    assert config == {name: declared[name].default for name in config}


def test_options_of_a_kind_of_machine_are_found_from_its_configuration() -> None:
    assert "miss_rule" in only_on("bus")
    assert "policies" in only_on("simulate")
    assert not {"processors", "sync", "threads"} & {*only_on("bus"), *only_on("simulate")}


def test_choices_and_their_meanings_come_from_the_engine() -> None:
    rule = options_of("bus")["miss_rule"]
    assert list(rule.choices) == ["dubois", "torrellas"]
    assert "`dubois`: when words that others wrote" in rule.text()
    assert rule.text().endswith("Default: `dubois`.")


def test_internal_options_are_only_in_the_schema() -> None:
    assert "memory_budget_bytes" in schema("simulate")["properties"]
    assert "memory_budget_bytes" not in options_of("simulate")


def test_the_number_0_counts_as_given() -> None:
    assert given_options({"seed": 0, "check": False, "scaling": None, "blocks": ()}) == {"seed": 0}


def test_an_option_that_is_not_declared_is_refused() -> None:
    with pytest.raises(hn.ConfigError, match="no option mode; the options are stretches, slices"):
        only_declared("picture", {"mode": "fast"})


def test_the_types_have_every_option_but_the_arguments() -> None:
    for name, study in (("BusOptions", "bus"), ("SharingOptions", "sharing")):
        declared = {o.name for o in options_of(study).values() if not o.argument}
        assert set(getattr(typed, name).__annotations__) == declared


@pytest.mark.parametrize(("study", "command"), [("pmap", "pmap"), ("explain", "explain")])
def test_the_help_says_what_the_declaration_says(
    study: str, command: str, homenode: Command
) -> None:
    shown = homenode(command, "--help")
    words = " ".join(shown.out.split())
    for option in options_of(study).values():
        if option.flag is not None:
            assert option.flag in words
            assert " ".join(option.text().replace("`", "").split())[:40] in words


def test_the_documented_defaults_are_those_used() -> None:
    def listed(machines: Iterable[str]) -> str:
        return ", ".join(f"`{name}`" for name in machines)

    said = {study: options_of(study)["machines"].default_text for study in ("simulate", "advise")}
    assert said == {"simulate": listed(placement.MACHINES), "advise": listed([advise.MACHINE])}
    found = options_of("sharing")
    assert found["machines"].default_text == listed(sharing.MACHINES)
    assert found["block_sizes"].default_text == "64, 4K"
    assert sharing.BLOCK_SIZES == (64, 4096)
    assert str(found["detail"].default_text).startswith("64 where it is among the block sizes")
    assert (sharing.usual_detail([4096, 64]), sharing.usual_detail([4096, 128, 512])) == (64, 512)
    assert options_of("sensitivity")["machines"].default_text == listed(sensitivity.MACHINES)
    assert options_of("sensitivity")["block_sizes"].default_text == "4K, with prices"
    policies = str(options_of("advise")["policies"].default_text)
    for machine in ("spr-2s-lines", "dash-mesh", "markatos", "cc", "numa"):
        assert f"`{advise.usual_point(machine)[0]}`" in policies


def test_machines_of_pages_have_processors_of_their_own() -> None:
    assert "the machine's" in str(options_of("simulate")["processors"].default_text)
    wide = hn.Trace.from_numpy(thread=[*range(9)], kind="R", address=[64] * 9)
    for machine, expected in (("spr-2s", 2), ("numa", 9)):
        assert hn.simulate(wide, machine, "first-touch", 4096).rows[0]["processors"] == expected


def test_the_help_of_simulate_says_each_kind_of_machines_default(homenode: Command) -> None:
    words = " ".join(homenode("simulate", "--help").out.split())
    assert "Default: spr-2s; with caches bus-smp, with a directory dash-mesh." in words
    assert "Default: exclude; with caches and with a directory include." in words
    assert "a processor for each thread of the trace. homenode run has 8 by default" in words
    runs = " ".join(homenode("run", "--help").out.split())
    assert "Default: 8, as the number of threads is not known in advance" in runs
    assert "without --machine 4K, 32K" in " ".join(homenode("report", "--help").out.split())

"""A value of a type that an option cannot have is an error that names the option."""

from pathlib import Path
from typing import Any

import pytest

import homenode as hn


def _trace() -> hn.Trace:
    return hn.synthetic("t-s", references=100)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"points": 3}, r"points: 3: expected a list of dictionaries"),
        ({"points": [3]}, r"points: 3: expected a list of dictionaries"),
        ({"points": "mesi"}, r"points: 'mesi': expected a list of dictionaries"),
        ({"points": {"protocol": "mesi"}}, r"points: {'protocol': 'mesi'}: expected a list"),
        ({"points": [{"protocol": 3}]}, r"protocol: 3: expected text"),
        ({"points": [{"protocol": "mesi", "machine": 3}]}, r'unknown machine "3"'),
        ({"machines": 3}, r"machine 3: expected a name"),
        ({"machines": [3]}, r"machine 3: expected a name"),
        ({"policies": 3}, r"policy 3: expected a name"),
        ({"machines": "bus-smp", "protocols": [3]}, r"protocol 3: expected a name"),
        ({"homes": 3}, r"homes \(--home\): home 3: expected a name"),
        ({"replications": 3}, r"replication 3: expected a name"),
        ({"filter": 3}, r"filter: 3: expected text"),
        ({"machines": "bus-smp", "private_ranges": 3}, r"private range 3: expected LO-HI"),
        ({"machines": "bus-smp", "private_ranges": [3]}, r"private range 3: expected LO-HI"),
        ({"machines": "bus-smp", "private_ranges": [(0, None)]}, r"private range \(0, None\)"),
        ({"machines": "bus-smp", "private_ranges": [(0, 2.5)]}, r"private range \(0, 2\.5\)"),
    ],
)
def test_of_a_simulation(options: dict[str, Any], said: str) -> None:
    with pytest.raises(hn.ConfigError, match=said):
        hn.simulate(_trace(), **options)


def test_of_other_studies() -> None:
    with pytest.raises(hn.ConfigError, match=r"costs.*: 3: expected text"):
        hn.pmap(_trace(), costs=3)  # type: ignore[arg-type]
    with pytest.raises(hn.ConfigError, match=r"blocks.*: 2.5: expected an address"):
        hn.explain("mesi", _trace(), blocks=2.5)  # type: ignore[arg-type]
    with pytest.raises(hn.ConfigError, match="placement: 3: expected the name of a file"):
        hn.optimal(_trace(), "numa", 64, placement=3)  # type: ignore[arg-type]


def test_one_text_is_one_value_and_an_iterator_is_read_once(tmp_path: Path) -> None:
    bus: Any = {"machines": "bus-smp", "protocols": "mesi"}
    several = hn.simulate(_trace(), private_ranges=["0x0-0x1000"], **bus)
    assert hn.simulate(_trace(), private_ranges="0x0-0x1000", **bus).rows[0] | {
        "trace": ""
    } == several.rows[0] | {"trace": ""}
    found = hn.simulate(_trace(), points=iter([{"protocol": "mesi"}]))
    assert [row["protocol"] for row in found] == ["mesi"]
    hn.optimal(_trace(), "numa", 64, placement=tmp_path / "p.csv")
    assert (tmp_path / "p.csv").exists()

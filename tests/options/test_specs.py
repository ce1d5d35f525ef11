"""Lists of machines, policies and block sizes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homenode import ConfigError
from homenode.options.specs import format_size, unique
from homenode.options.values import sizes_of, specs_of

_NAME = st.from_regex(r"[a-z][a-z+.-]{0,8}", fullmatch=True)
_VALUE = st.from_regex(r"[a-z0-9/.]{1,6}", fullmatch=True)
_ITEM = st.builds(
    lambda name, params: name + (":" + ",".join(f"{k}={v}" for k, v in params) if params else ""),
    _NAME,
    st.lists(st.tuples(st.from_regex(r"[A-Za-z][a-z0-9-]{0,3}", fullmatch=True), _VALUE)),
)


@given(st.lists(_ITEM, min_size=1, unique=True))
def test_items_come_back_whatever_parameters_they_have(items: list[str]) -> None:
    assert specs_of(",".join(items), "policy") == items


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("ace", ["ace"]),
        ("prices:r=15,R=59", ["prices:r=15,R=59"]),
        ("prices:r=15,R=59,ace,cc+", ["prices:r=15,R=59", "ace", "cc+"]),
        ("delay:n=50,limit=2,optimal", ["delay:n=50,limit=2", "optimal"]),
        (
            "upt.del:counter=words/8,inv.freez:f=1,d=2",
            ["upt.del:counter=words/8", "inv.freez:f=1,d=2"],
        ),
        (" ace , delay:n=5 ", ["ace", "delay:n=5"]),
        ("ace,ace", ["ace"]),
        ("prices:r=inf,R=3,./my=file.toml", ["prices:r=inf,R=3", "./my=file.toml"]),
    ],
)
def test_lists_with_parameters(text: str, items: list[str]) -> None:
    assert specs_of(text, "machine") == items


@pytest.mark.parametrize("text", ["", "ace,", ",ace", "ace,,cc", "n=5", "ace,n=5"])
def test_bad_lists_say_what_is_wrong(text: str) -> None:
    with pytest.raises(ConfigError, match=r"empty policy|belongs to no policy"):
        specs_of(text, "policy")


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("64", [64]),
        ("4K", [4096]),
        ("8KB", [8192]),
        ("1MiB", [1 << 20]),
        ("64-512", [64, 128, 256, 512]),
        ("64-64", [64]),
        ("64-256,4k,128", [64, 128, 256, 4096]),
    ],
)
def test_block_sizes(text: str, sizes: list[int]) -> None:
    assert sizes_of(text) == sizes


@pytest.mark.parametrize(
    "text",
    ["", "0", "3", "65", "2", "2G", "64-", "-64", "512-64", "64-500", "x", "4KK", "6.4", "²"],
)
def test_bad_block_sizes_say_what_is_wrong(text: str) -> None:
    with pytest.raises(ConfigError, match=r"block size|block-size range"):
        sizes_of(text)


@given(st.integers(2, 30))
def test_a_size_reads_back_as_written(power: int) -> None:
    assert sizes_of(format_size(1 << power).replace(" ", "")) == [1 << power]


@given(st.lists(st.integers(0, 9)))
def test_unique_keeps_first_occurrences(items: list[int]) -> None:
    found = unique(items)
    assert sorted(found) == sorted(set(items))
    assert [items.index(i) for i in found] == sorted(items.index(i) for i in found)

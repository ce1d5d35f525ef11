"""The report about machines with a directory, and its picture of pages."""

import re

import numpy as np
import pytest

import homenode as hn
from homenode.report import directory, page_use


@pytest.fixture(scope="module")
def report() -> directory.DirectoryReport:
    return directory.directory(hn.synthetic("t-s", references=4001), "dash-mesh")


def _use(pages: int, nodes: int, objects: list[int]) -> hn.PageUse:
    """Each page is filled once by the node of its number, and has its home at node 0."""
    each = np.arange(pages)
    none = np.zeros(0, np.uint64)
    return hn.PageUse(
        page_bytes=4096,
        nodes=nodes,
        objects=[f"object {number}" for number in range(max(objects) + 1)],
        page_address=(4096 * each).astype(np.uint64),
        page_home=np.zeros(pages, np.uint16),
        page_object=np.array(objects, np.uint32),
        use_page=each.astype(np.uint32),
        use_node=(each % nodes).astype(np.uint16),
        use_fills=np.ones(pages, np.uint64),
        use_write_backs=np.zeros(pages, np.uint64),
        served_home=np.zeros(len(set(objects)), np.uint16),
        served_object=np.unique(objects).astype(np.uint32),
        served_fills=np.bincount(objects)[np.unique(objects)].astype(np.uint64),
        home_controllers=none,
        home_lookups=none,
        home_lookup_cycles=none,
        home_lookup_waits=none,
        home_accesses=none,
        home_access_cycles=none,
        home_access_waits=none,
    )


def test_first_use_is_left_out_without_its_mark(report: directory.DirectoryReport) -> None:
    assert [row["home"] for row in report.rows] == ["first-touch", "round-robin", "optimal-static"]
    assert len(report.uses) == 3
    assert not any("init-done" in note for note in report.notes)
    assert any("--page-mapping free" in note for note in report.notes)


def test_the_head_says_time_home_and_gain(report: directory.DirectoryReport) -> None:
    head = directory.sentences(report)[0]
    assert head.startswith("On dash-mesh with ")
    assert "of the processors' time is spent" in head
    assert "fills" in head
    row = report.rows[0]
    best = min(report.rows, key=lambda other: other["cycles"])
    if best["cycles"] < 0.99 * row["cycles"]:
        saved = 100 * (1 - best["cycles"] / row["cycles"])
        assert f"with `{best['home']}` homes the run takes {saved:.1f}% fewer cycles" in head
    else:
        assert "no other home" in head


def test_shares_of_time_are_the_whole(report: directory.DirectoryReport) -> None:
    section = report.section()
    longest = max(row["cycles"] for row in report.rows)
    for bar in section["bars"]:
        assert sum(bar["shares"].values()) == pytest.approx(1)
        assert sum(bar["widths"].values()) == pytest.approx(bar["row"]["cycles"] / longest)
        assert bar["sent"] == sum(bar["row"]["messages"].values())


def test_the_table_of_the_picture_adds_up(report: directory.DirectoryReport) -> None:
    for row, use in zip(report.rows, report.uses, strict=True):
        objects = directory.objects(use, most=1)
        assert sum(entry["fills"] for entry in objects) == row["fills"]
        assert sum(entry["pages"] for entry in objects) == len(use.page_address)
        far = row["fills"] - row["local_fills"]
        assert sum(entry["far"] for entry in objects) == far


def test_what_to_do_follows_from_the_best_homes(report: directory.DirectoryReport) -> None:
    row = report.rows[0] | {"cycles": 1000}
    nearer = row | {"cycles": 900, "mean_fill_cycles": 50.0, "home": "round-robin"}
    said = directory.DirectoryReport("m", [row, nearer], report.uses[:2])
    head, to_do, fills = directory.sentences(said)
    assert "with `round-robin` homes the run takes 10.0% fewer cycles" in head
    assert "numactl --interleave=all" in to_do
    assert fills.endswith("and 50.")
    same = directory.DirectoryReport("m", [row, nearer | {"cycles": 995}], report.uses[:2])
    assert "no other home of pages" in directory.sentences(same)[0]
    assert len(directory.sentences(same)) == 2


def test_one_memory_has_one_home() -> None:
    found = directory.directory(hn.synthetic("t-s", references=4001), "graviton2-mesh")
    assert [row["home"] for row in found.rows] == ["first-touch"]
    head = directory.sentences(found)[0]
    assert "one memory serves all fills" in head
    assert "home of pages" not in head


def test_mapping_pages_is_no_difference_between_homes(report: directory.DirectoryReport) -> None:
    assert all(row["os_stall"] == 0 for row in report.rows)
    priced = hn.simulate(hn.synthetic("t-s", references=4001), "dash-mesh", homes="first-touch")
    assert priced.rows[0]["os_stall"] > 0
    assert priced.rows[0]["page_faults"] == report.rows[0]["page_faults"] > 0


def test_every_page_has_a_column_while_they_fit() -> None:
    columns = page_use.arrange(_use(4, 2, [1, 0, 1, 0]))
    assert columns.names == ["object 1", "object 1", "object 0", "object 0"]
    assert columns.of_page.tolist() == [0, 2, 1, 3]
    assert columns.per_column == 1
    assert "A column is a page" in page_use.explained(columns)


def test_many_pages_share_columns_but_objects_do_not() -> None:
    columns = page_use.arrange(_use(1001, 4, [0] * 1000 + [1]), most=100)
    assert columns.per_column == 11
    assert len(columns.names) == -(-1000 // 11) + 1
    assert columns.names[-1] == "object 1"
    assert columns.of_page[-1] == len(columns.names) - 1
    assert np.bincount(columns.of_page).max() == 11


def test_the_least_of_too_many_objects_are_one() -> None:
    columns = page_use.arrange(_use(60, 4, list(range(60))), most=20)
    assert len(columns.names) <= 20
    assert columns.names[-1] == page_use.OTHERS
    assert len(set(columns.names)) == 10


@pytest.mark.parametrize(("pages", "nodes"), [(1, 1), (3, 2), (900, 64), (10, 1024)])
def test_pictures_of_every_shape_can_be_drawn(pages: int, nodes: int) -> None:
    use = _use(pages, nodes, [0] * pages)
    drawn = page_use.draw(use)
    cells = "".join(re.findall(r'class="(?:near|far)\d" d="([^"]*)"', drawn))
    columns = page_use.arrange(use)
    pairs = {(int(columns.of_page[page]), page % nodes) for page in range(pages)}
    assert cells.count("M") == len(pairs)
    assert 'class="home-mark"' in drawn
    assert use.svg("a <title>").count("a &lt;title&gt;") >= 1


def test_cells_read_out_what_they_show() -> None:
    found = page_use.read_out(_use(5, 2, [0, 0, 1, 1, 1]))
    assert found["nodes"] == 2
    assert [column["object"] for column in found["columns"]] == ["object 0"] * 2 + ["object 1"] * 3
    assert [column["fills"] for column in found["columns"]] == [
        [(page % 2, 1)] for page in range(5)
    ]
    assert [column["homes"] for column in found["columns"]] == [[0]] * 5
    assert found["columns"][3]["address"] == "0x3000"


def test_colours_tell_the_home_from_other_nodes() -> None:
    drawn = page_use.draw(_use(4, 2, [0] * 4))
    near = re.findall(r'class="near\d" d="([^"]*)"', drawn)
    far = re.findall(r'class="far\d" d="([^"]*)"', drawn)
    assert "".join(near).count("M") == "".join(far).count("M") == 2

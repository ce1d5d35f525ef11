"""The parts of the e-commerce workload that need no guest: browsers, database, pictures, mixes."""

import json
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest

import homenode as hn
from homenode import _core
from homenode_studies.workloads import ecommerce
from homenode_studies.workloads.ecommerce import (
    database,
    guest,
    mixes,
    needs,
    pictures,
    queries,
    recording,
)

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")

# TPC-W, clause 5.2.1: web interactions of the shopping mix, per cent.
SHOPPING_MIX = {
    "home": 16.00,
    "new-products": 5.00,
    "best-sellers": 5.00,
    "product-detail": 17.00,
    "search-request": 20.00,
    "search-results": 17.00,
    "shopping-cart": 11.60,
    "customer-registration": 3.00,
    "buy-request": 2.60,
    "buy-confirm": 1.20,
    "order-inquiry": 0.75,
    "order-display": 0.66,
    "admin-request": 0.10,
    "admin-confirm": 0.09,
}
TITLES = {name: name.replace("-", " ").capitalize() for name in SHOPPING_MIX}


class Shop(BaseHTTPRequestHandler):
    """A stand-in for the shop's answers: a title, two pictures, an end."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[dict[str, list[str]]] = {}
    broken: ClassVar[str] = ""

    def do_GET(self) -> None:
        url = urlparse(self.path)
        if url.path != "/shop.php":
            self._answer("image/gif", b"GIF89a")
            return
        page = parse_qs(url.query)["page"][0]
        self.asked.setdefault(self.headers["Cookie"], []).append(self.path)
        more = "<p>Order 7 is on its way.\n" if page == "buy-confirm" else ""
        images = '<img src="a.gif"><img src="b.gif">'
        title = "Nothing" if page == self.broken else TITLES[page]
        text = f"<html><title>{title}</title>{images}{more}</html>".encode()
        # Every other page is sent in chunks, as PHP sends long ones.
        self._answer("text/html", text, chunked=len(self.asked[self.headers["Cookie"]]) % 2 == 0)

    def _answer(self, kind: str, body: bytes, *, chunked: bool = False) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
            half = len(body) // 2
            parts = (body[:half], body[half:], b"")
            body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The emulated browsers, built without a single warning."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler `cc` here")
    return guest.browsers(tmp_path_factory.mktemp("browsers") / "browsers", *STRICT)


@pytest.fixture
def shop() -> Iterator[int]:
    """The port of a shop."""
    Shop.asked, Shop.broken = {}, ""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


def _browse(program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [str(program), *words]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=250)


def test_browsers_walk_as_tpc_w_says(browsers: Path) -> None:
    steps = 200_000
    said = _browse(browsers, "-w", "-i", str(steps), "-k", "50", "-c", "70").stdout
    pages = Counter(re.findall(r"page=([a-z-]+)", said))
    for name, share in SHOPPING_MIX.items():
        # Steps of a walk are not independent: five standard deviations, doubled.
        allowed = 10 * (share / 100 * (1 - share / 100) / steps) ** 0.5
        assert pages[name] / steps == pytest.approx(share / 100, abs=allowed), name
    items = {int(item) for item in re.findall(r"item=(\d+)", said)}
    assert (min(items), max(items)) == (1, 50)
    # Customers keep their number, or have none yet: one in five of those who register.
    buyers = re.findall(r"page=buy-request&customer=(\d+)", said)
    assert len(set(buyers)) == 2
    assert buyers.count("0") / len(buyers) == pytest.approx(0.2, abs=0.03)


def test_browsers_do_the_same_for_the_same_seed(browsers: Path, shop: int) -> None:
    seen = []
    for seed in ("3", "3", "4"):
        Shop.asked = {}
        done = _browse(browsers, "-p", str(shop), "-n", "4", "-i", "30", "-s", seed)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "browsers: interactions 120\nbrowsers: pictures 240\n" in done.stdout
        seen.append(dict(Shop.asked))
    assert seen[0] == seen[1] != seen[2]
    assert sorted(seen[0]) == [f"PHPSESSID=browser{i}" for i in range(4)]
    assert all("page=home" in addresses[0] for addresses in seen[0].values())
    walks = list(seen[0].values())
    assert walks[0] != walks[1]
    orders = sum(address.count("=buy-confirm") for walk in seen[2].values() for address in walk)
    assert f"browsers: orders {orders}\n" in done.stdout


def test_browsers_notice_a_wrong_page(browsers: Path, shop: int) -> None:
    Shop.broken = "home"
    done = _browse(browsers, "-p", str(shop), "-n", "2", "-i", "1")
    assert done.returncode == 1
    assert "browsers: errors 2\n" in done.stdout
    assert "the page is not what was asked for" in done.stderr


def test_browsers_notice_that_nobody_answers(browsers: Path) -> None:
    done = _browse(browsers, "-p", "1", "-n", "1", "-i", "2")
    assert (done.returncode, done.stderr.count("no answer")) == (1, 2)


def test_the_database_has_the_rows_that_it_should_and_all_references_lead_somewhere() -> None:
    scale = database.Scale(items=400, customers=150)
    found = {table: list(database.rows(table, scale, 7)) for table in database.TABLES}
    expected = {
        "country": 92,
        "author": 100,
        "address": 300,
        "customer": 150,
        "item": 400,
        "orders": 135,
        "cc_xacts": 135,
    }
    assert {table: len(found[table]) for table in expected} == expected
    assert len(found["order_line"]) == pytest.approx(3 * 135, rel=0.15)
    keys = {table: {row[0] for row in rows} for table, rows in found.items()}
    refers = [
        *(("item", 2, "author"), ("customer", 5, "address"), ("address", 6, "country")),
        *(("orders", 1, "customer"), ("orders", 8, "address"), ("orders", 9, "address")),
        *(("order_line", 1, "orders"), ("order_line", 2, "item"), ("cc_xacts", 0, "orders")),
        *(("item", related, "item") for related in range(7, 12)),
        ("cc_xacts", 8, "country"),
    ]
    for table, column, target in refers:
        assert {row[column] for row in found[table]} <= keys[target], (table, column)
    assert {row[5] for row in found["item"]} == set(database.SUBJECTS)
    # One payment for each order, as many columns as the table has.
    assert keys["cc_xacts"] == keys["orders"]
    schema = (guest.FOLDER / "schema.sql").read_text()
    for table, rows in found.items():
        body = re.search(rf"CREATE TABLE {table} \((.*?)\n\);", schema, re.DOTALL)
        assert body is not None
        columns = re.sub(r"\([^)]*\)", "", body[1]).count(",") + 1
        assert {len(row) for row in rows} == {columns}


def test_the_database_depends_on_the_seed_alone(tmp_path: Path) -> None:
    scale = database.Scale(items=100, customers=50)
    folders = [tmp_path / name for name in "abc"]
    for folder, seed in zip(folders, (1, 1, 2), strict=True):
        folder.mkdir()
        counts = database.write(folder, scale, seed)
        assert list(counts) == list(database.TABLES)
    texts = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders]
    assert texts[0] == texts[1]
    assert all(texts[0][name] != texts[2][name] for name in texts[0] if name != "country.txt")


def test_transactions_come_as_often_as_pages() -> None:
    weights = Counter[str]()
    for name, (weight, wanted) in queries.TRANSACTIONS.items():
        page = name.removesuffix("-new")
        page = "search-results" if re.fullmatch("search-(author|title|subject)", page) else page
        weights[page] += weight
        text = queries.script(name, database.Scale())
        assert text.count(";") + text.count("\\gset") == len(wanted)
        names = set(re.findall(r"(?<!:):([a-z]+)", text))
        given = set(re.findall(r"\\set (\w+)", text))
        assert names <= given
    # An order is looked for without a query.
    rest = {name: round(100 * share) for name, share in SHOPPING_MIX.items()}
    assert weights == {name: share for name, share in rest.items() if name != "order-inquiry"}


def test_mixes_have_26_processes() -> None:
    for mix in mixes.TABLE:
        assert sum(many for _, many in mix.processes) == 26
    assert mixes.find("db").selection == "postgres=21,ls,awk,cp,gzip,rm"
    assert mixes.find("web").selection == "apache2=26"
    with pytest.raises(hn.ConfigError, match="choose one of ec, db, web"):
        mixes.find("ed")


def _results(**changed: int | str) -> dict[str, int | str]:
    good = {
        "alive": 1,
        "orders_in_database": 9,
        "orders_whole": 9,
        "pages_recorded": 100,
        "ticks": 90,
        "errors": 0,
        "orders": 7,
        "warm_up_orders": 2,
        "query_errors": 0,
        "end": "",
    }
    return good | changed


@pytest.mark.parametrize(
    ("mix", "changed", "complaint"),
    [
        ("ec", {"errors": 3}, "3 answers were wrong"),
        ("web", {"orders": 8}, "10 orders were confirmed, 9 are in the database"),
        ("ec", {"orders_whole": 8}, "of 9 orders only 8 have lines and a payment"),
        ("db", {"query_errors": 1}, "the database refused 1 queries"),
        ("db", {"alive": 0}, "its driver ended before"),
        ("ec", {"pages_recorded": 0}, "no request was answered .* \\(give more with --references"),
        ("ec", {"failure": "Apache does not start"}, "Apache does not start"),
    ],
)
def test_a_guest_that_did_wrong_is_refused(
    mix: str, changed: dict[str, int | str], complaint: str
) -> None:
    plan = mixes.Plan(mixes.find(mix), references=1)
    recording.check(plan, _results())
    with pytest.raises(hn.ConfigError, match=complaint):
        recording.check(plan, _results(**changed))


def test_a_guest_has_memory_for_its_files_or_is_refused() -> None:
    assert recording.memory_mib(1) == recording.memory_mib(512 << 20) == 2048
    assert recording.memory_mib((512 << 20) + 1) == 2050
    assert recording.memory_mib(1024 << 20) == 3072
    with pytest.raises(hn.ConfigError, match=r"1025 MiB, of which 1024 fit .* fewer --items"):
        recording.memory_mib((1024 << 20) + 1)


def test_a_recording_without_all_processes_of_its_mix_was_too_short(tmp_path: Path) -> None:
    system = hn.Trace.from_numpy(thread=[0, 0], kind="R", address=[0, 64], path=tmp_path / "t.hnt")
    options = ecommerce.MixOptions(references=3_000_000)
    with pytest.raises(hn.ConfigError) as error:
        ecommerce.make(mixes.find("ec"), system, tmp_path / "ec.hnt", options, lambda _: None)
    assert "give more with --references (now 3,000,000)" in str(error.value)
    assert not (tmp_path / "ec.hnt").exists()


def test_a_mix_that_is_full_before_all_its_processes_began_is_refused(tmp_path: Path) -> None:
    pids = [7] * 90 + [8] * 10
    writer = _core.TraceWriter(str(tmp_path / "t.hnt"), pid=True, flags=True)
    columns = {
        "thread": np.zeros(100, dtype=np.uint16),
        "kind": np.zeros(100, dtype=np.uint8),
        "addr": np.arange(100, dtype=np.uint64) * 64,
        "size": np.full(100, 4, dtype=np.uint8),
        "flags": np.zeros(100, dtype=np.uint8),
        "pid": np.array(pids, dtype=np.uint32),
    }
    writer.push(columns)
    processes = [{"pid": 7, "names": ["postgres"]}, {"pid": 8, "names": ["sh", "rm"]}]
    writer.finish(json.dumps({"program": "made", "processes": processes}))
    mix = mixes.Mix("two", "two processes", (("postgres", 1), ("rm", 1)), children=0, spare=1)
    system, target = hn.Trace.open(tmp_path / "t.hnt"), tmp_path / "two.hnt"
    with pytest.raises(hn.ConfigError) as error:
        ecommerce.make(mix, system, target, ecommerce.MixOptions(references=90), lambda _: None)
    assert "full before rm (8) made a reference" in str(error.value)
    assert "give more with --references (now 90)" in str(error.value)
    assert not target.exists()
    whole = ecommerce.make(mix, system, target, ecommerce.MixOptions(references=91), lambda _: None)
    assert whole.references == 91


def test_the_database_is_asked_what_is_named(tmp_path: Path) -> None:
    queries.write(tmp_path / "some", database.Scale(), ["best-sellers", "home"])
    assert (tmp_path / "some/scripts").read_text() == (
        "-f /srv/pgbench/best-sellers.sql@500 -f /srv/pgbench/home.sql@1600\n"
    )
    queries.write(tmp_path / "all", database.Scale())
    assert (tmp_path / "all/scripts").read_text().count("-f ") == len(queries.TRANSACTIONS)
    with pytest.raises(hn.ConfigError, match="no transaction 'hom'; choose from home, new-prod"):
        queries.checked(["hom"])


def test_a_guest_that_stopped_midway_is_refused() -> None:
    said = recording.read_results("noise\r\nresult: alive 1\r\nresult: page home 4\r\n")
    assert said == {"pages": {"home": 4}, "alive": 1}
    with pytest.raises(hn.ConfigError, match="did not come to its end"):
        recording.check(mixes.Plan(mixes.find("ec"), references=1), said)


def test_what_is_missing_is_said_at_once_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(hn.ConfigError) as error:
        needs.find(tmp_path, emulator="/no/such/qemu")
    message = str(error.value)
    assert "/usr/sbin/apache2" in message
    packages = message.split("apt install ")[1].split()
    assert {"postgresql", "apache2", "php-fpm", "php-pgsql"} <= set(packages)
    assert "qemu-system-x86" in packages
    assert len(packages) == len(set(packages))


def test_what_is_there_is_found(tmp_path: Path) -> None:
    for name in ("postgresql/9/bin/postgres", "postgresql/15/bin/postgres"):
        (tmp_path / "usr/lib" / name).parent.mkdir(parents=True)
        (tmp_path / "usr/lib" / name).write_text("")
    with pytest.raises(hn.ConfigError) as error:
        needs.find(tmp_path)
    # pgbench is in the same package.
    assert "bin/pgbench" in str(error.value)
    assert "bin/postgres," not in str(error.value)


def test_a_kernel_is_named_or_the_newest_is_taken(tmp_path: Path) -> None:
    with pytest.raises(hn.ConfigError, match="name one for x86-64 with --kernel"):
        ecommerce.kernel(boot=tmp_path)
    for name in ("vmlinuz-5", "vmlinuz-6"):
        (tmp_path / name).write_text("")
    assert ecommerce.kernel(boot=tmp_path) == tmp_path / "vmlinuz-6"
    with pytest.raises(hn.ConfigError, match="no kernel that can be read"):
        ecommerce.kernel(str(tmp_path / "none"))


def test_pictures_are_about_as_large_as_wanted() -> None:
    for size in (5_000, 50_000):
        for made, start, end in (
            (pictures.gif(size, 1), b"GIF89a", b";"),
            (pictures.jpeg(size, 1), b"\xff\xd8", b"\xff\xd9"),
        ):
            assert made.startswith(start)
            assert made.endswith(end)
            assert len(made) == pytest.approx(size, rel=0.05)
    sizes = Counter(pictures.detail_size(i, 100) for i in range(100))
    assert sizes == {5_000: 45, 10_000: 35, 50_000: 15, 100_000: 4, 250_000: 1}


@pytest.mark.parametrize("name", ["ec", "db", "web"])
def test_the_mixes_that_come_along_are_what_they_say(name: str) -> None:
    row = next(row for row in ecommerce.shipped() if row["name"] == name)
    trace = hn.Trace.open(row["trace"])
    assert trace.threads == 26
    assert trace.references == row["references"]
    assert trace.checksum == row["checksum"]
    together = ecommerce.statistics(Path(row["trace"]))
    alive = Counter(entry["name"].split()[0] for entry in together if " " in entry["name"])
    assert alive == dict(mixes.find(name).processes)
    fetches = trace.info["fetches"]
    assert fetches == row["fetches"]
    assert 0.15 < trace.info["kernel"] / (trace.references + fetches) < 0.7
    # Three references in four are fetches in the paper's tables 1 to 3.
    assert 0.6 < fetches / (trace.references + fetches) < 0.8
    for entry in together:
        assert entry["distinct_blocks"] > 100, entry
        assert 0 <= entry["shared_writes"] <= entry["shared"] <= entry["data"], entry
    assert {"kernel", "postgresql", "apache", "qemu", "command", "seed"} <= set(row)
    # The guest's shell has built-in utilities, which are not meant. A few addresses are in both the
    # shell and gawk, neither of which can be moved, and have one name.
    functions = {line["pc"]: line["function"] for line in trace.metadata["lines"]}
    own = {"[ls]", "[awk]", "[cp]", "[gzip]", "[rm]"} & set(functions.values())
    assert bool(own) == (name != "web")
    counters = Counter(trace.to_arrow().column("pc").to_pylist())
    shell = sum(many for pc, many in counters.items() if functions.get(pc) == "[busybox]")
    assert shell == 0 if name == "web" else shell < counters.total() / 10_000


def test_the_command_lists_the_mixes() -> None:
    line = [sys.executable, "-m", "homenode", "workloads", "ecommerce", "--list", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    listed = json.loads(done.stdout)
    assert [row["name"] for row in listed] == ["ec", "db", "web"]
    assert all(Path(row["trace"]).exists() for row in listed)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["ec"], "missing option '-o'"),
        (["ec", "-o", "d", "--quick", "--references", "1000000"], "give one of them"),
        (["nothing", "-o", "d"], "'nothing' is not one of"),
        (["web", "-o", "d", "--transactions", "home"], "transactions are for the mix db"),
        (["db", "-o", "d", "--transactions", "hom"], "no transaction 'hom'"),
    ],
)
def test_wrong_words_are_refused(words: list[str], complaint: str) -> None:
    line = [sys.executable, "-m", "homenode", "workloads", "ecommerce", *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert complaint in done.stderr

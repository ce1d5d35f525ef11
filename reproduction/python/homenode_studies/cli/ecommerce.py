"""`homenode workloads ecommerce`: record servers together with their kernel."""

from typing import Any

import click

from homenode.cli.command import WholeNumber, examples, json_option
from homenode.cli.progress import Progress
from homenode.options.specs import plain_number

_MIXES = ("ec", "db", "web")


@click.command(
    epilog=examples(
        "homenode workloads ecommerce --list",
        "homenode workloads ecommerce ec --quick --kernel vmlinuz -o mixes",
        "homenode workloads ecommerce all --kernel vmlinuz -o mixes",
        "homenode workloads ecommerce db --transactions best-sellers,search-title -o scans",
        "homenode simulate mixes/ec.hnt --machine bus-smp --protocol mesi,pscr --processors 8",
    )
)
@click.argument("mix", type=click.Choice([*_MIXES, "all"]), default="all", required=False)
@click.option("-o", "--output", metavar="DIR", help="The folder for the traces.")
@click.option(
    "--list", "listing", is_flag=True, help="List the mixes, and the small ones in the package."
)
@click.option(
    "--references",
    type=WholeNumber(min=1_000_000),
    metavar="N",
    help="References of each mix, including fetches. Default: 130,000,000, as in the paper.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="The size of the mixes in the package: a short part of each process.",
)
@click.option("--seed", type=WholeNumber(min=0), default=1, show_default=True, metavar="S")
@click.option(
    "--items",
    type=WholeNumber(100, 1_000_000),
    default=100_000,
    show_default=True,
    help="Books in the shop. Default: as in the paper.",
)
@click.option(
    "--customers",
    type=WholeNumber(100, 1_000_000),
    default=57_600,
    show_default=True,
    help="Customers. Default: 2,880 for each of the 20 browsers, as TPC-W requires.",
)
@click.option(
    "--kernel",
    default="",
    metavar="K",
    help="The Linux kernel to boot. Default: the newest readable one in /boot.",
)
@click.option(
    "--emulator", default="", metavar="QEMU", help="Default: qemu-system-x86_64, from PATH."
)
@click.option(
    "--transactions",
    default="",
    metavar="T,...",
    help="For db: send the database only these, at their relative frequency: home, new-products, "
    "best-sellers, product-detail, search-title, buy-confirm and so on.",
)
@click.option(
    "--keep", is_flag=True, help="Also keep the guest's file system and console output in DIR."
)
@json_option
def ecommerce(mix: str, output: str | None, as_json: bool, **options: Any) -> None:
    """Record the e-commerce workload: PostgreSQL, Apache and five utilities.

    A guest is built from this machine's own PostgreSQL, Apache, PHP, ls, awk, cp, gzip and rm, and
    booted in QEMU; emulated browsers visit a shop as TPC-W specifies. The whole system is recorded,
    including its kernel, and checked: pages, pictures, and the orders in the database. MIX is ec
    (13 processes of Apache, 8 of PostgreSQL and the utilities), db (21 of PostgreSQL and the
    utilities), web (26 of Apache), or all three.

    DIR gets MIX.system.hnt, the recording, and MIX.hnt, in which every process is a thread. If
    packages are missing, the command says before it begins how to install them.
    """
    from homenode.cli.output import print_json

    if options["listing"]:
        _list(as_json)
        return
    if output is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
    if options["quick"] and options["references"] is not None:
        raise click.UsageError("--quick and --references: give one of them")
    made = [
        _record(name, output, as_json, options) for name in (_MIXES if mix == "all" else (mix,))
    ]
    if as_json:
        print_json(made)


def _record(name: str, output: str, as_json: bool, options: dict[str, Any]) -> dict[str, Any]:
    """Makes one mix and prints the footprints of its processes."""
    from pathlib import Path

    from homenode_studies.workloads import ecommerce as suite

    references = options["references"] or suite.REFERENCES
    if options["quick"]:
        references = suite.QUICK_REFERENCES
    wanted = suite.MixOptions(
        references=references,
        each=suite.QUICK_EACH if options["quick"] else None,
        seed=options["seed"],
        scale=suite.Scale(options["items"], options["customers"]),
        kernel=options["kernel"],
        emulator=options["emulator"],
        transactions=tuple(options["transactions"].split(",")) if options["transactions"] else (),
        keep=options["keep"],
    )
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    stages = _Stages(name)
    try:
        found = suite.record(suite.find(name), folder, wanted, stages.begin)
        rows = suite.statistics(Path(found["trace"]), stages.begin("counting"))
    finally:
        stages.end()
    if not as_json:
        _print(found, rows)
    return {**found, "statistics": rows}


class _Stages:
    """Shows the progress of each stage."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bar: Progress | None = None

    def begin(self, title: str) -> Progress:
        from homenode.cli.progress import Progress

        self.end()
        self._bar = Progress(f"{self._name}: {title}")
        return self._bar.__enter__()

    def end(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None


def _print(found: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    from homenode.cli.tables import print_facts, print_table

    columns = [
        *(("process", False), ("processes", True), ("references", True), ("kernel", True)),
        *(("distinct blocks", True), ("code", True), ("data", True), ("writes", True)),
        *(("shared blocks", True), ("shared", True), ("shared writes", True)),
    ]
    cells = [
        [
            *(row["name"], str(row["processes"]), plain_number(row["references"])),
            *(f"{100 * row['kernel']:.1f} %", plain_number(row["distinct_blocks"])),
            *(f"{100 * row[part]:.2f} %" for part in ("code", "data", "writes")),
            plain_number(row["shared_blocks"]),
            *(f"{100 * row[part]:.2f} %" for part in ("shared", "shared_writes")),
        ]
        for row in rows
    ]
    print_table(columns, cells, f"{found['trace']}: blocks of 32 bytes")
    checked = found["checked"]
    facts = [
        ("answered", f"{plain_number(checked['pages_recorded'])} while it was recorded"),
        ("orders", f"{plain_number(checked['orders_in_database'])} in the database"),
        (
            "timer",
            f"{plain_number(checked['ticks'])} interrupts, {found['ticks_per_million']:.1f} in a "
            f"million instructions of the guest, whose clock is that of {checked['clock']}",
        ),
        ("recording", found["system"]),
    ]
    if "errors" in checked:
        facts.insert(0, ("answers", f"{plain_number(checked['interactions'])}, all correct"))
    print_facts(facts)


def _list(as_json: bool) -> None:
    from homenode.cli.output import print_json
    from homenode.cli.tables import print_facts, print_table
    from homenode_studies.workloads import ecommerce as suite

    rows = suite.shipped()
    if as_json:
        print_json(rows)
        return
    print_table(
        [
            ("mix", False),
            ("description", False),
            ("processes", False),
            ("references", True),
            ("fetches", True),
        ],
        [
            [
                *(row["name"], row["summary"], suite.find(row["name"]).selection),
                *(plain_number(row[kind]) for kind in ("references", "fetches")),
            ]
            for row in rows
        ],
        "mixes, and the small ones in the package",
    )
    print_facts([(row["name"], row["trace"]) for row in rows])

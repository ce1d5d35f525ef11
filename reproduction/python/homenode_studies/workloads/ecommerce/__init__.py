"""The e-commerce workload: PostgreSQL, Apache and five utilities, recorded as a whole system.

Three mixes of 26 processes each, as Foglia, Giorgi and Prete traced them. A guest is built from the
PostgreSQL, Apache and GNU utilities of this machine, booted in QEMU with a kernel given by the
user, and driven by emulated browsers. It is recorded with its kernel, and its processes become the
threads of a trace.

The package has small mixes recorded in this way:

>>> from homenode_studies.workloads import ecommerce
>>> [mix["name"] for mix in ecommerce.shipped()]
['ec', 'db', 'web']

Source: Foglia, Giorgi and Prete 2004, sections 3 and 4; TPC-W, version 1.0.1.
"""

import contextlib
import os
import shutil
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from homenode.errors import ConfigError
from homenode.files import replacing_name
from homenode.trace import Trace
from homenode.trace.transforms import transform
from homenode_studies.workloads.ecommerce import guest, queries, recording
from homenode_studies.workloads.ecommerce.database import Scale
from homenode_studies.workloads.ecommerce.mixes import REFERENCES, TABLE, Mix, Plan, find
from homenode_studies.workloads.ecommerce.needs import find as find_needs
from homenode_studies.workloads.ecommerce.statistics import statistics

Progress = Callable[[int, int | None], None] | None

__all__ = [
    "FOLDER",
    "QUICK_EACH",
    "QUICK_REFERENCES",
    "REFERENCES",
    "TABLE",
    "Mix",
    "MixOptions",
    "Scale",
    "find",
    "kernel",
    "make",
    "record",
    "shipped",
    "statistics",
]

FOLDER = Path(__file__).resolve().parent
"""The folder of the small mixes."""

QUICK_REFERENCES = 60_000_000
"""References of a recording with ``--quick``, of which a part of each process is kept."""

QUICK_EACH = 21_000
"""References of each process with ``--quick``, as in the mixes of the package."""


@dataclass(frozen=True)
class MixOptions:
    """Options of a recording.

    references: approximate references of a mix, including instruction fetches.
    each: instead, the references of each process, from the middle of the recording on.
    kernel: the Linux kernel to boot; by default the newest readable one in /boot.
    emulator: QEMU; by default the one in ``PATH``.
    transactions: the transactions of the mix ``db`` (`TRANSACTIONS`); by default all.
    keep: keep the guest's file system and its console output next to the recording.
    """

    references: int = REFERENCES
    each: int | None = None
    seed: int = 1
    scale: Scale = field(default_factory=Scale)
    kernel: str = ""
    emulator: str = ""
    transactions: tuple[str, ...] = ()
    keep: bool = False


def kernel(named: str = "", boot: Path = Path("/boot")) -> Path:
    """The kernel to boot.

    Raises:
        ConfigError: when there is none that can be read.
    """
    if named:
        path = Path(named)
        if not (path.is_file() and os.access(path, os.R_OK)):
            raise ConfigError(f"{path}: no kernel that can be read; name one with --kernel")
        return path
    found = [path for path in sorted(boot.glob("vmlinuz-*")) if os.access(path, os.R_OK)]
    if not found:
        raise ConfigError(
            f"there is no Linux kernel in {boot} that can be read; name one for x86-64 with "
            "--kernel. On Debian, apt-cache depends linux-image-cloud-amd64 names the newest, "
            "apt-get download gets that package, and dpkg -x unpacks it"
        )
    return found[-1]


def record(
    mix: Mix, folder: Path, options: MixOptions, stage: Callable[[str], Progress]
) -> dict[str, Any]:
    """Makes a guest, records it, and makes the mix from the recording.

    Args:
        mix: the mix.
        folder: gets ``NAME.system.hnt`` and ``NAME.hnt``.
        options: the size and the content.
        stage: called with the name of each stage; returns the function to call with its progress.

    Returns:
        ``name``, ``system``, ``trace``, ``references`` (including fetches), ``checked`` (the
        guest's final report), ``ticks_per_million`` (timer interrupts of the guest per million of
        its instructions) and ``left_out`` (the parts of the recording that are not in the mix).

    Raises:
        ConfigError: when a package or a transaction is missing, or the guest failed its
            checks.
        TraceError: when a trace cannot be written.
    """
    queries.checked(options.transactions)
    if options.transactions and mix.children > 0:
        raise ConfigError(
            f"transactions are for the mix db: in {mix.name} browsers choose the requests"
        )
    found, booted = find_needs(emulator=options.emulator), kernel(options.kernel)
    spare = int(mix.spare * options.references)
    plan = Plan(mix, spare, options.seed, options.scale, options.transactions)
    system, trace = folder / f"{mix.name}.system.hnt", folder / f"{mix.name}.hnt"
    with tempfile.TemporaryDirectory(prefix="homenode-") as place:
        stage("making the guest")
        guest.build(found, plan, Path(place))
        try:
            with replacing_name(system) as partial:
                machine = recording.Machine(booted, found.emulator, Path(place), found.counting)
                said = recording.record(machine, plan, Path(partial), stage("recording"))
        finally:
            if options.keep:
                for name in ("guest.cpio", "console.txt"):
                    if (Path(place) / name).exists():
                        shutil.move(Path(place) / name, folder / f"{mix.name}.{name}")
    whole = Trace.open(system)
    made = make(mix, whole, trace, options, stage)
    report = made.report or {}
    return {
        "name": mix.name,
        "system": str(system),
        "trace": str(trace),
        "references": made.references + made.info["fetches"],
        "checked": said,
        "ticks_per_million": 1e6 * said["ticks"] / whole.info["fetches"],
        "left_out": report.get("left_out"),
    }


def make(
    mix: Mix, system: Trace, target: Path, options: MixOptions, stage: Callable[[str], Progress]
) -> Trace:
    """Makes a mix from the recording of a guest; arguments and errors as for `record`."""

    def mixed(of: Trace, **length: int) -> Trace:
        doing = stage("making processes")
        return transform("processes", of, target, progress=doing, processes=mix.selection, **length)

    if options.each is None:
        try:
            made = mixed(system, references=options.references)
            _complete(made)
        except ConfigError as error:
            raise ConfigError(
                f"{error}\nProcesses become active one after the other: give more with "
                f"--references (now {options.references:,})"
            ) from error
        return made
    # Programs begin with loading and linking, so a later part is more typical; it must still
    # contain every process.
    for part in (2, 4, 8):
        behind = range(system.references // part, system.references)
        later = transform("select", system, progress=stage("choosing"), time=behind)
        with contextlib.suppress(ConfigError):
            return mixed(later, each=options.each)
    return mixed(system, each=options.each)


def _complete(mix: Trace) -> None:
    """Checks that every process of a mix made references before the mix was full; else deletes it.

    Raises:
        ConfigError: when some did not; it names these processes.
    """
    idle = [
        f"{process['names'][-1]} ({process['pid']})"
        for process in (mix.report or {}).get("processes", [])
        if sum(process["references"].values()) == 0
    ]
    if idle:
        mix.path.unlink()
        raise ConfigError(
            f"the mix is full before {', '.join(idle)} made a reference: the recording has more "
            "references of the others than fit into the mix"
        )


def shipped() -> list[dict[str, Any]]:
    """The small mixes of the package: ``name``, ``trace`` (a path), and the recording's options."""
    with (FOLDER / "provenance.toml").open("rb") as file:
        known = tomllib.load(file)
    common = {key: value for key, value in known.items() if key != "mix"}
    return [
        {
            **mix.describe(),
            "trace": str(FOLDER / f"{mix.name}.hnt"),
            **common,
            **known["mix"][mix.name],
        }
        for mix in TABLE
    ]

"""The files of this machine for the guest, and the packages that they belong to.

Nothing is installed: all missing programs are reported at once, with the command to install them.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from homenode.errors import ConfigError

__all__ = ["PACKAGES", "Found", "counts", "find"]

PACKAGES = {
    "postgres": ("postgresql", "/usr/lib/postgresql/*/bin/postgres"),
    "pgbench": ("postgresql", "/usr/lib/postgresql/*/bin/pgbench"),
    "apache2": ("apache2", "/usr/sbin/apache2"),
    "module": ("apache2", "/usr/lib/apache2/modules/mod_proxy_fcgi.so"),
    "php_fpm": ("php-fpm", "/usr/sbin/php-fpm[0-9]*"),
    "php_pgsql": ("php-pgsql", "/usr/lib/php/20*/pgsql.so"),
    "gawk": ("gawk", "/usr/bin/gawk"),
    "gzip": ("gzip", "/usr/bin/gzip"),
    "ls": ("coreutils", "/usr/bin/ls"),
    "busybox": ("busybox-static", "/usr/bin/busybox"),
}
"""Debian packages by the needed program: the package, and the program's path."""

_PROGRAMS = {"cc": "gcc libc6-dev", "ldd": "libc-bin"}
_QEMU = "qemu-system-x86"
# The first QEMU that can count the instructions of several processors.
_COUNTS_FROM = 10


@dataclass(frozen=True)
class Found:
    """Paths on this machine, and whether QEMU `counts` instructions."""

    files: dict[str, Path]
    emulator: str
    counting: bool

    @property
    def postgres(self) -> Path:
        """The folder of PostgreSQL's programs."""
        return self.files["postgres"].parent


def find(root: Path = Path("/"), emulator: str = "") -> Found:
    """Finds everything that the guest needs.

    Args:
        root: the root of the file system.
        emulator: the QEMU given by the user, or None.

    Raises:
        ConfigError: when something is missing, with the command that installs it.
    """
    files, missing = {}, {}
    for name, (package, pattern) in PACKAGES.items():
        there = sorted(root.glob(pattern.lstrip("/")), key=_version)
        # If /bin is not a link to /usr/bin, it has programs of its own.
        there = there or sorted(root.glob(pattern.replace("/usr/bin", "bin").lstrip("/")))
        if there:
            files[name] = there[-1]
        else:
            missing[pattern] = package
    for program, package in _PROGRAMS.items():
        if shutil.which(program) is None:
            missing[program] = package
    qemu = emulator or "qemu-system-x86_64"
    if shutil.which(qemu) is None:
        missing[qemu] = _QEMU
    if missing:
        packages = " ".join(dict.fromkeys(" ".join(missing.values()).split()))
        raise ConfigError(
            f"the e-commerce workload needs {', '.join(missing)}, not found here; on Debian: "
            f"apt install {packages}"
        )
    said = subprocess.run([qemu, "-version"], capture_output=True, text=True, check=False)
    return Found(files, qemu, counts(said.stdout))


def counts(version: str) -> bool:
    """Whether a QEMU can count the instructions of several processors, by its version.

    >>> counts("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)")
    True
    >>> counts("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)")
    False
    """
    found = re.search(r"version (\d+)", version)
    return found is not None and int(found[1]) >= _COUNTS_FROM


def _version(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", str(path))]

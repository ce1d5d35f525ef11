"""The guest: a file system with this machine's own PostgreSQL, Apache, PHP and GNU utilities.

Everything is made in a folder of the run: the database, by a PostgreSQL that listens only there,
and the archive that the guest's kernel unpacks.
"""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from homenode.capture import initramfs
from homenode.errors import ConfigError
from homenode.files import replacing
from homenode_studies.workloads.ecommerce import database, pictures, queries, utilities
from homenode_studies.workloads.ecommerce.mixes import WORKERS, Plan
from homenode_studies.workloads.ecommerce.needs import Found

__all__ = ["FOLDER", "browsers", "build"]

FOLDER = Path(__file__).resolve().parent
"""The folder of the guest's own programs, pages and queries."""

_BUSYBOX = (
    *("sh", "mount", "su", "sleep", "ip", "poweroff", "chown", "chmod", "mkdir", "cat", "tail"),
    *("head", "sed", "grep", "uname", "pidof", "kill"),
)
_GNU = ("ls", "cp", "rm")
_APACHE_MODULES = ("mpm_prefork", "authz_core", "mime", "dir", "proxy", "proxy_fcgi")
_POSTGRES_LIBRARIES = ("plpgsql.so", "dict_snowball.so")

_LINK, _FOLDER = stat.S_IFLNK | 0o777, stat.S_IFDIR | 0o755

_OPTIONS = (
    *("shared_buffers=32MB", "max_connections=60", "fsync=off", "jit=off", "timezone=UTC"),
    *("log_timezone=UTC", "dynamic_shared_memory_type=mmap", "autovacuum=off"),
    *("max_parallel_workers_per_gather=0", "huge_pages=off", "max_wal_size=256MB"),
)


def build(found: Found, plan: Plan, folder: Path) -> Path:
    """Makes the guest's first file system.

    Args:
        found: the files of this machine to copy.
        plan: the mix, and the sizes.
        folder: where to make it; intermediate files also stay there.

    Returns:
        The archive.

    Raises:
        ConfigError: when a program fails, with its error output.
    """
    root = folder / "root"
    for place in ("bin", "etc", "proc", "sys", "dev", "tmp", "run", "srv/site", "usr/bin"):
        (root / place).mkdir(parents=True)
    _programs(found, root)
    _site(root)
    utilities.write(root / "srv", plan.seed)
    _settings(found, plan, root)
    compiled = browsers(folder / "browsers")
    shutil.copy(compiled, root / "usr/bin/browsers")
    _database(found, plan, folder)
    (folder / "data").rename(root / "data")
    target = folder / "guest.cpio"
    with replacing(target) as file:
        for part in initramfs.parts(_entries(root)):
            file.write(part)
    shutil.rmtree(root)
    return target


def browsers(target: Path, *flags: str) -> Path:
    """Compiles the emulated browsers.

    Raises:
        ConfigError: when the compiler reports errors.
    """
    sources = [str(FOLDER / f"{name}.c") for name in ("browsers", "walk", "visit")]
    _run(["cc", "-std=c11", "-O2", "-static", *flags, "-o", str(target), *sources])
    return target


def _entries(root: Path) -> Iterator[tuple[str, int, bytes]]:
    for path in sorted(root.rglob("*")):
        name, mode = str(path.relative_to(root)), path.lstat().st_mode
        if path.is_symlink():
            yield name, _LINK, str(path.readlink()).encode()
        elif path.is_dir():
            yield name, mode, b""
        else:
            yield name, mode, path.read_bytes()


def _copy(path: Path, root: Path, target: str = "") -> None:
    """Copies a file of this machine to the same place in the guest, with its libraries."""
    there = root / (target or str(path)).lstrip("/")
    there.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path.resolve(), there)
    there.chmod(0o755)
    line = ["ldd", str(path)]
    listed = subprocess.run(line, capture_output=True, text=True, check=False)
    for library in re.findall(r"(/\S+) \(0x", listed.stdout):
        if not (root / library.lstrip("/")).exists():
            _copy(Path(library), root)


def _programs(found: Found, root: Path) -> None:
    files = found.files
    shutil.copy(files["busybox"].resolve(), root / "bin/busybox")
    for name in _BUSYBOX:
        (root / "bin" / name).symlink_to("busybox")
    for name in _GNU:
        _copy(files["ls"].parent / name, root, f"/usr/bin/{name}")
    _copy(files["gzip"], root, "/usr/bin/gzip")
    _copy(files["gawk"], root, "/usr/bin/awk")
    for name in ("postgres", "pg_ctl", "psql", "pgbench"):
        _copy(found.postgres / name, root)
    version = found.postgres.parent
    for name in _POSTGRES_LIBRARIES:
        _copy(version / "lib" / name, root)
    share = Path("usr/share/postgresql") / version.name
    shutil.copytree(Path("/") / share, root / share, ignore=shutil.ignore_patterns("extension"))
    zone = Path("usr/share/zoneinfo/UTC")
    if (Path("/") / zone).exists():
        _copy(Path("/") / zone, root)
    _copy(files["apache2"], root)
    _copy(files["php_fpm"], root, "/usr/sbin/php-fpm")
    modules = [files["module"].parent / f"mod_{name}.so" for name in _APACHE_MODULES]
    extensions = (files["php_pgsql"], files["php_pgsql"].parent / "opcache.so")
    for path in (*modules, *extensions):
        if path.exists():
            _copy(path, root)


def _site(root: Path) -> None:
    site = root / "srv/site"
    for path in sorted((FOLDER / "site").glob("*.php")):
        shutil.copy(path, site)
    shutil.copytree(FOLDER / "queries", root / "srv/queries")
    for number in range(database.IMAGES):
        size = pictures.detail_size(number, database.IMAGES)
        (site / f"image_{number}.jpg").write_bytes(pictures.jpeg(size, number))
        (site / f"thumb_{number}.gif").write_bytes(pictures.gif(5000, number))
    for name in ("logo", "button_home", "button_search-request", "button_shopping-cart"):
        (site / f"{name}.gif").write_bytes(pictures.gif(2000, len(name)))


def _settings(found: Found, plan: Plan, root: Path) -> None:
    etc = root / "etc"
    shutil.copy(FOLDER / "init.sh", root / "init")
    (root / "init").chmod(0o755)
    users = "root:x:0:0::/:/bin/sh\npostgres:x:100:100::/tmp:/bin/sh\nwww:x:33:33::/srv:/bin/sh\n"
    (etc / "passwd").write_text(users)
    (etc / "group").write_text("root:x:0:\npostgres:x:100:\nwww:x:33:\n")
    (etc / "hosts").write_text("127.0.0.1 localhost\n")
    (etc / "mime.types").write_text("image/jpeg jpg\nimage/gif gif\ntext/html html\n")
    children = plan.mix.children
    (etc / "apache2.conf").write_text(
        (FOLDER / "apache.conf").read_text()
        + f"StartServers {children}\nServerLimit {children}\nMaxRequestWorkers {children}\n"
    )
    (etc / "php-fpm.conf").write_text(
        (FOLDER / "php-fpm.conf").read_text() + f"pm.max_children = {WORKERS}\n"
    )
    extensions = found.files["php_pgsql"].parent
    cache = "zend_extension=opcache\nopcache.validate_timestamps=0\n"
    (etc / "php.ini").write_text(
        f"extension_dir={extensions}\nextension=pgsql\nsession.save_path=/tmp/sessions\n"
        f"session.gc_probability=0\ndisplay_errors=1\nlog_errors=1\n"
        + (cache if (extensions / "opcache.so").exists() else "")
    )
    (etc / "mix").write_text(
        "".join(f"{key}={value}\n" for key, value in plan.settings(found).items())
    )
    queries.write(root / "srv/pgbench", plan.scale, plan.transactions)


def _run(line: Sequence[str], text: str | None = None, user: str | None = None) -> None:
    try:
        done = subprocess.run(
            line, capture_output=True, text=True, check=False, input=text, user=user, group=user
        )
    except OSError as error:
        raise ConfigError(f"cannot start {line[0]}: {error.strerror}") from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip())[-2000:]
        raise ConfigError(f"{Path(line[0]).name} failed: {' '.join(line)}\n{said}")


def _database(found: Found, plan: Plan, folder: Path) -> None:
    """Makes the database, with a server that only this process can reach."""
    # PostgreSQL does not run as root; Debian's packages bring a user for it.
    user = "postgres" if os.geteuid() == 0 else None
    data, rows = folder / "data", folder / "rows"
    rows.mkdir()
    data.mkdir()
    if user is not None:
        folder.chmod(0o755)
        shutil.chown(data, user, user)
    programs = found.postgres
    database.write(rows, plan.scale, plan.seed)
    _run([str(programs / "initdb"), "-D", str(data), "-A", "trust", "-N", "-U", "postgres",
          "-E", "UTF8", "--locale=C", "--wal-segsize=1"], user=user)  # fmt: skip
    with (data / "postgresql.conf").open("a") as file:
        file.writelines(f"{option.replace('=', ' = ')}\n" for option in _OPTIONS)
    tables = "".join(f"\\copy {table} FROM '{rows / table}.txt'\n" for table in database.TABLES)
    rights = (
        "CREATE ROLE www LOGIN;\n"
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO www;\n"
        "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO www;\n"
    )
    schema, keys = ((FOLDER / name).read_text() for name in ("schema.sql", "keys.sql"))
    line = f"-c listen_addresses= -c unix_socket_directories={data}"
    control = [str(programs / "pg_ctl"), "-s", "-w", "-D", str(data)]
    _run([*control, "-l", str(data / "log"), "-o", line, "start"], user=user)
    ask = [str(programs / "psql"), "-q", "-v", "ON_ERROR_STOP=1", "-h", str(data), "-U", "postgres"]
    try:
        _run([*ask, "postgres", "-c", "CREATE DATABASE tpcw"], user=user)
        _run([*ask, "tpcw"], schema + tables + keys + rights, user=user)
    finally:
        _run([*control, "-m", "fast", "stop"], user=user)
    (data / "log").unlink(missing_ok=True)
    with (data / "postgresql.conf").open("a") as file:
        file.write("listen_addresses = ''\nunix_socket_directories = '/run/postgresql'\n")
    shutil.rmtree(rows)

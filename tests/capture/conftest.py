"""Fixtures for the capture tests: they compile test programs and record them."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import homenode as hn
from homenode import _core
from homenode.capture import compilers, plugin
from support.recorder import IMPORTED, PYTHON, recorder

_HEADERS = plugin.SOURCES.parent / "runtime" / "include"
PROGRAMS = Path(__file__).parent / "programs"
_LANGUAGES = {".c": "c", ".cpp": "c++", ".f90": "fortran"}
_TIMEOUT_S = 250
# Variables that choose what the wrapper does.
_CHOICES = ["HOMENODE_CC", "HOMENODE_CXX", "HOMENODE_FC", "HOMENODE_HOOKS", "HOMENODE_NATIVE"]
# A tmpfs in a user namespace, which needs no privileges.
_ON_A_DISK = 'mount -t tmpfs -o size="$1" none "$2" && cd "$2" && eval "$3"'


@dataclass(frozen=True)
class Qemu:
    """QEMU's emulators: those on PATH, or those of a folder."""

    folder: Path | None

    def emulator(self, machine: str = "x86_64") -> str:
        """The option for an instruction set or `system-x86_64`; skips the test if there is none."""
        name = f"qemu-{machine}"
        if self.folder is None:
            if shutil.which(name) is None:
                pytest.skip(f"{name} is not installed")
            return ""
        if not (self.folder / name).exists():
            pytest.skip(f"there is no {name} in {self.folder}")
        return str(self.folder / name)

    def environment(self) -> dict[str, str]:
        """Variables for an emulator in a folder, whose modules are in that folder too."""
        own = {} if self.folder is None else {"QEMU_MODULE_DIR": str(self.folder)}
        return {**os.environ, **own}


@dataclass(frozen=True)
class Recording:
    """A finished recording: the recorder's summary, the trace, the program's output."""

    summary: dict[str, Any]
    path: Path
    out: str

    def columns(self) -> dict[str, np.ndarray]:
        names = ["thread", "kind", "addr", "size", "flags", "pc"]
        batches = list(_core.read_batches(str(self.path), names))
        return {name: np.concatenate([b[name] for b in batches]) for name in names}

    def metadata(self) -> dict[str, Any]:
        return json.loads(_core.trace_metadata(str(self.path)))

    def events(self) -> list[list[str]]:
        """The events in order, as the words of the trace's text form: thread, event, fields."""
        text = self.path.with_suffix(".txt")
        _core.export_trace(str(self.path), "text", str(text), None)
        lines = text.read_text().splitlines()
        return [line.split()[1:] for line in lines if line.startswith("@")]

    def symbol(self, name: str) -> tuple[int, int]:
        """First address and size of a static object."""
        found = [
            r for r in self.metadata()["ranges"] if r["kind"] == "static" and r["name"] == name
        ]
        assert len(found) == 1, f"{name}: {found}"
        return found[0]["start"], found[0]["size"]

    def touching(self, name: str) -> dict[str, np.ndarray]:
        """The references to a static object."""
        start, size = self.symbol(name)
        all_columns = self.columns()
        inside = (all_columns["addr"] >= start) & (all_columns["addr"] < start + size)
        return {column: values[inside] for column, values in all_columns.items()}


Builder = Callable[..., Path]
Recorder = Callable[..., Recording]
OnADisk = Callable[[str, Path, str], subprocess.CompletedProcess[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test of a session also compiles the runtime."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(1200))


@pytest.fixture(params=["installed", "later"])
def qemu(request: pytest.FixtureRequest) -> Qemu:
    """Every QEMU to test with: HOMENODE_TEST_QEMU is the folder of a later one."""
    if request.param == "installed":
        return Qemu(None)
    folder = os.environ.get("HOMENODE_TEST_QEMU")
    if not folder:
        pytest.skip("HOMENODE_TEST_QEMU does not name the folder of a later QEMU")
    return Qemu(Path(folder))


@dataclass(frozen=True)
class _Programs:
    """Compiled programs, which all processes of one test session share."""

    folder: Path

    def made(self, key: tuple[str, ...], make: Callable[[Path], None]) -> Path:
        """The program for a key; the first process that asks for it makes it."""
        stem = Path(key[0]).stem
        target = self.folder / f"{stem}-{hashlib.sha256(repr(key).encode()).hexdigest()[:12]}"
        with target.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.exists():
                make(target)
        return target


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> _Programs:
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "programs"
    folder.mkdir(exist_ok=True)
    return _Programs(folder)


@pytest.fixture(scope="session")
def build(programs: _Programs) -> Builder:
    """Compiles a program of this folder with the wrapper, once for each combination."""

    def run(source: str, *flags: str, environment: Mapping[str, str] | None = None) -> Path:
        path = PROGRAMS / source

        def make(target: Path) -> None:
            words = ["-O1", "-w", str(path), "-o", str(target), "-pthread", *flags]
            with pytest.MonkeyPatch.context() as patch:
                for name, value in (environment or {}).items():
                    patch.setenv(name, value)
                code = compilers.compile(_LANGUAGES[path.suffix], words)
            assert code == 0, f"{source} {flags}"

        chosen = {name: os.environ.get(name) for name in _CHOICES}
        return programs.made((source, "hooks", *flags, repr(environment), repr(chosen)), make)

    return run


@pytest.fixture(scope="session")
def compiled(programs: _Programs) -> Builder:
    """Compiles a program as a user would, once for each combination."""

    def run(source: str | Path, *flags: str, machine: str = "x86_64") -> Path:
        compiler = "gcc" if machine == "x86_64" else f"{machine}-linux-gnu-gcc"
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")

        def make(target: Path) -> None:
            line = [compiler, "-O1", "-w", "-g", f"-I{_HEADERS}", str(PROGRAMS / source)]
            subprocess.run([*line, "-o", str(target), "-pthread", *flags], check=True)

        return programs.made((str(source), compiler, *flags), make)

    return run


@pytest.fixture
def record(tmp_path: Path) -> Recorder:
    """Records a program; options are the recorder's, `environment` adds variables."""
    count = 0

    def run(
        program: Path, *words: str, environment: Mapping[str, str] | None = None, **options: Any
    ) -> Recording:
        nonlocal count
        count += 1
        trace = tmp_path / f"{count}.hnt"
        summary = tmp_path / f"{count}.json"
        wanted = {"argv": [str(program), *words], "output": str(trace), **options}
        process = subprocess.Popen(
            recorder(wanted, summary),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            pytest.fail(f"{program.name} {words} hangs; it wrote {out!r} {err!r}")
        assert process.returncode == 0, err
        hn.Trace.open(trace)
        return Recording(json.loads(summary.read_text()), trace, out)

    return run


@pytest.fixture
def emulate(record: Recorder, qemu: Qemu) -> Recorder:
    """Records a program in each emulator."""

    def run(program: Path, *words: str, machine: str = "x86_64", **options: Any) -> Recording:
        chosen = {"emulator": qemu.emulator(machine), "plugin": str(plugin.plugin())}
        return record(program, *words, via="qemu", **chosen, **options)

    return run


@pytest.fixture
def natively() -> Callable[..., str]:
    """The output of a program that is not recorded."""

    def run(program: Path, *words: str) -> str:
        line = [str(program), *words]
        done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=_TIMEOUT_S)
        return done.stdout

    return run


@pytest.fixture
def kill_recorder() -> Callable[..., None]:
    """Kills a recorder whose program has begun: the program is killed too, or runs to its end."""

    def kill(
        options: Mapping[str, Any], report: Path, patience_s: float, *, goes_on: bool = False
    ) -> None:
        code = IMPORTED + "_core.record(sys.argv[1], None)"
        recorder = subprocess.Popen([*PYTHON, code, json.dumps(options)], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + patience_s
        # The file exists before its first line is written.
        while not (report.exists() and report.read_text()) and time.monotonic() < deadline:
            time.sleep(0.01)
        started = Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
        assert len(started) == 1
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
        if not goes_on:
            while Path(f"/proc/{started[0]}").exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            assert not Path(f"/proc/{started[0]}").exists()
            assert report.read_text() == "started\n"
            return
        while report.read_text() != "started\ndone\n" and time.monotonic() < deadline:
            time.sleep(0.05)
        assert report.read_text() == "started\ndone\n"

    return kill


@pytest.fixture
def interrupt_recorder() -> Callable[..., None]:
    def interrupt(options: Mapping[str, Any]) -> None:
        calls = 0

        def progress(done: int, total: int | None) -> None:
            nonlocal calls
            assert done >= 0
            assert total is None
            calls += 1
            if calls == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            _core.record(json.dumps(options), progress)

    return interrupt


@pytest.fixture(scope="session")
def on_a_disk() -> OnADisk:
    """Runs a script on an empty disk of a size, which is mounted on a folder."""

    def run(size: str, folder: Path, script: str) -> subprocess.CompletedProcess[str]:
        line = ["unshare", "-Urm", "sh", "-c", _ON_A_DISK, "sh", size, str(folder), script]
        return subprocess.run(line, capture_output=True, text=True, check=False, timeout=1200)

    return run


@pytest.fixture
def disk(tmp_path: Path, on_a_disk: OnADisk) -> Path:
    """A folder on which a disk can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    tried = on_a_disk("4k", folder, "true")
    if tried.returncode != 0:
        pytest.skip(f"no disk can be mounted in a user namespace here: {tried.stderr.strip()}")
    return folder

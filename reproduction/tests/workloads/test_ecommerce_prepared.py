"""The guest's part of the e-commerce workload, tested without a guest: script, files, settings."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from homenode_studies.cli.ecommerce import ecommerce
from homenode_studies.workloads import ecommerce as suite
from homenode_studies.workloads.ecommerce import guest, mixes, needs, recording, utilities

INIT = (guest.FOLDER / "init.sh").read_text()

# Distinct blocks of 32 bytes of the paper's table 1.
LS, GZIP = 5860, 7123


def _functions(*names: str) -> str:
    """Functions of the guest's first process, extracted from its script."""
    found = [
        re.search(rf"^{name}\(\) {{\n.*?^}}\n", INIT, re.DOTALL | re.MULTILINE) for name in names
    ]
    return "".join(function[0] for function in found if function is not None)


def _run(script: str) -> str:
    done = subprocess.run(
        ["/bin/sh", "-e"], input=script, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_files_of_the_utilities_are_few_and_depend_on_the_seed_alone(tmp_path: Path) -> None:
    texts = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        utilities.write(tmp_path / name, seed)
        files = [path for path in sorted((tmp_path / name).rglob("*")) if path.is_file()]
        texts.append({str(path.relative_to(tmp_path / name)): path.read_bytes() for path in files})
    assert texts[0] == texts[1] != texts[2]
    log, tree = texts[0]["access.log"], [name for name in texts[0] if name.startswith("files/")]
    assert len(tree) == utilities.FOLDERS * utilities.FILES
    # A name in the kernel has 192 bytes, its inode 600: they leave the most room to programs.
    assert len(tree) * (192 + 600) // 32 < LS / 4
    assert len(log) // 32 < GZIP / 10


def test_utilities_go_over_the_same_few_files_in_every_round(tmp_path: Path) -> None:
    (tmp_path / "srv").mkdir()
    (tmp_path / "tmp").mkdir()
    utilities.write(tmp_path / "srv", 1)
    script = _functions("prepare_utilities", "start", "utilities")
    script = re.sub(r"(?<![\w/])/(srv|tmp)/", rf"{tmp_path}/\1/", script)
    script = script.replace("/bin/busybox ", "").replace("mkdir ", "mkdir -p ")
    rounds = 3
    head = f"ROUNDS={rounds} BEGINNING=0 UTILITIES=\nprepare_utilities\n"
    seen = "find {0}/tmp -type f -printf '%i\\n' | sort -u | wc -l\nls {0}/tmp/old | wc -l\n"
    # No process is stopped: all run to their end.
    tail = "kill() { :; }\nutilities\nfor utility in $UTILITIES; do wait $utility; done\n"
    said = _run(script + head + seen.format(tmp_path) + tail).split()
    # The files that are read and removed, and those that are written.
    assert said == [str(2 * utilities.FOLDERS * utilities.FILES), str(rounds)]
    assert not (tmp_path / "tmp/old").exists()
    originals = sorted((tmp_path / "srv/files").rglob("*.html"))
    for number in range(rounds):
        copies = sorted((tmp_path / f"tmp/copies/{number}").rglob("*.html"))
        assert [path.name for path in copies] == [path.name for path in originals]
        assert [path.read_bytes() for path in copies] == [path.read_bytes() for path in originals]


def _found(folder: Path, *, counting: bool = True) -> needs.Found:
    return needs.Found({"postgres": folder / "postgres"}, "qemu", counting)


def test_all_five_utilities_are_started(tmp_path: Path) -> None:
    lines = re.findall(r"^    start (\S+)", INIT, re.MULTILINE)
    assert tuple(Path(line).name for line in lines) == mixes.UTILITIES
    # Their number of rounds grows with the length of the recording, and is at least one.
    rounds = [
        mixes.Plan(mixes.find("ec"), references=many).settings(_found(tmp_path))["ROUNDS"]
        for many in (1, 60_000_000, 600_000_000)
    ]
    assert rounds == [60, 70, 160]
    # A guest in real time does less in a second.
    plan = mixes.Plan(mixes.find("ec"), references=100_000_000)
    settings = [plan.settings(_found(tmp_path, counting=counting)) for counting in (True, False)]
    assert [each["BEGINNING"] for each in settings] == [0.03, 0.15]
    assert [each["LENGTH"] for each in settings] == ["0.070", 86400]


def test_timer_interrupts_of_all_processors_are_counted(tmp_path: Path) -> None:
    table = tmp_path / "interrupts"
    table.write_text(
        "            CPU0       CPU1       \n"
        "   4:         17          3   IO-APIC   4-edge      ttyS0\n"
        " NMI:          5          6   Non-maskable interrupts\n"
        " LOC:       1200        345   Local timer interrupts\n"
        " RES:         80         90   Rescheduling interrupts\n"
    )
    assert _run(f"{_functions('count_ticks')}count_ticks {table}\n") == "1545\n"


@pytest.mark.parametrize("counts", [True, False])
def test_time_goes_by_instructions_where_qemu_can(
    counts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QEMU's words, from a recording that is not run."""
    said: list[list[str]] = []

    class Recorder:
        """Replaces the trace."""

        @staticmethod
        def record(argv: list[str], *_: Any, **__: Any) -> None:
            """Keeps the words, and prints what a guest prints at its end."""
            said.append(argv)
            results = {"alive": 1, "orders_in_database": 0, "orders_whole": 0, "ticks": 7}
            results |= {"pages_recorded": 1, "query_errors": 0}
            text = "".join(f"result: {name} {value}\n" for name, value in results.items())
            (tmp_path / "console.txt").write_text(text + "result: end\n")

    monkeypatch.setattr(recording, "Trace", Recorder)
    (tmp_path / "guest.cpio").write_bytes(b"")
    machine = recording.Machine(Path("vmlinuz"), "qemu", tmp_path, counts)
    results = recording.record(
        machine, mixes.Plan(mixes.find("db"), references=1), tmp_path / "t.hnt"
    )
    assert (results["ticks"], "instructions" in results["clock"]) == (7, counts)
    words = " ".join(said[0])
    assert ("-icount shift=0,sleep=off" in words) == counts
    assert "-serial chardev:stop" in words


def test_apache_s_children_make_no_pages() -> None:
    apache = (guest.FOLDER / "apache.conf").read_text()
    workers = (guest.FOLDER / "php-fpm.conf").read_text()
    socket = re.search(r"^listen = (\S+)", workers, re.MULTILINE)
    assert socket is not None
    assert f'SetHandler "proxy:unix:{socket[1]}|fcgi://localhost"' in apache
    assert "php_module" not in apache
    assert "EnableSendfile On" in apache
    modules = re.findall(r"modules/mod_(\w+)\.so", apache)
    assert "proxy_fcgi" in modules
    # Each of those that make pages has a connection to the database.
    assert dict(mixes.find("ec").processes)["postgres"] == mixes.WORKERS
    assert not any("php" in name for mix in mixes.TABLE for name, _ in mix.processes)
    assert "libapache2-mod-php" not in [package for package, _ in needs.PACKAGES.values()]


def test_the_shell_understands_the_script() -> None:
    assert _run(f"set -n\n{INIT}") == ""


def test_the_command_prints_what_is_shared_and_how_often_the_timer_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = {"pages_recorded": 39, "orders_in_database": 12, "ticks": 1234}
    made = {"trace": "ec.hnt", "system": "ec.system.hnt", "ticks_per_million": 1.06}
    row = {"name": "apache2", "processes": 13, "references": 1000, "distinct_blocks": 10}
    row |= {"kernel": 0.5, "code": 0.7, "data": 0.3, "writes": 0.1, "shared_blocks": 4}
    row |= {"shared": 0.0307, "shared_writes": 0.0109}

    def record(*_: Any) -> dict[str, Any]:
        return {**made, "checked": {**checked, "clock": "its instructions"}}

    monkeypatch.setattr(suite, "record", record)
    monkeypatch.setattr(suite, "statistics", lambda *_: [row])
    done = CliRunner().invoke(ecommerce, ["ec", "-o", str(tmp_path)])
    assert done.exit_code == 0, done.output
    words = " ".join(done.output.split())
    assert "10 70.00 % 30.00 % 10.00 % 4 3.07 % 1.09 %" in words
    timer = "1,234 interrupts, 1.1 in a million instructions of the guest, whose clock is that of "
    assert f"timer {timer}its instructions" in words

"""The complete e-commerce workload: a guest is made, booted and recorded, and its mix checked.

Has the workload's requirements (PostgreSQL, Apache, PHP, QEMU), and a kernel that
HOMENODE_TEST_KERNEL names.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import homenode as hn
from homenode_studies.workloads.ecommerce import mixes, needs


def _ready() -> str:
    """The reason why this cannot run here, if any."""
    if not os.environ.get("HOMENODE_TEST_KERNEL"):
        return "HOMENODE_TEST_KERNEL names no kernel"
    try:
        needs.find()
    except hn.ConfigError as error:
        return str(error)
    return ""


@pytest.mark.skipif(bool(_ready()), reason=_ready())
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ["ec", "db"])
def test_a_guest_is_made_recorded_and_checked(name: str, tmp_path: Path) -> None:
    line = [sys.executable, "-m", "homenode", "workload", "ecommerce", name, "--json", "--quick"]
    line += ["--items", "500", "--customers", "600", "-o", str(tmp_path), "--keep"]
    line += ["--kernel", os.environ["HOMENODE_TEST_KERNEL"]]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = json.loads(done.stdout)
    assert made["checked"]["pages_recorded"] > 0
    trace = hn.Trace.open(made["trace"])
    assert trace.threads == 26
    assert trace.info["fetches"] > trace.references
    alive = Counter(row["name"].split()[0] for row in made["statistics"] if " " in row["name"])
    assert alive == dict(mixes.find(name).processes)
    names = {path.name for path in tmp_path.iterdir()}
    kept = {"hnt", "system.hnt", "console.txt", "guest.cpio"}
    assert names == {f"{name}.{ending}" for ending in kept}

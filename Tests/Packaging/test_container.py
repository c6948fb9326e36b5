"""The image's recipe and the compose file, as their own tools read them."""

import json
import re
import subprocess
import sys
from pathlib import Path

HOUSE = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent


def test_hadolint_has_nothing_to_say():
    # Versions of Debian's packages are Debian's to choose: security updates have to come in.
    done = subprocess.run(
        [TOOLS / "hadolint", "--ignore", "DL3008", str(HOUSE / "Dockerfile")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_compose_reads_its_file():
    done = subprocess.run(
        [TOOLS / "docker-compose", "-f", str(HOUSE / "packaging/compose.yaml"), "config", "--format", "json"],
        capture_output=True, text=True)
    assert done.returncode == 0, done
    service = json.loads(done.stdout)["services"]["parley"]
    assert Path(service["build"]["context"]) == HOUSE
    # No port of this machine but its own.
    assert [port["host_ip"] for port in service["ports"]] == ["127.0.0.1"]
    assert service["volumes"][0]["target"] == "/var/lib/parley"


def test_image_and_package_need_the_same_libraries():
    recipe = (HOUSE / "Dockerfile").read_text().split("FROM debian")[1]
    install = (HOUSE / "packaging/INSTALL").read_text()
    libraries = set(" ".join(re.findall(r"apt-get install (.*)", install)).split())
    packages = re.search(r"--no-install-recommends(.*?)&&", recipe, re.DOTALL)[1].replace("\\\n", " ")
    assert libraries == set(packages.split()) - {"curl"}


def test_dependencies_have_exact_versions():
    """The image resolves Package.swift anew, so a range would build whatever is newest."""
    package = (HOUSE / "Package.swift").read_text()
    dependencies = re.findall(r"\.package\(.*?\)", package, re.DOTALL)
    assert dependencies and all(re.search(r'exact: "\d+\.\d+\.\d+"', each) for each in dependencies), dependencies
    resolved = json.loads((HOUSE / "Package.resolved").read_text())["pins"]
    # No dependency brings another one, whose version nothing here would say.
    assert len(resolved) == len(dependencies)

"""The bill of materials is CycloneDX, and the copyright file speaks of all that it names as linked in."""

import json
import subprocess
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

HOUSE = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bill(parley):
    if "libswiftCore" in subprocess.run(["ldd", parley], capture_output=True, text=True).stdout:
        pytest.skip("only what is packaged has a bill of materials: a program that is linked statically")
    return subprocess.run([HOUSE / "packaging/sbom", parley], check=True, capture_output=True, text=True).stdout


def test_it_is_cyclonedx(bill):
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill) is None


def test_it_names_what_the_program_is_made_of(bill):
    parts = {part["name"]: part for part in json.loads(bill)["components"]}
    assert {"swift-log", "swift-runtime", "libmicrohttpd12", "libsqlite3-0", "libssl3", "libyaml-0-2"} <= set(parts)
    assert all(part["licenses"] for part in parts.values() if not part["purl"].startswith("pkg:deb/"))


def test_it_is_the_same_twice(bill, parley):
    assert subprocess.run([HOUSE / "packaging/sbom", parley], capture_output=True, text=True).stdout == bill


def test_copyright_knows_everything_that_is_linked_in():
    told = (HOUSE / "packaging/debian/copyright").read_text().lower()
    for pin in json.loads((HOUSE / "Package.resolved").read_text())["pins"]:
        assert pin["identity"] in told, pin["identity"]

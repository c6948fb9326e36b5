"""openapi.yaml as tools read it: a validator, and a generator of clients."""

import json
import re
import subprocess
import sys

import pytest
import yaml
from openapi_spec_validator import OpenAPIV31SpecValidator
from pages import ROOT

FILE = ROOT / "openapi.yaml"
METHODS = {"get", "put", "post", "patch", "delete", "head", "options"}
# Answers that are not JSON: the generator has no type for them.
UNTYPED = {"*/*", "application/yaml"}


@pytest.fixture(scope="module")
def description():
    # Through JSON, so that dates are texts.
    return json.loads(json.dumps(yaml.safe_load(FILE.read_text()), default=str))


def operations(description):
    for path, item in description["paths"].items():
        for method, operation in item.items():
            if method in METHODS:
                yield method, path, operation


def test_the_description_is_valid(description):
    faults = [f"{list(fault.absolute_path)}: {fault.message}"
              for fault in OpenAPIV31SpecValidator(description).iter_errors()]
    assert faults == []


def test_a_generator_makes_a_typed_client_of_every_operation(description, tmp_path):
    client = tmp_path / "client"
    run = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", "--path", FILE, "--output-path", client,
         "--meta", "none"], capture_output=True, text=True, cwd=tmp_path)
    report = run.stdout + run.stderr
    assert run.returncode == 0, report
    assert "will not be generated" not in report and "Unable to" not in report, report
    # What the generator leaves out is what has a media type that it cannot know, and nothing else.
    warnings = report.split("WARNING ")[1:]
    left_out = [re.search(r"Unsupported content.type (\S+?)\)?(?:,|$)", each, re.MULTILINE) for each in warnings]
    assert all(each and each[1] in UNTYPED for each in left_out), report

    calls = {file.stem for file in client.glob("api/*/*.py")} - {"__init__"}
    assert len(calls) == len(list(operations(description)))

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


def answers(description):
    """Every answer of every operation, with references followed."""
    for method, path, operation in operations(description):
        for status, answer in operation["responses"].items():
            if "$ref" in answer:
                answer = description["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
            yield f"{method.upper()} {path} {status}", answer


def test_every_operation_that_takes_a_credential_may_be_over_its_rate(description):
    without = [f"{method.upper()} {path}" for method, path, operation in operations(description)
               if "401" in operation["responses"] and operation.get("security") != []
               and "429" not in operation["responses"]]
    assert without == []


def test_every_answer_names_its_request(description):
    assert [name for name, answer in answers(description) if "X-Request-Id" not in answer.get("headers", {})] == []


def test_the_codes_of_problems_are_those_the_gateway_lists(gateway, description):
    listed = gateway.call("GET", "/problems").json()["data"]
    assert description["components"]["schemas"]["ProblemCodeName"]["enum"] == [entry["code"] for entry in listed]


# Below these a property is a condition on one that is described beside them.
CONDITIONS = {"anyOf", "if", "then", "else", "not", "dependentSchemas"}


def properties(node, place):
    """Every property of every schema at or below `node`, with its place."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            for name, member in node["properties"].items():
                yield f"{place}/properties/{name}", member
        for name, inner in node.items():
            is_condition = name in CONDITIONS and "properties" in node
            if name not in ("example", "examples") and not is_condition:
                yield from properties(inner, f"{place}/{name}")
    elif isinstance(node, list):
        for index, inner in enumerate(node):
            yield from properties(inner, f"{place}/{index}")


def test_properties_have_descriptions(description):
    named = description["components"]["schemas"]

    def is_described(member):
        if not isinstance(member, dict) or "description" in member:
            return True
        return "$ref" in member and "description" in named.get(member["$ref"].rsplit("/", 1)[1], {})

    assert [place for place, member in properties(description, "#") if not is_described(member)] == []


def test_operations_have_examples(description):
    # That the examples are true is seen by test_description_examples.py.
    assert without_examples(description) == set()


def without_examples(description):
    """Operations with a JSON body that is asked for, or a JSON answer of success, that shows no example."""
    def shows(content):
        return "application/json" not in content or {"example", "examples"} & content["application/json"].keys()

    missing = set()
    for _, _, operation in operations(description):
        bodies = [operation["requestBody"]["content"]] if "requestBody" in operation else []
        for status, answer in operation["responses"].items():
            if "$ref" in answer:
                answer = description["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
            if status.startswith("2") and "content" in answer:
                bodies.append(answer["content"])
        if not all(map(shows, bodies)):
            missing.add(operation["operationId"])
    return missing

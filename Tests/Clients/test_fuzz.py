"""Whatever comes in, every route answers in its own words, in time, and the gateway goes on (`fuzz_http.py`).

A seed is printed and can be given: PARLEY_FUZZ_SECONDS=600 PARLEY_FUZZ_SEED=1 scripts/client-tests PARLEY -s -k fuzz"""

import json
from pathlib import Path

import pytest
import yaml

from conftest import Gateway
from fuzz_http import METHODS, Campaign, framed

# Every route of PubNub's wire: holes are {names}, {numbers} or {json}; what it reads of the query; a body it would take.
KEYS = "demo/demo"
PUBLISHING = ["store", "ttl", "meta", "norep", "custom_message_type", "uuid", "seqn"]
HISTORY = ["max", "start", "end", "reverse", "include_meta", "include_uuid", "include_message_type",
           "include_custom_message_type", "encode_channels"]
OBJECTS = ["include", "limit", "start", "end", "count", "filter", "sort"]
PRESENCE = "/v2/presence/sub-key/demo"
GROUPS = "/v1/channel-registration/sub-key/demo/channel-group"
MEMBERSHIPS = {"set": [{"channel": {"id": "a"}, "uuid": {"id": "ana"}, "custom": {"n": 1.5}, "status": "s", "type": "t"}],
               "delete": [{"channel": {"id": "b"}, "uuid": {"id": "bob"}}]}
USER = {"name": "Ana", "email": "a@b.c", "externalId": "x", "profileUrl": "y", "status": "s", "type": "t", "custom": {"n": 1}}
GRANT = {"ttl": 60, "permissions": {"resources": {"channels": {"a": 3}, "groups": {}, "uuids": {"ana": 96}},
                                    "patterns": {"channels": {"^a.*$": 1}}, "meta": {"k": [1]}, "uuid": "ana"}}
WIRE = [
    ("GET", "/time/0", [], None),
    ("GET", f"/publish/{KEYS}/0/{{name}}/0/{{json}}", PUBLISHING, None),
    ("POST", f"/publish/{KEYS}/0/{{name}}/0", PUBLISHING, {"type": "text", "text": "hi", "files": []}),
    ("GET", f"/signal/{KEYS}/0/{{name}}/0/{{json}}", PUBLISHING, None),
    ("GET", f"/v1/files/publish-file/{KEYS}/0/{{name}}/0/{{json}}", PUBLISHING, None),
    ("GET", "/v2/subscribe/demo/{name}/0", ["tt", "tr", "channel-group", "filter-expr", "heartbeat", "state", "uuid"], None),
    ("GET", "/v3/history/sub-key/demo/channel/{name}", HISTORY, None),
    ("GET", "/v3/history-with-actions/sub-key/demo/channel/{name}", HISTORY, None),
    ("GET", "/v2/history/sub-key/demo/channel/{name}",
     ["count", "start", "end", "reverse", "include_token", "include_meta", "string_message_token"], None),
    ("DELETE", "/v3/history/sub-key/demo/channel/{name}", ["start", "end"], {}),
    ("GET", "/v3/history/sub-key/demo/message-counts/{name}", ["timetoken", "channelsTimetoken"], None),
    ("GET", GROUPS, [], None),
    ("GET", GROUPS + "/{name}", ["add", "remove"], None),
    ("GET", GROUPS + "/{name}/remove", [], None),
    ("GET", PRESENCE, ["disable_uuids", "state", "limit", "offset"], None),
    ("GET", PRESENCE + "/channel/{name}", ["disable_uuids", "state", "limit", "offset", "channel-group"], None),
    ("GET", PRESENCE + "/channel/{name}/heartbeat", ["uuid", "heartbeat", "state", "channel-group"], None),
    ("GET", PRESENCE + "/channel/{name}/leave", ["uuid", "channel-group"], None),
    ("GET", PRESENCE + "/channel/{name}/uuid/{name}", ["channel-group"], None),
    ("GET", PRESENCE + "/channel/{name}/uuid/{name}/data", ["state", "channel-group"], None),
    ("GET", PRESENCE + "/uuid/{name}", [], None),
    ("GET", "/v1/message-actions/demo/channel/{name}", ["start", "end", "limit"], None),
    ("POST", "/v1/message-actions/demo/channel/{name}/message/{number}", ["uuid"], {"type": "reactions", "value": "smile"}),
    ("DELETE", "/v1/message-actions/demo/channel/{name}/message/{number}/action/{number}", ["uuid"], None),
    ("GET", "/v2/objects/demo/uuids", OBJECTS, None),
    ("GET", "/v2/objects/demo/uuids/{name}", ["include"], None),
    ("PATCH", "/v2/objects/demo/uuids/{name}", ["include"], USER),
    ("DELETE", "/v2/objects/demo/uuids/{name}", [], None),
    ("GET", "/v2/objects/demo/uuids/{name}/channels", OBJECTS, None),
    ("PATCH", "/v2/objects/demo/uuids/{name}/channels", OBJECTS, MEMBERSHIPS),
    ("GET", "/v2/objects/demo/channels", OBJECTS, None),
    ("GET", "/v2/objects/demo/channels/{name}", ["include"], None),
    ("PATCH", "/v2/objects/demo/channels/{name}", ["include"], {**USER, "description": "d"}),
    ("DELETE", "/v2/objects/demo/channels/{name}", [], None),
    ("GET", "/v2/objects/demo/channels/{name}/uuids", OBJECTS, None),
    ("PATCH", "/v2/objects/demo/channels/{name}/uuids", OBJECTS, MEMBERSHIPS),
    ("POST", "/v3/pam/demo/grant", [], GRANT),
    ("DELETE", "/v3/pam/demo/grant/{name}", [], None),
    ("POST", "/v1/files/demo/channels/{name}/generate-upload-url", [], {"name": "a.png"}),
    ("GET", "/v1/files/demo/channels/{name}/files/{name}/{name}", [], None),
    ("GET", "/v1/push/sub-key/demo/devices/{name}", ["type", "add", "remove"], None),
    ("GET", "/v2/push/sub-key/demo/devices-apns2/{name}", ["environment", "topic"], None),
]
COMMON = ["uuid", "auth", "pnsdk", "requestid", "ee", "signature", "timestamp", "l_pub", "callback", "on-demand"]


def filled(odd, pattern):
    """A path of the pattern; now and then of none."""
    path = b""
    for part in pattern.split("/")[1:]:
        path += b"/"
        if not part.startswith("{"):
            path += part.encode() if odd.chance(0.985) else odd.escaped(odd.text())
        elif part == "{json}":
            path += odd.escaped(odd.text() if odd.chance(0.5) else json.dumps(odd.value()), safe="/:")
        else:
            path += odd.escaped(odd.number() if part == "{number}" else odd.text(), safe=",:")
    if odd.chance(0.03):
        path += odd.random.choice([b"/", b"//", b"/x", b";a", b"%", b"#a", b"/.."])
    return path[:70_000].replace(b" ", b"%20").replace(b"\r", b"%0D").replace(b"\n", b"%0A").replace(b"\0", b"%00")


def query(odd, names):
    items = []
    for _ in range(odd.random.choice([0, 0, 0, 1] if odd.is_calm else [0, 0, 1, 1, 2, 3, 6])):
        name = odd.random.choice(names) if names and odd.chance(0.9) else odd.text()[:40]
        value = odd.text() if odd.chance(0.6) else odd.number()
        item = odd.escaped(name) + (b"=" + odd.escaped(value) if odd.chance(0.95) else b"")
        items += [item] * (2 if odd.chance(0.05) else 1)
    text = b"&".join(items)[:66_000]
    return text.replace(b" ", b"+").replace(b"\r", b"%0D").replace(b"\n", b"%0A").replace(b"\0", b"%00")


def ask(odd, method, pattern, names, example, fields=()):
    path, text = filled(odd, pattern), query(odd, names)
    target = path + b"?" + text if text else path
    wanted = method if odd.is_calm or odd.chance(0.95) else odd.random.choice(METHODS)
    body = odd.body(example) if example is not None else b""
    return framed(odd, wanted, target, fields, body)


def is_wire_refusal(status, kind, value):
    """Nil for one of the forms that PubNub's SDKs know (`pubnub-wire.md` 4), or the gateway's one body for unknown paths."""
    if isinstance(value, list):
        ok = len(value) == 3 and value[0] == 0 and isinstance(value[1], str) and value[1] and str(value[2]).isdigit()
        return None if ok and isinstance(value[2], str) else "no refusal of a publish"
    error = value.get("error")
    if isinstance(error, dict):
        ok = value.get("status") == status and error.get("message") and error.get("source")
        details = error.get("details", [])
        ok = ok and all(set(detail) == {"message", "location", "locationType"} for detail in details)
    elif isinstance(error, str):
        ok = status == 403 and error.startswith("Use of the mobile push")
    elif "problem+json" in kind:
        ok = value.get("status") == status and value.get("title") and value.get("request_id")
    else:
        said = value.get("message") or value.get("error_message")
        ok = value.get("status") == status and bool(error) and isinstance(said, str)
    return None if ok else "no refusal that an SDK knows"


def is_problem(status, kind, value):
    ok = ("problem+json" in kind and isinstance(value, dict) and value.get("status") == status
          and value.get("title") and value.get("code") and value.get("request_id"))
    return None if ok else "no problem+json"


@pytest.fixture
def strained(tmp_path):
    """A gateway on which nothing waits for long."""
    gateway = Gateway(tmp_path / "data", options=["--set", "limits.pubnub_poll_hold_seconds=1"]).start()
    yield gateway
    assert gateway.stop() in (0, None)


def goes_on(gateway):
    """What is said is stored and heard as ever."""
    start = gateway.call("GET", "/v2/subscribe/demo/after/0").json()["t"]["t"]
    sent = gateway.call("GET", "/publish/demo/demo/0/after/0/%22fuzz%22").json()
    heard = gateway.call("GET", f"/v2/subscribe/demo/after/0?tt={start}").json()
    assert [item["d"] for item in heard["m"]] == ["fuzz"] and heard["t"]["t"] == sent[2]
    emitted = gateway.emit("after", {"n": 1}, type="after.fuzz")
    stored = gateway.call("GET", "/v1/channels/after/events").json()["data"]
    assert emitted["timetoken"] in [event["timetoken"] for event in stored]


def test_fuzz_of_pubnubs_routes(strained):
    def draw(odd):
        method, pattern, names, example = odd.random.choice(WIRE)
        # One that waits takes a second of few.
        names = [name for name in names if name != "tt" or odd.chance(0.02)] + (COMMON if odd.chance(0.3) else [])
        return ask(odd, method, pattern, names, example)

    Campaign(strained, "pubnub", draw, is_wire_refusal).run()
    goes_on(strained)


class Native:
    """The routes of openapi.yaml, with what it says of their parameters and bodies."""

    # What would end the run: the app, the keys and the tokens that everything else is asked with.
    SPARED = {("DELETE", "/v1/apps/{id}"), ("DELETE", "/v1/keys/{id}"), ("PATCH", "/v1/keys/{id}"), ("PATCH", "/v1/apps/{id}")}

    def __init__(self):
        self.document = yaml.safe_load((Path(__file__).parents[2] / "openapi.yaml").read_text())
        self.routes = []
        for path, operations in self.document["paths"].items():
            for method, operation in operations.items():
                if method == "parameters" or (method.upper(), path) in self.SPARED:
                    continue
                parameters = [self.resolved(one) for one in operations.get("parameters", []) + operation.get("parameters", [])]
                names = [one["name"] for one in parameters if one["in"] == "query"]
                content = self.resolved(operation.get("requestBody", {})).get("content", {})
                body = self.example(next(iter(content.values()))) if content else None
                self.routes.append((method.upper(), path, names, body))

    def resolved(self, part):
        while "$ref" in part:
            target = self.document
            for name in part["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            part = target
        return part

    def example(self, media, depth=0):
        """A value of the schema, or what stands there as one."""
        for name in ("example", "default"):
            if name in media:
                return media[name]
        if "examples" in media:
            first = media["examples"]
            return first[0] if isinstance(first, list) else self.resolved(next(iter(first.values()))).get("value")
        schema = self.resolved(media.get("schema", media))
        if schema is not media and any(name in schema for name in ("example", "examples", "default")):
            return self.example(schema, depth)
        for name in ("oneOf", "anyOf", "allOf"):
            if name in schema and depth < 6:
                parts = [self.example(part, depth + 1) for part in schema[name]]
                whole = {}
                for part in parts if name == "allOf" else parts[:1]:
                    if not isinstance(part, dict):
                        return part
                    whole.update(part)
                return {**whole, **self.members(schema, depth)}
        if "enum" in schema or "const" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        kind = schema.get("type", "object")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "array":
            return [self.example(schema["items"], depth + 1)] if "items" in schema and depth < 6 else []
        return {"string": "a", "integer": 1, "number": 1.5, "boolean": True, "null": None}.get(
            kind, self.members(schema, depth))

    def members(self, schema, depth):
        if depth > 6:
            return {}
        return {name: self.example(self.resolved(part), depth + 1) for name, part in schema.get("properties", {}).items()}

    def at_home(self, value):
        """Nothing is sent to an address of the world's: those of examples become one where nobody listens."""
        if isinstance(value, dict):
            return {name: self.at_home(part) for name, part in value.items()}
        if isinstance(value, list):
            return [self.at_home(part) for part in value]
        return "http://127.0.0.1:9/hook" if isinstance(value, str) and "://" in value else value


def test_fuzz_of_the_native_routes(strained):
    native = Native()
    assert len(native.routes) > 150

    def draw(odd):
        method, pattern, names, example = odd.random.choice(native.routes)
        # Those that wait take a second, or are streams, of which the head is enough.
        if pattern in ("/v1/poll", "/v1/stream") and not odd.chance(0.1):
            method, pattern, names, example = odd.random.choice(native.routes)
        fields = [("Authorization", b"Bearer dev")] if odd.chance(0.97) else []
        return ask(odd, method, pattern, names, native.at_home(example) if example is not None else None, fields)

    Campaign(strained, "native", draw, is_problem).run()
    goes_on(strained)

"""Every command that a guide, the help or an advice names and that only reads is run against a gateway that has one of each
thing. That the others exist, with their options, is `DocumentedCommandTests`'."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
READING = {"list", "get", "stats", "explain", "versions", "members", "requests", "mappings", "preview", "print", "check",
           "diff", "url"}
ALONE = {"history", "audit", "doctor", "profiles"}
NAMED = re.compile(r"(?<![\w./-])parley ([a-z][a-z-]*)(?: ([a-z][a-z|-]*))?")


def wait_until(is_so):
    deadline = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def named():
    """The commands that read, as `("webhooks", "get")`, and `("audit",)` where one word is all."""
    found = set()
    texts = [HOUSE / "README.md", HOUSE / "openapi.yaml", *(HOUSE / "docs").glob("*.md"),
             *(HOUSE / "Sources").rglob("*.swift"), *(HOUSE / "Sources").rglob("*.js")]
    for text in texts:
        # A bar within a table of Markdown is written with a backslash.
        for group, verbs in NAMED.findall(text.read_text().replace("\\|", "|")):
            if group in ALONE:
                found.add((group,))
            found |= {(group, verb) for verb in verbs.split("|") if verb in READING and group != "schema"}
    return found


@pytest.fixture
def things(gateway):
    """One of each, and the arguments with which a command reads it."""
    def make(method, path, body):
        answer = gateway.call(method, path, json=body)
        assert answer.status_code in (200, 201, 202), answer.text
        return answer.json()

    make("PUT", "/v1/users/ana", {"name": "Ana"})
    make("PUT", "/v1/channels/room.1", {"kind": "group", "name": "Room"})
    make("PUT", "/v1/channels/room.1/members/ana", {})
    message = make("POST", "/v1/channels/room.1/messages", {"text": "hello", "user": "ana"})
    make("PUT", "/v1/event-types/order.paid", {"owner": "billing"})
    make("POST", "/v1/event-types/order.paid/versions", {"schema": {"type": "object"}})
    make("PUT", "/v1/sources/shop", {"scheme": "none", "mapping": {
        "channel": "orders", "type": "order.paid", "data": {"$": "body"}}})
    webhook = make("POST", "/v1/webhooks", {"url": "http://127.0.0.1:39999/hook"})["id"]
    subscription = make("POST", "/v1/subscriptions", {})["id"]
    event = make("POST", "/v1/channels/orders/events", {"type": "order.paid", "data": {"amount": 1}})["id"]
    job = make("POST", f"/v1/webhooks/{webhook}/replay", {"only": "all"})["job"]
    wait_until(lambda: gateway.call("GET", "/v1/deliveries").json()["data"])
    delivery = gateway.call("GET", "/v1/deliveries").json()["data"][0]["id"]
    key = gateway.call("GET", "/v1/keys").json()["data"][0]["id"]
    return {
        ("webhooks", "get"): [webhook], ("webhooks", "stats"): [webhook],
        ("webhooks", "preview"): [webhook, "--event", event],
        ("subscriptions", "get"): [subscription], ("deliveries", "get"): [delivery], ("jobs", "get"): [job],
        ("sources", "get"): ["shop"], ("sources", "mappings"): ["shop"], ("keys", "get"): [key], ("apps", "get"): ["demo"],
        ("users", "get"): ["ana"], ("channels", "get"): ["room.1"], ("channels", "members"): ["room.1"],
        ("messages", "list"): ["room.1"], ("messages", "get"): ["room.1", message["timetoken"]],
        ("types", "get"): ["order.paid"], ("types", "versions"): ["order.paid"],
        ("events", "get"): [event], ("events", "explain"): [event], ("history",): ["orders"],
        # Those of the log of a source are there once it was posted to.
        ("sources", "requests"): None,
        # Those of a machine, not of a gateway: test_operation_guide.py.
        ("config", "check"): None, ("config", "print"): None, ("config", "diff"): None, ("config", "url"): None,
        ("doctor",): None, ("profiles",): None, ("engine", "check"): None,
    }


def run(gateway, *arguments):
    environment = {"PATH": os.environ["PATH"], "PARLEY_URL": gateway.url, "PARLEY_KEY": gateway.key}
    return subprocess.run(
        [os.environ["PARLEY_BINARY"], *arguments], capture_output=True, text=True, timeout=60, env=environment)


def test_commands_that_read_print_what_is_there(gateway, things):
    commands = named()
    assert len(commands) > 25 and ("webhooks", "get") in commands and ("audit",) in commands
    for command in sorted(commands):
        arguments = things.get(command, [] if command[-1] in ("list", "audit") else "unknown")
        assert arguments != "unknown", f"parley {' '.join(command)}: what does it read?"
        if arguments is None:
            continue
        done = run(gateway, *command, *arguments)
        assert (done.returncode, done.stderr) == (0, ""), (command, done)
        assert done.stdout.strip(), command
        programs = run(gateway, *command, *arguments, "--json")
        assert (programs.returncode, programs.stderr) == (0, ""), (command, programs)
        lines = [json.loads(line) for line in programs.stdout.splitlines()]
        assert lines and all(isinstance(line, dict) for line in lines), command


def test_commands_show_what_texts_promise(gateway, things):
    [webhook] = things[("webhooks", "get")]
    assert "HEALTH" in run(gateway, "webhooks", "list").stdout.splitlines()[0]
    wait_until(lambda: "connect_refused" in run(gateway, "webhooks", "list").stdout)
    assert "BACKLOG" in run(gateway, "subscriptions", "list").stdout.splitlines()[0]
    app = run(gateway, "apps", "get", "demo").stdout
    assert "publish_key" in app and "subscribe_key" in app and "secret_key" not in app
    stats = run(gateway, "webhooks", "stats", webhook).stdout
    assert "LAST  ATTEMPTS" in stats and "{" not in stats
    missing = run(gateway, "history", "nowhere")
    assert (missing.returncode, missing.stdout) == (0, "") and "no events in 'nowhere'" in missing.stderr

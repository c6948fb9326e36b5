"""The main job on real input: a GitHub push is seen in a browser and received, signed, by a webhook consumer."""

import hashlib
import hmac
import json
from pathlib import Path

import requests
from standardwebhooks import Webhook

SECRET = "It's a Secret to Everybody"
BODY = (Path(__file__).parent / "github_push.json").read_bytes()

LISTEN = """
const [ticket, done] = arguments;
window.seen = [];
const source = new EventSource("/v1/stream?ticket=" + encodeURIComponent(ticket));
source.addEventListener("stream.ready", () => done("ready"));
source.addEventListener("github.push", e => window.seen.push([e.lastEventId, e.data]));
source.onmessage = e => window.seen.push(["unnamed", e.data]);
"""
SEEN = """
const [count, done] = arguments;
const look = () => window.seen.length >= count ? done(window.seen) : setTimeout(look, 10);
look();
"""


def push(gateway, delivery, secret=SECRET):
    signature = "sha256=" + hmac.new(secret.encode(), BODY, hashlib.sha256).hexdigest()
    return requests.post(gateway.url + "/in/github-main", data=BODY, timeout=20, headers={
        "Content-Type": "application/json", "X-GitHub-Event": "push", "X-GitHub-Delivery": delivery,
        "X-Hub-Signature-256": signature})


def test_github_push_reaches_browser_and_webhook(gateway, receiver, browser):
    made = gateway.call("PUT", "/v1/sources/github-main", {
        "scheme": "github", "secrets": [SECRET],
        "mapping": {"channel": "repos.{body/repository/name}", "type": "github.{header/X-GitHub-Event}",
                    "user": "{body/sender/login}", "data": {"$": "body"}}})
    assert made.status_code in (200, 201), made.text
    webhook = gateway.call("POST", "/v1/webhooks", {"url": receiver.url, "types": ["github.*"]}).json()
    ticket = gateway.call("POST", "/v1/stream-tickets", {"channels": ["repos.*"], "types": ["github.*"]}).json()

    browser.get(gateway.url + "/livez")
    assert browser.execute_async_script(LISTEN, ticket["ticket"]) == "ready"

    accepted = push(gateway, "72d3162e-cc78-11e3-81ab-4c9367dc0958")
    assert accepted.status_code == 202, accepted.text
    event = accepted.json()["events"][0]

    [[cursor, text]] = browser.execute_async_script(SEEN, 1)
    envelope = json.loads(text)
    assert cursor == event["timetoken"]
    assert envelope["channel"] == "repos.hello-world"
    assert envelope["type"] == "github.push"
    assert envelope["user"] == "octocat"
    assert envelope["data"] == json.loads(BODY)

    headers, body = receiver.requests.get(timeout=20)
    verified = Webhook(webhook["secret"]).verify(body, {name.lower(): value for name, value in headers.items()})
    assert verified["id"] == event["id"] == {n.lower(): v for n, v in headers.items()}["webhook-id"]
    assert verified["data"] == json.loads(BODY)
    # The payload is forwarded byte for byte, number spelling, escapes and all.
    assert BODY.strip() in body


def test_a_wrong_signature_stores_nothing_and_a_repeat_is_recognised(gateway):
    gateway.call("PUT", "/v1/sources/github-main", {
        "scheme": "github", "secrets": [SECRET],
        "mapping": {"channel": "repos", "type": "github.{header/X-GitHub-Event}", "data": {"$": "body"}}})
    refused = push(gateway, "one", secret="guessed")
    assert refused.status_code == 401
    assert refused.json()["code"] == "signature_invalid"
    first = push(gateway, "two").json()["events"][0]
    again = push(gateway, "two").json()["events"][0]
    assert again["timetoken"] == first["timetoken"]
    history = gateway.call("GET", "/v1/channels/repos/events").json()["data"]
    assert [event["id"] for event in history] == [first["id"]]

"""No secret, token or payload stands in a log or among the figures, whatever went well or wrong. Runs last: it looks
into what every gateway of the run has left."""

import base64
import hashlib
import hmac
import json
import time

import requests

from conftest import KEPT, SECRETS, Gateway

PAYLOAD = "payload-1f0c7a9e"
MARKERS = {
    PAYLOAD, "channel-1f0c7a9e", "user-1f0c7a9e", "guessed-key-1f0c7a9e", "guessed-ticket-1f0c7a9e",
    "source-secret-1f0c7a9e", "header-secret-1f0c7a9e", "pubnub-auth-1f0c7a9e", "query-secret-1f0c7a9e",
}


def jwt(secret, **claims):
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    head = part(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()) + "." + part(json.dumps(claims).encode())
    return head + "." + part(hmac.new(secret.encode(), head.encode(), hashlib.sha256).digest())


def emit_in_every_way(gateway):
    channel = "/v1/channels/channel-1f0c7a9e"
    for path, body in [
        ("/messages", {"text": PAYLOAD, "user": "user-1f0c7a9e"}), ("/events", {"type": "a.b", "data": {"x": PAYLOAD}}),
        ("/signals", {"data": PAYLOAD}), ("/fire", {"type": "a.b", "data": PAYLOAD}),
        ("/events", {"type": "message.created", "data": PAYLOAD}), ("/events", {"type": PAYLOAD + " ", "data": 1}),
        ("/events", {"tpye": PAYLOAD}), ("/events", {"data": PAYLOAD * 20_000}),
    ]:
        gateway.call("POST", channel + path, body)
    gateway.call("POST", channel + "/events", data='{"data": "' + PAYLOAD)
    gateway.call("POST", "/v1/event-types/strict.type/versions", {"schema": {"type": "object"}})
    gateway.call("POST", channel + "/events", {"type": "strict.type", "data": PAYLOAD})
    gateway.call("GET", channel + "/events")
    gateway.call("GET", "/v1/channels/" + PAYLOAD + "/events?limit=0")


def use_every_credential(gateway):
    key = gateway.call("POST", "/v1/keys", {"name": PAYLOAD, "scopes": ["read", "emit"]}).json()
    gateway.call("GET", "/v1/channels/a/events", key=key["key"])
    gateway.call("GET", "/v1/keys", key=key["key"])
    gateway.call("GET", "/v1/keys", key="guessed-key-1f0c7a9e")
    gateway.call("GET", "/v1/keys?access_token=query-secret-1f0c7a9e")
    app = gateway.call("POST", "/v1/apps", {"name": "other"}).json()
    token = jwt(app["secret_key"], iss=app["id"], sub="user-1f0c7a9e", scope="read emit", exp=time.time() + 60)
    SECRETS.add(token)
    gateway.call("GET", "/v1/channels/a/events", key=token)
    gateway.call("GET", "/v1/channels/a/events", key=token + "x")
    ticket = gateway.call("POST", "/v1/stream-tickets", {"channels": ["channel-1f0c7a9e"]}).json()["ticket"]
    for text in (ticket, "guessed-ticket-1f0c7a9e"):
        with requests.get(f"{gateway.url}/v1/stream", params={"ticket": text}, stream=True, timeout=20) as stream:
            next(stream.iter_lines(), None)
    for path in ("/publish/demo/demo/0/channel-1f0c7a9e/0/%22" + PAYLOAD + "%22", "/time/0", "/publish/demo/wrong/0/a/0/1"):
        requests.get(gateway.url + path, params={"auth": "pubnub-auth-1f0c7a9e", "uuid": "user-1f0c7a9e"}, timeout=20)


def hook_and_be_hooked(gateway, receiver):
    hook = gateway.call("POST", "/v1/webhooks", {
        "url": receiver.url + "?token=query-secret-1f0c7a9e", "headers": {"x-own": "header-secret-1f0c7a9e"}}).json()
    SECRETS.add(hook["secret"])
    gateway.call("POST", "/v1/webhooks", {
        "url": "http://127.0.0.1:1/?token=query-secret-1f0c7a9e", "auth": {"bearer": "header-secret-1f0c7a9e"}})
    gateway.emit("channel-1f0c7a9e", {"x": PAYLOAD})
    receiver.requests.get(timeout=20)
    gateway.call("POST", f"/v1/webhooks/{hook['id']}/test")
    gateway.call("POST", f"/v1/webhooks/{hook['id']}/rotate-secret", {})
    made = gateway.call("PUT", "/v1/sources/shop", {
        "scheme": "github", "secrets": ["source-secret-1f0c7a9e"],
        "mapping": {"channel": "{body/channel}", "type": "shop.{body/kind}", "data": {"$": "body"}}})
    assert made.status_code == 201, made.text
    for body in ({"channel": "channel-1f0c7a9e", "kind": "sale", "x": PAYLOAD}, {"x": PAYLOAD}):
        text = json.dumps(body).encode()
        signature = hmac.new(b"source-secret-1f0c7a9e", text, hashlib.sha256).hexdigest()
        for shown in (signature, "0" * 64):
            requests.post(f"{gateway.url}/in/shop", data=text, timeout=20,
                          headers={"X-Hub-Signature-256": "sha256=" + shown, "Content-Type": "application/json"})


def test_nothing_leaks(tmp_path, receiver):
    for form in ("text", "json"):
        gateway = Gateway(tmp_path / form)
        gateway.environment = {"PARLEY_LOG_LEVEL": "trace", "PARLEY_LOG_FORMAT": form}
        gateway.start()
        emit_in_every_way(gateway)
        use_every_credential(gateway)
        hook_and_be_hooked(gateway, receiver)
        gateway.wait_for_log("/v1/channels/{channel}/messages")
        assert gateway.stop() == 0

    logs = sorted(KEPT.glob("*.log"))
    assert logs and len(SECRETS) > 5
    for log in logs:
        text = log.read_text()
        found = {word for word in MARKERS | SECRETS if word in text}
        lines = [line for line in text.splitlines() if any(word in line for word in found)]
        assert not found, f"{log.name}: {lines[:5]}"

"""Signatures against the libraries people use: real senders' are accepted, and real receivers accept ours."""

import base64
import hashlib
import hmac
import itertools
import json
import queue
import threading
import time
from datetime import datetime, timezone
from urllib.parse import urlencode

import cloudevents.core.bindings.http as cloudevents_http
import http_message_signatures as message_signatures
import jwt
import pytest
import requests
import slack_sdk.signature
import standardwebhooks
import stripe
import svix.webhooks
import twilio.request_validator
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from conftest import Gateway

PUBLIC_URL = "https://gw.example"
BODY = '{"id":"evt_1","object":"event","type":"order.paid","data":{"text":"héllo"},"n":1.50}'
FIELDS = {"CallSid": "CA1234567890ABCDE", "Caller": "+14158675310", "Body": "héllo & more=1", "Empty": ""}
SHARED = "whsec_" + base64.b64encode(bytes(range(24))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(range(24, 48))).decode()
SIGNING_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC_KEY = SIGNING_KEY.public_key().public_bytes_raw()


@pytest.fixture
def gateway(tmp_path, monkeypatch):
    """One that knows its public address, which some senders sign, and stores secrets sealed."""
    monkeypatch.setenv("PARLEY_PUBLIC_URL", PUBLIC_URL)
    monkeypatch.setenv("PARLEY_SECRETS_KEY", base64.b64encode(bytes(range(32))).decode())
    gateway = Gateway(tmp_path / "data").start()
    yield gateway
    assert gateway.stop() in (0, None), "a stop by SIGTERM ends with 0"


# What senders send: each of these signs as the service's own library does, and returns headers, body and query.


def by_github(secret, path, at, body=BODY):
    digest = hmac.new(secret.encode(), body.encode(), hashlib.sha256).hexdigest()
    return {"X-Hub-Signature-256": "sha256=" + digest}, body, ""


def by_stripe(secret, path, at, body=BODY):
    return {"Stripe-Signature": stripe.WebhookSignature.generate_signature_header(body, secret, timestamp=at)}, body, ""


def by_slack(secret, path, at, body=BODY):
    signature = slack_sdk.signature.SignatureVerifier(secret).generate_signature(timestamp=str(at), body=body)
    return {"X-Slack-Signature": signature, "X-Slack-Request-Timestamp": str(at)}, body, ""


def by_twilio_form(secret, path, at, body=None):
    signature = twilio.request_validator.RequestValidator(secret).compute_signature(PUBLIC_URL + path, FIELDS)
    return {"X-Twilio-Signature": signature, "Content-Type": "application/x-www-form-urlencoded"}, urlencode(FIELDS), ""


def by_twilio_json(secret, path, at, body=BODY):
    validator = twilio.request_validator.RequestValidator(secret)
    query = "?bodySHA256=" + validator.compute_hash(body)
    return {"X-Twilio-Signature": validator.compute_signature(PUBLIC_URL + path + query, {})}, body, query


def by_standard(secret, path, at, body=BODY):
    signature = standardwebhooks.Webhook(secret).sign("msg_1", datetime.fromtimestamp(at, timezone.utc), body)
    return {"webhook-id": "msg_1", "webhook-timestamp": str(at), "webhook-signature": signature}, body, ""


def by_svix(secret, path, at, body=BODY):
    signature = svix.webhooks.Webhook(secret).sign("msg_1", datetime.fromtimestamp(at, timezone.utc), body)
    return {"svix-id": "msg_1", "svix-timestamp": str(at), "svix-signature": signature}, body, ""


def by_standard_key(key, path, at, body=BODY):
    signature = base64.b64encode(key.sign(f"msg_1.{at}.{body}".encode())).decode()
    return {"webhook-id": "msg_1", "webhook-timestamp": str(at), "webhook-signature": "v1a," + signature}, body, ""


def by_discord(key, path, at, body=BODY):
    return {"X-Signature-Ed25519": key.sign(f"{at}{body}".encode()).hex(), "X-Signature-Timestamp": str(at)}, body, ""


def by_message_signature(algorithm):
    def sign(secret, path, at, body=BODY):
        key = base64.b64decode(secret.removeprefix("whsec_")) if isinstance(secret, str) else secret
        request = requests.Request("POST", PUBLIC_URL + path + "?x=1", data=body.encode()).prepare()
        request.headers["Content-Type"] = "application/json"
        message_signatures.HTTPMessageSigner(
            signature_algorithm=algorithm,
            key_resolver=message_signatures.MappingKeyResolver(public_keys={}, private_keys={"k": key}),
        ).sign(
            request, key_id="k", created=datetime.fromtimestamp(at, timezone.utc), body=body.encode(),
            covered_component_ids=("@method", "@target-uri", "content-type", "content-digest"))
        return dict(request.headers), body, "?x=1"
    return sign


def by_generic(secret, path, at, body=BODY):
    digest = hmac.new(secret.encode(), f"{at}.{body}".encode(), hashlib.sha512).digest()
    return {"X-Sign": "v=" + base64.b64encode(digest).decode(), "X-Time": str(at)}, body, ""


ANOTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
HMAC_SHA256 = by_message_signature(message_signatures.algorithms.HMAC_SHA256)
ED25519 = by_message_signature(message_signatures.algorithms.ED25519)
WHPK = "whpk_" + base64.b64encode(PUBLIC_KEY).decode()
GENERIC = {
    "header": "X-Sign", "prefix": "v=", "encoding": "base64", "algorithm": "sha512", "timestamp_header": "X-Time"}


class Sender:
    """One service: its scheme, how it signs, with which key and with which not, and whether it signs the time."""

    def __init__(self, scheme, sign, key, wrong_key, signs_time=True, secret=None, **options):
        self.settings = {"scheme": scheme, **options}
        self.sign, self.key, self.wrong_key, self.signs_time = sign, key, wrong_key, signs_time
        # What the source is given: the same, where the key is shared.
        self.secret = secret or key


SENDERS = {
    "github": Sender("github", by_github, "topsecret", "guessed", signs_time=False),
    "stripe": Sender("stripe", by_stripe, "whsec_test_4eC39", "whsec_guessed"),
    "slack": Sender("slack", by_slack, "8f742231b10e8888", "guessed"),
    "twilio-form": Sender("twilio", by_twilio_form, "12345", "123456", signs_time=False),
    "twilio-json": Sender("twilio", by_twilio_json, "12345", "123456", signs_time=False),
    "standard": Sender("standard", by_standard, SHARED, OTHER),
    "svix": Sender("standard", by_svix, SHARED, OTHER),
    "standard-key": Sender("standard", by_standard_key, SIGNING_KEY, ANOTHER_KEY, secret=WHPK),
    "discord": Sender("ed25519", by_discord, SIGNING_KEY, ANOTHER_KEY, secret=PUBLIC_KEY.hex()),
    "rfc9421-hmac": Sender("rfc9421", HMAC_SHA256, SHARED, OTHER),
    "rfc9421-key": Sender("rfc9421", ED25519, SIGNING_KEY, ANOTHER_KEY, secret=WHPK),
    "generic": Sender("generic", by_generic, "topsecret", "guessed", scheme_options=GENERIC),
}


def make_source(gateway, name, settings, secrets):
    made = gateway.call("PUT", f"/v1/sources/{name}", {
        **settings, "secrets": secrets,
        "mapping": {"channel": f"in.{name}", "type": "hook.seen", "data": {"$": "body"}}})
    assert made.status_code in (200, 201), made.text


def send(gateway, path, signed):
    headers, body, query = signed
    return requests.post(
        gateway.url + path + query, data=body.encode(), timeout=20,
        headers={"Content-Type": "application/json", **headers})


@pytest.mark.parametrize("name", SENDERS)
def test_a_source_accepts_what_the_service_signs_and_nothing_else(gateway, name):
    sender = SENDERS[name]
    path, now = f"/in/{name}", int(time.time())
    make_source(gateway, name, sender.settings, [sender.secret])

    refused = [send(gateway, path, sender.sign(sender.wrong_key, path, now))]
    headers, body, query = sender.sign(sender.key, path, now)
    refused.append(send(gateway, path, (headers, body + " ", query)))
    refused.append(send(gateway, path, ({}, body, query)))
    if sender.signs_time:
        refused += [send(gateway, path, sender.sign(sender.key, path, now + shift)) for shift in (-400, 400)]
    for answer in refused:
        assert answer.status_code == 401, answer.text
        assert answer.json()["code"] == "signature_invalid"
    assert gateway.call("GET", f"/v1/channels/in.{name}/events").json()["data"] == []

    accepted = send(gateway, path, (headers, body, query))
    assert accepted.status_code == 202, accepted.text
    [event] = gateway.call("GET", f"/v1/channels/in.{name}/events").json()["data"]
    if name == "twilio-form":
        assert event["data"] == FIELDS
    else:
        assert event["data"] == json.loads(BODY)


@pytest.mark.parametrize("name", ["stripe", "slack", "standard", "rfc9421-hmac"])
def test_a_sender_changes_its_secret_without_a_post_being_refused(gateway, name):
    settings, sign = SENDERS[name].settings, SENDERS[name].sign
    old, new = SENDERS[name].wrong_key, SENDERS[name].key
    path, posted = f"/in/{name}", queue.SimpleQueue()
    make_source(gateway, name, settings, [old])
    changed, done = threading.Event(), threading.Event()

    def post_on():
        for number in itertools.count():
            if done.is_set():
                return
            body = json.dumps({"id": f"evt_{number}"})
            signed = sign(new if changed.is_set() else old, path, int(time.time()), body)
            posted.put(send(gateway, path, signed).status_code)

    def forty_more():
        return [posted.get(timeout=30) for _ in range(40)]

    sender = threading.Thread(target=post_on)
    sender.start()
    try:
        answers = forty_more()
        make_source(gateway, name, settings, [new, old])
        changed.set()
        # The first of these may be from before.
        answers += forty_more() + forty_more()
        make_source(gateway, name, settings, [new])
        answers += forty_more() + forty_more()
    finally:
        done.set()
        sender.join()
    assert set(answers) == {202}, answers


# What receivers get: each of these verifies as the service's own library tells its users to.


def make_webhook(gateway, receiver, **settings):
    made = gateway.call("POST", "/v1/webhooks", {"url": receiver.url, "types": ["order.*"], **settings})
    assert made.status_code == 201, made.text
    return made.json()


def received(receiver):
    headers, body = receiver.requests.get(timeout=20)
    return {name.lower(): value for name, value in headers.items()}, body


def verified_by_standardwebhooks(secret, headers, body):
    return standardwebhooks.Webhook(secret).verify(body, headers)


def verified_by_svix(secret, headers, body):
    svix.webhooks.Webhook(secret).verify(body, headers)
    return json.loads(body)


def verified_by_stripe(secret, headers, body):
    return stripe.Webhook.construct_event(body, headers["stripe-signature"], secret).to_dict()


def verified_by_hub(secret, headers, body):
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, headers["x-hub-signature-256"]):
        raise ValueError("no match")
    return json.loads(body)


def verified_by_message_signature(url):
    def verify(secret, headers, body):
        request = requests.Request("POST", url, headers=headers, data=body).prepare()
        key = base64.b64decode(secret.removeprefix("whsec_"))
        name = hashlib.sha256(key).hexdigest()[:16]
        message_signatures.HTTPMessageVerifier(
            signature_algorithm=message_signatures.algorithms.HMAC_SHA256,
            key_resolver=message_signatures.MappingKeyResolver(public_keys={name: key}, private_keys={}),
        ).verify(request, require_components=("@method", "@target-uri", "content-digest"), body=body)
        return json.loads(body)
    return verify


def test_every_library_accepts_a_delivery_that_is_signed_for_all_of_them(gateway, receiver):
    webhook = make_webhook(gateway, receiver, signatures=["standard", "hub_sha256", "stripe", "rfc9421"])
    event = gateway.emit("café", {"text": "héllo", "amount": 1.5})
    headers, body = received(receiver)
    for verify in (
            verified_by_standardwebhooks, verified_by_svix, verified_by_stripe, verified_by_hub,
            verified_by_message_signature(receiver.url)):
        payload = verify(webhook["secret"], headers, body)
        assert payload["id"] == event["id"], verify
        assert payload["data"] == {"text": "héllo", "amount": 1.5}, verify
        # Each of them would have noticed.
        with pytest.raises(Exception):
            verify(OTHER, headers, body)
        with pytest.raises(Exception):
            verify(webhook["secret"], headers, body.replace(b"1.5", b"9.5"))


def test_a_delivery_is_verified_with_the_published_key(gateway, receiver):
    make_webhook(gateway, receiver, signatures=["standard", "standard_ed25519"])
    event = gateway.emit("orders", {"amount": 1})
    headers, body = received(receiver)
    published = requests.get(gateway.url + "/.well-known/jwks.json", timeout=20)
    assert published.status_code == 200, published.text
    keys = jwt.PyJWKSet.from_dict(published.json())
    [token] = [token for token in headers["webhook-signature"].split(" ") if token.startswith("v1a,")]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    [key] = keys.keys
    key.key.verify(base64.b64decode(token.removeprefix("v1a,")), signed)
    with pytest.raises(Exception):
        key.key.verify(base64.b64decode(token.removeprefix("v1a,")), signed + b" ")
    assert json.loads(body)["id"] == event["id"]


def cloud_event(headers, body):
    return cloudevents_http.from_http_event(cloudevents_http.HTTPMessage(headers, body))


def cloud_event_batch(headers, body):
    assert headers["content-type"].startswith("application/cloudevents-batch+json")
    [one] = json.loads(body)
    return cloud_event({"content-type": "application/cloudevents+json"}, json.dumps(one).encode())


@pytest.mark.parametrize(("format", "read"), [
    ("cloudevents", cloud_event), ("cloudevents_binary", cloud_event), ("cloudevents_batch", cloud_event_batch)])
def test_the_cloudevents_library_reads_every_form_of_an_event(gateway, receiver, format, read):
    webhook = make_webhook(gateway, receiver, format=format)
    emitted = gateway.emit("café €", {"text": "héllo", "amount": 1.5})
    headers, body = received(receiver)
    standardwebhooks.Webhook(webhook["secret"]).verify(body, headers)
    event = read(headers, body)
    assert event.get_specversion() == "1.0"
    assert event.get_id() == emitted["id"]
    assert event.get_type() == "order.paid"
    assert event.get_source() == "/apps/demo/channels/caf%C3%A9%20%E2%82%AC"
    assert event.get_subject() == "café €"
    assert event.get_time().tzinfo is not None
    assert event.get_data() == {"text": "héllo", "amount": 1.5}


@pytest.mark.parametrize(("settings", "expected"), [
    ({"format": "envelope"}, lambda body: body["data"]["text"]),
    ({"format": "flat"}, lambda body: body["text"]),
    ({"format": "template", "template": {"said": {"$": "event/data/text"}}}, lambda body: body["said"])])
def test_other_forms_are_signed_as_they_are_sent(gateway, receiver, settings, expected):
    webhook = make_webhook(gateway, receiver, **settings)
    gateway.emit("orders", {"text": "héllo"})
    headers, body = received(receiver)
    assert expected(verified_by_standardwebhooks(webhook["secret"], headers, body)) == "héllo"


@pytest.mark.parametrize(("signature", "verify"), [
    ("standard", verified_by_standardwebhooks), ("stripe", verified_by_stripe)])
def test_no_delivery_fails_while_a_receiver_changes_its_secret(gateway, receiver, signature, verify):
    webhook = make_webhook(gateway, receiver, signatures=[signature])
    secrets, failures, ids, emitted = [webhook["secret"]], [], [], []
    known, progress = threading.Event(), threading.Condition()

    def check_on():
        while (item := receiver.requests.get(timeout=30)) is not None:
            headers, body = {name.lower(): value for name, value in item[0].items()}, item[1]
            # A receiver has one secret, and changes it when its operator comes to it: long after the rotation here.
            try:
                verify(secrets[-1] if known.is_set() else secrets[0], headers, body)
            except Exception as error:
                failures.append(repr(error))
            with progress:
                ids.append(headers["webhook-id"])
                progress.notify()

    checker = threading.Thread(target=check_on)
    checker.start()
    try:
        def emit(count):
            for _ in range(count):
                emitted.append(gateway.emit("orders", {"n": len(emitted)})["id"])

        def wait():
            with progress:
                assert progress.wait_for(lambda: len(ids) >= len(emitted), 30)

        emit(100)
        rotated = gateway.call("POST", f"/v1/webhooks/{webhook['id']}/rotate-secret", {"overlap_seconds": 3600})
        assert rotated.status_code == 200, rotated.text
        secrets.append(rotated.json()["secret"])
        emit(100)
        # What was sent before the rotation is signed with the first secret alone.
        wait()
        known.set()
        emit(100)
        wait()
    finally:
        receiver.requests.put(None)
        checker.join()
    assert failures == []
    assert set(ids) == set(emitted) and len(emitted) == 300


def test_stored_secrets_are_sealed_and_move_to_a_new_key(gateway, receiver, monkeypatch):
    webhook = make_webhook(
        gateway, receiver, headers={"X-Token": "hush-header"}, signatures=["standard", "standard_ed25519"],
        auth={"type": "basic", "username": "u", "password": "hush-password"})
    meta = {"scheme": "github", "verify_token": "hush-verify", "handshake": "meta"}
    make_source(gateway, "shop", meta, ["hush-source"])

    def works():
        signed = by_github("hush-source", "/in/shop", 0)
        assert send(gateway, "/in/shop", signed).status_code == 202
        question = {"hub.mode": "subscribe", "hub.challenge": "c", "hub.verify_token": "hush-verify"}
        assert requests.get(gateway.url + "/in/shop", params=question, timeout=20).text == "c"
        gateway.emit("orders", {"n": 1})
        headers, body = received(receiver)
        standardwebhooks.Webhook(webhook["secret"]).verify(body, headers)
        assert headers["x-token"] == "hush-header"
        assert headers["authorization"] == "Basic " + base64.b64encode(b"u:hush-password").decode()

    def restart(keys):
        gateway.stop()
        monkeypatch.setenv("PARLEY_SECRETS_KEY", keys)
        gateway.start()

    works()
    first, second = (base64.b64encode(bytes(range(start, start + 32))).decode() for start in (0, 100))
    restart(f"{second},{first}")
    restart(second)
    works()
    gateway.stop()
    stored = gateway.stored()
    assert b"sealed:v1:" in stored
    for secret in ("hush-", webhook["secret"], "demo-secret"):
        assert secret.encode() not in stored, secret
    with pytest.raises(AssertionError, match="secrets_key"):
        restart(first)

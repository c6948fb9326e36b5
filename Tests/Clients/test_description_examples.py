"""The examples of openapi.yaml are true: each request is sent, and each answer is the one that is shown."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from description_examples import Description, Run
from pages import ROOT

# Operations that are no line of the story, each with the reason.
NOT_SENT = {
    "getStream": "an answer without an end; the tests of streams read it",
}


def reply(run):
    """Answers the newest message, which then has a thread."""
    run.prepare("reply", ["POST", "/v1/channels/crew/messages", json.dumps(
        {"text": "Fine.", "user": "ben", "thread_of": run.values["timetoken"]})])


def stream(run):
    """Opens a stream that stays."""
    run.stream = run.gateway.call("GET", "/v1/stream?channel=crew&user=ana&device=phone", stream=True)


def emit(run):
    """Three orders, each of which is owed to who asked for them."""
    for amount in (4200, 1900, 700):
        run.gateway.emit("crew", {"amount": amount, "currency": "EUR"}, user="ana")


def statuses(run):
    """The statuses of what is owed to the webhook or the subscription of the story."""
    return [each["status"] for each in run.gateway.call(
        "GET", "/v1/deliveries", params={"subscriber": run.values["id"]}).json()["data"]]


def delivered(run):
    """Waits until the webhook was told of the two orders that its filter lets through."""
    wait_until(lambda: statuses(run) == ["delivered"] * 2)


def owed(run):
    """Waits until all three orders can be pulled."""
    wait_until(lambda: statuses(run) == ["pending"] * 3)


def consent(run):
    """Another webhook, whose receiver has to consent first."""
    run.prepare(0, ["POST", "/v1/webhooks", json.dumps(
        {"url": "https://hooks.example.com/parley", "types": ["order.*"], "verification": "echo"})])
    hooks = run.gateway.call("GET", "/v1/webhooks").json()["data"]
    run.values["id"] = next(each["id"] for each in hooks if each["status"] == "pending_verification")


STEPS = {step.__name__: step for step in (reply, stream, emit, delivered, owed, consent)}


class Receiver:
    """A webhook's receiver that repeats challenges."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps({"challenge": body["challenge"]} if "challenge" in body else {"received": True}).encode()
            self.send_response_only(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    def __init__(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def wait_until(holds):
    """Waits for the gateway, half a minute at most."""
    for _ in range(300):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come")


def known(receiver, gateway):
    """What the examples call the receiver of webhooks, and the key."""
    return {"https://hooks.example.com/parley": receiver.url, "parley_…": gateway.key}


@pytest.fixture
def story(gateway):
    receiver = Receiver()
    yield Run(Description((ROOT / "openapi.yaml").read_text()), gateway, known(receiver, gateway), STEPS)
    receiver.close()


def test_every_example_is_answered_as_it_shows(story):
    answered, faults = set(), []
    for number, name, answer, found in story.tell():
        answered.add((name, answer.status_code))
        faults += [f"line {number}, {name}: {fault}" for fault in found]
    assert faults == []
    assert story.unseen() == []

    missing = [
        (name, status) for name in story.description.operations if name not in NOT_SENT
        for status in story.description.answers(name) or [None]
        if (name, status) not in answered and (status or name not in {other for other, _ in answered})]
    assert missing == []

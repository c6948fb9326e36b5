"""The programs of Examples/ do what they say, each against a gateway as a newcomer starts it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "Examples"


class Program:
    """An example that runs until it is interrupted."""

    def __init__(self, gateway, name, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, str(EXAMPLES / "python" / name), *arguments], env=environment(gateway),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            # Whoever runs the tests in the background may have it ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def event(self):
        return json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


def environment(gateway):
    return {**os.environ, "PARLEY_URL": gateway.url, "PARLEY_KEY": gateway.key}


def run(gateway, name, *arguments):
    return subprocess.run(
        [str(EXAMPLES / "shell" / name), *arguments], env=environment(gateway), capture_output=True, text=True,
        timeout=60)


def test_saying_something_and_reading_it(gateway):
    first = run(gateway, "say.sh", "room", "hello")
    assert first.returncode == 0, first
    second = run(gateway, "say.sh", "room", "and again")
    assert [line.split("  ", 1)[1] for line in second.stdout.splitlines()[-2:]] == ["ana: and again", "ana: hello"]


def test_a_conversation_in_swift(gateway):
    program = EXAMPLES.parent / ".build" / "debug" / "converse"
    if not program.exists():
        pytest.skip("the Swift example is not built: swift build --product converse")
    done = subprocess.run([str(program)], env=environment(gateway), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    assert done.stdout.splitlines() == ["ana: is there dinner?", "ben: yes, at eight"]


def test_a_declared_type(gateway):
    done = run(gateway, "typed-events.sh")
    answers = [json.loads(line) for line in done.stdout.splitlines() if line]
    assert [answer["type"] for answer in answers[:3]] == ["order.paid"] * 3
    assert answers[3]["status"] == 422 and answers[3]["code"] == "schema_violation"
    assert len(gateway.call("GET", "/v1/channels/orders/events").json()["data"]) == 1


def test_following_through_a_restart(gateway):
    gateway.emit("orders.eu", 1)
    with Program(gateway, "follow.py", "orders.*", "--since", "earliest") as follower:
        assert follower.event()["data"] == 1
        gateway.kill()
        gateway.start()
        gateway.emit("orders.eu", 2)
        assert follower.event()["data"] == 2
        gateway.emit("other", 3)
        gateway.emit("orders.us", 4)
        assert follower.event()["data"] == 4


def test_receiving_webhooks(gateway):
    with Program(gateway, "receive_webhooks.py", "order.*") as receiver:
        assert receiver.process.stderr.readline().startswith("wh_")
        gateway.emit("orders.eu", {"amount": 1})
        assert receiver.event()["data"] == {"amount": 1}
        assert receiver.stop() == 0
    assert gateway.call("GET", "/v1/webhooks").json()["data"] == []


def test_what_is_forged_is_found():
    sys.path.insert(0, str(EXAMPLES / "python"))
    from webhook import Forged, verify

    # The example of the Standard Webhooks specification.
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}
    body = b'{"test": 2432232314}'
    verify(secret, headers, body, now=1614265330)
    for change in [
        {"body": body + b" "}, {"now": 1614265330 + 400}, {"secret": "whsec_AAAA"},
        {"headers": {**headers, "webhook-id": "msg_other"}},
    ]:
        with pytest.raises(Forged):
            verify(**{"secret": secret, "headers": headers, "body": body, "now": 1614265330, **change})


def test_routing_messages(gateway):
    with Program(gateway, "route_messages.py") as router:
        assert router.process.stderr.readline().startswith("wh_")
        for text in ["thank you", "I want a refund"]:
            answer = gateway.call("POST", "/v1/channels/support.7/messages", {"text": text, "user": "ana"})
            assert answer.status_code == 201
        channel = "CUSTOMER-SATISFACTION-CREW"
        with Program(gateway, "follow.py", channel, "--since", "earliest") as crew:
            event = crew.event()
            assert event["type"] == "customer-satisfaction"
            assert event["data"]["reasons"] == ["refund"] and event["data"]["customer"] == "ana"
        assert router.stop() == 0


def test_pulling(gateway):
    with Program(gateway, "pull_events.py", "order.*") as worker:
        assert worker.process.stderr.readline().startswith("sub_")
        for number in range(3):
            gateway.emit("orders.eu", number)
        assert [worker.event()["data"] for _ in range(3)] == [0, 1, 2]


def test_the_page(gateway, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    with Program(gateway, "serve_page.py", "0") as site:
        address = site.process.stderr.readline().strip()
        browser.get(address)
        wait = WebDriverWait(browser, 20)
        wait.until(lambda page: page.find_element(By.ID, "state").text == "live")
        gateway.emit("orders.eu", {"amount": 7})
        item = wait.until(lambda page: page.find_element(By.CSS_SELECTOR, "#events li"))
        assert item.text == 'orders.eu: {"amount":7}'
        assert gateway.key not in browser.page_source.split("<script>")[0]

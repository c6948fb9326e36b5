"""SIGHUP on a real process: what a running gateway takes over, and what it refuses."""

import os
import signal
import threading

import pytest
from conftest import Gateway

FIRST = """
limits: {page_most: 100, heartbeat_seconds: 5}
cors: {origins: ["https://one.example"]}
"""


@pytest.fixture
def configured(tmp_path):
    file = tmp_path / "parley.yaml"
    file.write_text(FIRST)
    gateway = Gateway(tmp_path / "data", dev=False, key="parley_reload_test_key", options=["--config", str(file)])
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PARLEY_ADMIN_KEY", gateway.key)
        gateway.start()
    yield gateway, file
    assert gateway.stop() == 0


def allowed_origin(gateway, origin):
    answer = gateway.call("GET", "/v1/keys", headers={"Origin": origin})
    return answer.headers.get("Access-Control-Allow-Origin")


def test_a_reload_takes_over_what_it_can_and_names_the_rest(configured):
    gateway, file = configured
    assert gateway.call("GET", "/v1/channels/a/events?limit=200").status_code == 400
    hook = {"url": "http://127.0.0.1:9000/hook", "types": ["*"], "channels": ["*"]}
    assert gateway.call("POST", "/v1/webhooks", hook).status_code == 400
    assert allowed_origin(gateway, "https://one.example") == "https://one.example"

    file.write_text("""
log_level: debug
connections: 500
limits: {page_most: 300, heartbeat_seconds: 9}
cors: {origins: ["https://two.example"]}
webhook: {allow: [127.0.0.0/8]}
""")
    line = gateway.reload()
    assert "changed=webhook.allow,cors.origins,log_level,limits.page_most" in line
    assert "settings=connections,limits.heartbeat_seconds" in gateway.wait_for_log("after a restart")

    assert gateway.call("GET", "/v1/channels/a/events?limit=200").status_code == 200
    assert gateway.call("POST", "/v1/webhooks", hook).status_code == 201
    assert allowed_origin(gateway, "https://one.example") is None
    assert allowed_origin(gateway, "https://two.example") == "https://two.example"


@pytest.mark.parametrize("text, reason", [
    ("limits: {page_mots: 300}", "did you mean 'limits.page_most'"),
    ("limits: {page_most: many}", "whole number"),
    ("limits: {page_most: 300", "parley.yaml"),
    ("limits: {page_most: 300}\nwebhook: {allow: [everything]}", "webhook.allow"),
    ("limits: {page_most: 300}\nschemas: /nonexistent", "/nonexistent"),
])
def test_a_broken_file_is_refused_and_the_old_settings_go_on(configured, text, reason):
    gateway, file = configured
    file.write_text(text)
    assert reason in gateway.reload("cannot reload the settings")
    assert gateway.call("GET", "/v1/channels/a/events?limit=200").status_code == 400
    assert allowed_origin(gateway, "https://one.example") == "https://one.example"

    file.unlink()
    assert "parley.yaml" in gateway.reload("cannot reload the settings")
    file.write_text(FIRST.replace("100", "200"))
    assert "changed=limits.page_most" in gateway.reload()
    assert gateway.call("GET", "/v1/channels/a/events?limit=200").status_code == 200


def test_a_stop_does_not_wait_for_a_reload(configured):
    gateway, file = configured
    file.unlink()
    os.mkfifo(file)
    gateway.send_signal(signal.SIGHUP)
    # It opens when somebody reads: then the reload is under way, and gets no end before the fixture has stopped the gateway.
    opener = threading.Thread(target=os.open, args=(file, os.O_WRONLY), daemon=True)
    opener.start()
    opener.join(20)
    assert not opener.is_alive(), "nobody reads the file again"

"""What was acknowledged survives a kill, and streams continue across it."""

import json
import random
import threading
import time

import requests
import pytest


def ingest(gateway, run, ledger, stop):
    """Posts numbered events until told to stop or until the gateway is gone; keeps what was acknowledged."""
    session = requests.Session()
    number = 0
    while not stop.is_set():
        key = f"{run}-{number}"
        try:
            answer = session.post(
                f"{gateway.url}/v1/channels/ledger.{run % 3}/events", timeout=10,
                headers={"Authorization": "Bearer dev"}, json={"type": "entry", "data": {"key": key}})
        except requests.RequestException:
            return
        if answer.status_code == 201:
            ledger[key] = int(answer.json()["timetoken"])
        number += 1


def history(gateway, channel):
    events, cursor = [], None
    while True:
        page = gateway.call("GET", f"/v1/channels/{channel}/events",
                            params={"limit": 250, **({"cursor": cursor} if cursor else {})}).json()
        events += page["data"]
        cursor = page["next_cursor"]
        if not page["has_more"]:
            return events


@pytest.mark.parametrize("rounds", [5])
def test_acknowledged_events_survive_kills(tmp_path, receiver, rounds):
    from conftest import Gateway

    gateway = Gateway(tmp_path / "data").start()
    made = gateway.call("POST", "/v1/webhooks", {"url": receiver.url, "types": ["entry"]})
    assert made.status_code == 201, made.text
    ledger = {}
    for round in range(rounds):
        stop = threading.Event()
        posters = [threading.Thread(target=ingest, args=(gateway, round * 8 + n, ledger, stop)) for n in range(8)]
        for poster in posters:
            poster.start()
        time.sleep(random.uniform(0.2, 0.8))
        gateway.kill()
        stop.set()
        for poster in posters:
            poster.join()
        gateway.start()

    stored = [event for n in range(3) for event in history(gateway, f"ledger.{n}")]
    keys = [event["data"]["key"] for event in stored]
    assert len(keys) == len(set(keys)), "an event is there twice"
    places = {event["data"]["key"]: int(event["timetoken"]) for event in stored}
    assert ledger and all(places.get(key) == place for key, place in ledger.items()), "acknowledged, and not there"
    for n in range(3):
        order = [int(event["timetoken"]) for event in history(gateway, f"ledger.{n}")]
        assert order == sorted(set(order))

    owed = {event["id"] for event in stored}
    deadline = time.monotonic() + 60
    while owed and time.monotonic() < deadline:
        _, body = receiver.requests.get(timeout=60)
        owed.discard(json.loads(body)["id"])
    assert not owed, f"{len(owed)} events never reached the webhook"
    assert gateway.stop() == 0


def test_a_stream_continues_across_a_restart(tmp_path):
    from conftest import Gateway

    gateway = Gateway(tmp_path / "data").start()
    seen, cursor = [], None
    for part in range(4):
        for n in range(25):
            gateway.emit("room", {"n": part * 25 + n})
        headers = {"Authorization": "Bearer dev", "Accept": "application/x-ndjson"}
        params = {"channel": "room", "cursor": cursor or "earliest"}
        answer = requests.get(gateway.url + "/v1/stream", params=params, headers=headers, stream=True, timeout=20)
        wanted = len(seen) + random.randint(1, 25)
        for line in answer.iter_lines():
            message = json.loads(line) if line else {"event": "heartbeat"}
            assert message.get("event") != "stream.gap"
            if "timetoken" in message:
                seen.append(message["data"]["n"])
                cursor = message["timetoken"]
            if len(seen) == wanted:
                break
        answer.close()
        gateway.kill()
        gateway.start()
    params = {"channel": "room", "cursor": cursor}
    while len(seen) < 100:
        batch = gateway.call("GET", "/v1/poll", params=params).json()
        seen += [event["data"]["n"] for event in batch["data"]]
        params["cursor"] = batch["cursor"]
    assert seen == list(range(100))
    assert gateway.stop() == 0

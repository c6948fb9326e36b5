"""What was acknowledged survives a kill, and streams continue across it.

PARLEY_CRASH_ROUNDS: how often the gateway is killed (5). PARLEY_CRASH_SEED: repeats the choices of a run that failed.
"""

import http.client
import json
import os
import random
import threading
import time
from collections import Counter
from contextlib import closing

import requests

from conftest import Gateway

ROUNDS = int(os.environ.get("PARLEY_CRASH_ROUNDS", "5"))
SEED = int(os.environ.get("PARLEY_CRASH_SEED") or random.SystemRandom().randrange(1 << 32))
POSTERS = 8
CHANNELS = 3
BEARER = {"Authorization": "Bearer dev"}


class Ledger:
    """What was acknowledged, by key; whoever waits is told as it grows."""

    def __init__(self):
        self.places = {}
        self.asked = set()
        self.grown = threading.Condition()

    def ask(self, key):
        with self.grown:
            self.asked.add(key)

    def acknowledge(self, key, timetoken):
        with self.grown:
            self.places[key] = int(timetoken)
            self.grown.notify_all()

    def wait(self, count):
        with self.grown:
            assert self.grown.wait_for(lambda: len(self.places) >= count, timeout=60), "ingest stands still"


def ingest(address, run, ledger):
    """Posts numbered events, each as soon as the one before is answered, until the gateway is gone."""
    with closing(http.client.HTTPConnection(address, timeout=20)) as connection:
        for number in range(1 << 30):
            key = f"{run}-{number}"
            body = json.dumps({"type": "entry", "data": {"key": key}})
            ledger.ask(key)
            try:
                connection.request("POST", f"/v1/channels/ledger.{run % CHANNELS}/events", body,
                                   {"Content-Type": "application/json", **BEARER})
                answer = connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException):
                return
            if answer.status == 201:
                ledger.acknowledge(key, json.loads(text)["timetoken"])


class Follower(threading.Thread):
    """A stream over all channels that comes back with its last cursor whenever it breaks."""

    def __init__(self, gateway):
        super().__init__(daemon=True)
        self.gateway, self.seen, self.gaps = gateway, [], 0
        self.moved = threading.Condition()

    def run(self):
        while True:
            self.gateway.up.wait()
            cursor = self.seen[-1] if self.seen else "earliest"
            try:
                with requests.get(self.gateway.url + "/v1/stream", params={"channel": "ledger.*", "cursor": cursor},
                                  headers={"Accept": "application/x-ndjson", **BEARER}, stream=True, timeout=20) as answer:
                    for line in answer.iter_lines():
                        self.take(json.loads(line) if line else {})
            except (requests.RequestException, ValueError):
                pass  # cut off, perhaps within a line

    def take(self, message):
        self.gaps += message.get("event") == "stream.gap"
        if "timetoken" in message:
            with self.moved:
                self.seen.append(int(message["timetoken"]))
                self.moved.notify_all()

    def wait(self, timetoken):
        with self.moved:
            assert self.moved.wait_for(lambda: self.seen and self.seen[-1] >= timetoken, timeout=120), "stream stands still"


def pages(gateway, path, **params):
    """Every item of a list."""
    while True:
        page = gateway.call("GET", path, params={"limit": 250, **params}).json()
        yield from page["data"]
        if not page["has_more"]:
            return
        params["cursor"] = page["next_cursor"]


def kill_during_ingest(gateway, round, choice, ledger):
    """One round: as many acknowledgements as drawn, a moment more, then SIGKILL and a new start."""
    posters = [threading.Thread(target=ingest, args=(gateway.address, round * POSTERS + n, ledger))
               for n in range(POSTERS)]
    for poster in posters:
        poster.start()
    ledger.wait(len(ledger.places) + choice.randrange(1, 1500))
    time.sleep(choice.uniform(0, 0.01))  # not always right after an answer
    gateway.kill()
    for poster in posters:
        poster.join()
    gateway.start()


def test_acknowledged_events_survive_kills(tmp_path, receiver):
    print(f"\nPARLEY_CRASH_ROUNDS={ROUNDS} PARLEY_CRASH_SEED={SEED}")
    choice = random.Random(SEED)
    gateway = Gateway(tmp_path / "data").start()
    made = gateway.call("POST", "/v1/webhooks", {"url": receiver.url, "types": ["entry"]})
    assert made.status_code == 201, made.text
    follower = Follower(gateway)
    follower.start()
    ledger = Ledger()
    for round in range(ROUNDS):
        kill_during_ingest(gateway, round, choice, ledger)
        print(f"kill {round + 1}: {len(ledger.asked)} posted, {len(ledger.places)} acknowledged")

    stored = {}
    for n in range(CHANNELS):
        events = list(pages(gateway, f"/v1/channels/ledger.{n}/events"))
        order = [int(event["timetoken"]) for event in events]
        assert order == sorted(set(order)), "history is out of order"
        for event in events:
            assert stored.setdefault(event["data"]["key"], int(event["timetoken"])) == int(event["timetoken"]), "twice"
    assert ledger.places.items() <= stored.items(), "acknowledged, and not there with that timetoken"
    assert stored.keys() <= ledger.asked, "there, and never posted"

    follower.wait(max(stored.values()))
    assert follower.seen == sorted(stored.values()) and not follower.gaps, "the stream missed, repeated or mixed up"

    owed = {f"evt_{timetoken}" for timetoken in stored.values()}
    received = Counter()
    while owed - received.keys():
        _, body = receiver.requests.get(timeout=60)
        received[json.loads(body)["id"]] += 1
    assert received.keys() == owed, "a webhook got what is not stored"
    recorded = Counter(delivery["event"] for delivery in pages(gateway, "/v1/deliveries"))
    assert recorded.keys() == owed and set(recorded.values()) == {1}, "a delivery is not recorded once"
    print(f"{len(stored)} stored, {len(ledger.places)} of them acknowledged; stream complete; "
          f"{received.total()} requests for {len(owed)} deliveries")
    assert gateway.stop() == 0


def test_a_stream_continues_across_a_restart(tmp_path):
    print(f"\nPARLEY_CRASH_SEED={SEED}")
    choice = random.Random(SEED)
    gateway = Gateway(tmp_path / "data").start()
    seen, cursor = [], None
    for part in range(4):
        for n in range(25):
            gateway.emit("room", {"n": part * 25 + n})
        headers = {"Accept": "application/x-ndjson", **BEARER}
        params = {"channel": "room", "cursor": cursor or "earliest"}
        answer = requests.get(gateway.url + "/v1/stream", params=params, headers=headers, stream=True, timeout=20)
        wanted = len(seen) + choice.randint(1, 25)
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

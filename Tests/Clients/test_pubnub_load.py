"""What holds on PubNub's wire under load: every subscriber sees the stored sequence, and who is there adds up."""

import json
import os
import threading
import time
from collections import Counter
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pytest
import requests

import cluster

CHANNELS = [f"load.{number}" for number in range(4)]


class Wire:
    """One client: a connection, a user, and a cursor that nobody else keeps."""

    def __init__(self, gateway, user, names, query=""):
        self.base, self.user, self.names, self.query = gateway.url, user, names, query
        self.session = requests.Session()
        self.cursor = "0"
        self.items = []

    def get(self, path, **query):
        answer = self.session.get(self.base + path, params={"uuid": self.user, **query}, timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def poll(self):
        path = f"/v2/subscribe/demo/{self.names}/0?uuid={self.user}&tt={self.cursor}&tr=1{self.query}"
        answer = self.session.get(self.base + path, timeout=60)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert answer.text.startswith('{"t":{"t":"' + body["t"]["t"] + '","r":1}')
        assert int(body["t"]["t"]) >= int(self.cursor), "a cursor never goes back"
        self.cursor = body["t"]["t"]
        self.items += body["m"]
        return body["m"]

    def publish(self, channel, payload):
        text = quote(json.dumps(payload), safe="")
        return self.get(f"/publish/demo/demo/0/{channel}/0/{text}")[2]


def run_all(bodies):
    faults = []

    def guarded(body):
        try:
            body()
        except BaseException as fault:  # noqa: BLE001: a thread's fault is the test's
            faults.append(fault)

    threads = [threading.Thread(target=guarded, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def test_every_subscriber_sees_the_stored_sequence(gateway):
    Wire(gateway, "maker", "x").get("/v1/channel-registration/sub-key/demo/channel-group/all", add=",".join(CHANNELS))
    names = [",".join(CHANNELS), "load.*", ",", "load.0,load.*"]
    queries = ["", "", "&channel-group=all", "&channel-group=all"]
    readers = [Wire(gateway, f"reader-{n}", names[n % 4], queries[n % 4]) for n in range(12)]
    for reader in readers:
        reader.poll()
    places, total = [], 6 * 60

    def write(author):
        wire = Wire(gateway, f"writer-{author}", "x")
        for number in range(60):
            channel = CHANNELS[(author + number) % len(CHANNELS)]
            place = wire.publish(channel, {"author": author, "number": number})
            places.append(place)
            # What was answered is visible at once.
            assert wire.get(f"/v3/history/sub-key/demo/channel/{channel}", start=int(place) + 1, end=place)["channels"]

    def read(reader):
        while len(reader.items) < total:
            reader.poll()

    run_all([lambda author=author: write(author) for author in range(6)]
            + [lambda reader=reader: read(reader) for reader in readers])
    expected = sorted(places, key=int)
    assert len(set(expected)) == total
    for reader in readers:
        assert [item["p"]["t"] for item in reader.items] == expected
    stored = []
    wire = Wire(gateway, "maker", "x")
    for channel in CHANNELS:
        items = wire.get(f"/v3/history/sub-key/demo/channel/{channel}", max=100)["channels"][channel]
        stored += [item["timetoken"] for item in items]
    assert sorted(stored, key=int) == expected


def test_who_is_there_adds_up(gateway):
    watcher = Wire(gateway, "watcher", "busy-pnpres")
    watcher.poll()
    users = [f"user-{number}" for number in range(15)]

    def come_and_go(user):
        wire = Wire(gateway, user, "busy")
        for _ in range(6):
            wire.cursor = "0"
            wire.poll()
            wire.get("/v2/presence/sub-key/demo/channel/busy/heartbeat", heartbeat=60)
            wire.get("/v2/presence/sub-key/demo/channel/busy/leave")

    run_all([lambda user=user: come_and_go(user) for user in users])
    deadline = time.monotonic() + 30
    there, seen = set(), 0
    joins, leaves = Counter(), Counter()
    while seen < 2 * 6 * len(users) and time.monotonic() < deadline:
        for item in watcher.poll():
            event = item["d"]
            if event["action"] == "join":
                assert event["uuid"] not in there
                there.add(event["uuid"])
                joins[event["occupancy"]] += 1
            else:
                assert event["action"] == "leave"
                there.remove(event["uuid"])
                leaves[event["occupancy"] + 1] += 1
            # Nodes may append the events of different users in another order than that of the changes.
            assert cluster.IS_WANTED or event["occupancy"] == len(there)
            seen += 1
    assert seen == 2 * 6 * len(users) and not there
    # In the order of the changes, each rise to a count matches one fall from it.
    assert joins == leaves
    here = watcher.get("/v2/presence/sub-key/demo/channel/busy")
    assert (here["occupancy"], here["uuids"]) == (0, [])


@pytest.fixture
def bench():
    """The readers of the benchmark, which hold every answer against what was published."""
    module = SourceFileLoader("pubnub_bench", str(Path(__file__).parents[2] / "Benchmarks/pubnub/run")).load_module()
    module.house.counter = lambda gateway, name: gateway.counter(name)
    return module


def target(gateway):
    ticks = os.sysconf("SC_CLK_TCK")
    return SimpleNamespace(
        port=int(gateway.url.rpartition(":")[2]), counter=gateway.counter,
        cpu=lambda: sum(sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
                        for pid in gateway.pids) / ticks)


@pytest.mark.parametrize("kind", ["PubNub's poll", "PubNub's poll, present"])
def test_hundreds_of_polls_lose_and_repeat_nothing(gateway, bench, kind):
    bench.spread(target(gateway), bench.KINDS[kind], 300, 3000)
    bench.together(target(gateway), bench.KINDS[kind], 300, 5)


@pytest.mark.parametrize("resetting", [False, True])
def test_clients_that_vanish_are_noticed(gateway, bench, resetting):
    assert bench.vanish(target(gateway), resetting, count=100) < 5

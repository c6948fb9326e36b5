"""Backup, restore and doctor as programs of their own, beside a real gateway under load."""

import json
import os
import subprocess
import threading

import pytest
from conftest import BINARY, Gateway, needs_sqlite

pytestmark = needs_sqlite


def parley(*arguments):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120)


class Load:
    """Emits from several threads until it is stopped; keeps what was acknowledged."""

    def __init__(self, gateway, threads=4):
        self.gateway = gateway
        self.stopping = threading.Event()
        self.acknowledged = []
        self.threads = [threading.Thread(target=self.run, args=[n]) for n in range(threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def run(self, number):
        while not self.stopping.is_set():
            event = self.gateway.emit(f"load.{number}", {"text": "x" * 500})
            self.acknowledged.append((f"load.{number}", event["timetoken"]))


def history(gateway, channel):
    events, after = [], "0"
    while True:
        page = gateway.call("GET", f"/v1/channels/{channel}/events?order=asc&limit=250&after={after}").json()
        events += page["data"]
        if not page["has_more"]:
            return events
        after = page["data"][-1]["timetoken"]


def poll(gateway, cursor):
    answer = gateway.call("GET", f"/v1/poll?channel=load.*&cursor={cursor}&limit=250").json()
    return [event["timetoken"] for event in answer["data"]], answer["cursor"]


def test_a_backup_under_load_is_one_moment_that_can_be_gone_on_with(gateway, tmp_path):
    for number in range(200):
        gateway.emit("load.0", {"n": number, "text": "x" * 2000})
    with Load(gateway) as load:
        while len(load.acknowledged) < 100:
            assert not load.stopping.wait(0.01)
        before = list(load.acknowledged)
        made = parley("backup", "--data", gateway.data, tmp_path / "backup", "--json")
    assert made.returncode == 0, made
    manifest = json.loads(made.stdout)
    assert manifest["files"][0]["name"] == "parley.db"
    assert json.loads((tmp_path / "backup/manifest.json").read_text()) == manifest
    assert (tmp_path / "backup/parley.db").stat().st_mode & 0o777 == 0o600

    restored = parley("restore", tmp_path / "backup", "--data", tmp_path / "restored")
    assert restored.returncode == 0, restored
    other = Gateway(tmp_path / "restored").start()
    try:
        channels = [f"load.{n}" for n in range(4)]
        kept = {channel: [event["timetoken"] for event in history(other, channel)] for channel in channels}
        # All there was before it began, and of each channel the beginning of what there is now: one moment.
        for channel, timetoken in before:
            assert timetoken in kept[channel]
        everything = []
        for channel in channels:
            original = [event["timetoken"] for event in history(gateway, channel)]
            assert kept[channel] == original[:len(kept[channel])]
            everything += [(timetoken, channel) for timetoken in original]
        end = manifest["last_timetoken"]
        assert sorted(sum(kept.values(), [])) == sorted(t for t, _ in everything if t <= end)

        # A cursor of the old gateway goes on in the new one.
        cursor = sorted(sum(kept.values(), []))[-20]
        rest, cursor = poll(other, cursor)
        assert rest == sorted(sum(kept.values(), []))[-19:]
        new = other.emit("load.0", {"after": "restore"})
        assert new["timetoken"] > end
        assert poll(other, cursor)[0] == [new["timetoken"]]
    finally:
        assert other.stop() == 0


@pytest.fixture
def backed_up(gateway, tmp_path):
    for number in range(50):
        gateway.emit("room", {"n": number, "text": "x" * 1000})
    made = parley("backup", "--data", gateway.data, tmp_path / "backup")
    assert made.returncode == 0 and made.stdout.startswith("ok: backed up"), made
    return tmp_path / "backup"


@pytest.mark.parametrize("share", [0.001, 0.5, 0.999])
def test_a_flipped_byte_is_refused(backed_up, tmp_path, share):
    with open(backed_up / "parley.db", "r+b") as file:
        place = int(os.path.getsize(backed_up / "parley.db") * share)
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 0x10]))
    refused = parley("restore", backed_up, "--data", tmp_path / "restored")
    assert refused.returncode == 1 and "SHA-256" in refused.stderr, refused
    assert not (tmp_path / "restored").exists()


def test_what_is_there_is_never_overwritten(gateway, backed_up, tmp_path):
    refused = parley("restore", backed_up, "--data", gateway.data)
    assert refused.returncode == 1 and "not empty" in refused.stderr, refused
    refused = parley("backup", "--data", gateway.data, backed_up)
    assert refused.returncode == 1 and "exists already" in refused.stderr, refused
    assert gateway.call("GET", "/v1/channels/room/events/count?after=0").json()["count"] == 50


def test_the_doctor_looks_at_a_running_gateway_and_at_a_stopped_one(gateway, tmp_path):
    gateway.emit("room", {"n": 1})
    settings = ["--dev", "--listen", gateway.address, "--data", gateway.data]
    looked = parley("doctor", *settings, "--json")
    findings = {finding["check"]: finding for finding in map(json.loads, looked.stdout.splitlines())}
    assert looked.returncode == 0, looked
    assert findings["gateway"]["status"] == "ok" and "ready at" in findings["gateway"]["text"]
    assert findings["planner"]["status"] == findings["integrity"]["status"] == findings["schema"]["status"] == "ok"
    assert "dev mode" in findings["settings"]["text"]

    # Another data directory with the same address: whoever answers there is not the one that is asked about.
    other = Gateway(tmp_path / "other").start()
    assert other.stop() == 0
    looked = parley("doctor", "--dev", "--listen", gateway.address, "--data", tmp_path / "other")
    assert looked.returncode == 1 and "does not use" in looked.stdout, looked

    gateway.stop()
    looked = parley("doctor", *settings)
    assert looked.returncode == 0 and "no gateway is running" in looked.stdout, looked
    looked = parley("doctor", "--set", "limits.page_mots=1")
    assert looked.returncode == 1 and "did you mean" in looked.stdout, looked

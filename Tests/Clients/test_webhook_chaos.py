"""Twenty webhooks, eight of them sick, and a gateway that is killed in the middle: no event without a fate.

Small by default. The full form: PARLEY_CHAOS_EVENTS=100000 PARLEY_CHAOS_KILLS=10 PARLEY_CHAOS_TURNS=4 (`make chaos`).
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import requests

from conftest import Gateway

EVENTS = int(os.environ.get("PARLEY_CHAOS_EVENTS", "600"))
KILLS = int(os.environ.get("PARLEY_CHAOS_KILLS", "1"))
TURNS = int(os.environ.get("PARLEY_CHAOS_TURNS", "1"))  # how often delays are measured in each company
RATE = int(os.environ.get("PARLEY_CHAOS_RATE", "100"))  # events per second while delays are measured
BATCH = 50
OK = 12
SICK = ("500", "429", "hang", "reset", "drip", "huge", "redirect", "flaky")
STATES = ("pending", "failed", "delivered", "dead", "held")


class Receivers:
    """A process of its own: what one kind of receivers does must not keep the others from looking at the clock."""

    def __init__(self, *kinds):
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "chaos_receivers.py"), *kinds],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.all = json.loads(self.process.stdout.readline())

    def report(self):
        self.process.stdin.write("report\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.kill()
        self.process.wait()


class Memory:
    """The gateway's resident memory, sampled while it works; a list for each life of the process."""

    def __init__(self, gateway):
        self.gateway = gateway
        self.lives = {}
        self.is_over = threading.Event()
        threading.Thread(target=self.sample, daemon=True).start()

    def sample(self):
        while not self.is_over.wait(0.25):
            for pid in self.gateway.pids:
                try:
                    status = Path(f"/proc/{pid}/status").read_text()
                except OSError:
                    continue
                for line in status.splitlines():
                    if line.startswith("VmRSS"):
                        self.lives.setdefault(pid, []).append(int(line.split()[1]) // 1024)


@pytest.fixture
def receivers():
    """Those whose delays are measured; the sick ones; and as many healthy ones, to compare the sick ones with."""
    groups = [Receivers(*["ok"] * OK), Receivers(*SICK), Receivers(*["ok"] * len(SICK))]
    yield groups
    for group in groups:
        group.close()


def register(gateway, receivers):
    """The webhooks by kind: [(kind, id)] in the receivers' order."""
    made = []
    for kind, port in receivers.all:
        answer = gateway.call("POST", "/v1/webhooks", {
            "url": f"http://127.0.0.1:{port}/hook", "types": ["chaos.*"], "description": kind})
        assert answer.status_code == 201, answer.text
        made.append((kind, answer.json()["id"]))
    return made


def emit(gateway, phase, first, count):
    """Emits a batch until it is answered; a repeat after a crash is recognised by its key."""
    events = [{"channel": f"chaos.{number % 7}", "type": "chaos.happened",
               "data": {"at": time.time(), "phase": phase, "number": number}}
              for number in range(first, first + count)]
    while True:
        gateway.up.wait(timeout=60)
        try:
            answer = gateway.call(
                "POST", "/v1/events/batch", {"mode": "atomic", "events": events},
                headers={"Idempotency-Key": f"{phase}-{first}"})
        except requests.RequestException:
            time.sleep(0.05)
            continue
        if answer.status_code == 200:
            return [result["id"] for result in answer.json()["results"]]
        assert answer.status_code == 503, answer.text
        time.sleep(0.05)


def paced(gateway, phase, first, count):
    """Emits one event at a time at the chosen rate."""
    ids, start = [], time.monotonic()
    for number in range(count):
        time.sleep(max(0, start + number / RATE - time.monotonic()))
        ids += emit(gateway, phase, first + number, 1)
    return ids


def counts(gateway, webhook):
    answer = gateway.call("GET", f"/v1/webhooks/{webhook}/stats")
    assert answer.status_code == 200, answer.text
    return answer.json()["deliveries"]


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not (state := condition())[0]:
        assert time.monotonic() < deadline, f"{what}: {state[1]}"
        time.sleep(0.2)


def delivered_to_all(gateway, webhooks, count):
    def look():
        found = {id: counts(gateway, id) for id in webhooks}
        return all(one["delivered"] >= count for one in found.values()), found
    return look


def percentile(delays, share):
    delays = sorted(delays)
    return delays[min(len(delays) - 1, int(len(delays) * share))]


def test_no_event_without_a_fate(tmp_path, receivers):
    measured, others, company = receivers
    gateway = Gateway(tmp_path / "data").start()
    memory = Memory(gateway)
    try:
        webhooks = register(gateway, measured) + register(gateway, others)
        healthy = [id for kind, id in webhooks if kind == "ok"]
        sick = [id for kind, id in webhooks if kind != "ok"]

        def switch(how, body=None):
            for id in sick:
                assert gateway.call("POST", f"/v1/webhooks/{id}/{how}", body).status_code == 200

        def measure(phase):
            nonlocal ids
            ids += paced(gateway, phase, turn * sample, sample)
            wait_until(delivered_to_all(gateway, healthy, len(ids)), 60, phase)

        # Delays with the sick ones disabled; with as many healthy ones in their place; with the sick ones. Between the
        # last two lies what is due to their being sick, and not to their being more.
        sample = min(EVENTS // 4, 20 * RATE) // TURNS
        ids = []
        for turn in range(TURNS):
            switch("disable")
            measure("alone")
            more = register(gateway, company)
            measure("company")
            for _, id in more:
                assert gateway.call("DELETE", f"/v1/webhooks/{id}").status_code == 204
            # What was held for them would go out at once; that is another load than the one measured.
            switch("enable", {"held": "dead"})
            measure("together")

        # The rest as fast as it goes, with kills at even distances.
        rest = EVENTS - len(ids)
        kill_at = [rest * (number + 1) // (KILLS + 1) for number in range(KILLS)]
        for first in range(0, rest, BATCH):
            while kill_at and first >= kill_at[0]:
                kill_at.pop(0)
                gateway.kill()
                gateway.start()
            ids += emit(gateway, "rest", first, min(BATCH, rest - first))
        while kill_at:
            kill_at.pop(0)
            gateway.kill()
            gateway.start()
        assert len(set(ids)) == EVENTS
        wait_until(delivered_to_all(gateway, healthy, EVENTS), 60 + EVENTS / 50, "healthy webhooks")

        # What is still owed to the sick ones is held from now on: nothing is under way any more.
        for id in sick:
            gateway.call("POST", f"/v1/webhooks/{id}/disable")

        def settled():
            found = {id: counts(gateway, id) for id in sick}
            return all(one["pending"] == one["failed"] == 0 for one in found.values()), found
        wait_until(settled, 60, "sick webhooks")
        report = measured.report() + others.report()
        audit(gateway, report, webhooks, set(ids))
        judge(report, memory)
    finally:
        memory.is_over.set()
        gateway.stop()


def audit(gateway, report, webhooks, ids):
    """Every event once for every webhook, with a fate; what counts as delivered was received."""
    for (kind, id), receiver in zip(webhooks, report):
        fates = counts(gateway, id)
        assert sum(fates[state] for state in STATES) == EVENTS, (kind, fates)
        recorded, delivered, cursor = {}, set(), None
        while True:
            page = gateway.call(
                "GET", "/v1/deliveries", params={"subscriber": id, "limit": 250, **({"cursor": cursor} if cursor else {})})
            for delivery in page.json()["data"]:
                assert delivery["event"] not in recorded, "recorded twice"
                recorded[delivery["event"]] = delivery["status"]
                assert delivery["status"] in ("delivered", "held", "dead"), delivery
                assert delivery["status"] != "dead" or delivery["reason"], delivery
                if delivery["status"] == "delivered":
                    delivered.add(delivery["event"])
            cursor = page.json()["next_cursor"]
            if not cursor:
                break
        assert set(recorded) == ids, kind
        assert delivered <= set(receiver["accepted"]), f"{kind}: recorded as delivered, never accepted"
        if kind == "ok":
            assert delivered == ids
        print(f"{kind:9} {fates} requests {receiver['requests']}")


def judge(report, memory):
    """The healthy ones are not hurt by the sick ones, and memory does not grow."""
    delays = {phase: [d for r in report if r["kind"] == "ok" for d in r["delays"][phase]]
              for phase in ("alone", "company", "together")}
    for share in (0.5, 0.99):
        alone, company, together = (percentile(found, share) for found in delays.values())
        print(f"p{share * 100:.0f} of {OK} healthy webhooks in ms: alone {alone * 1000:.1f}, with {len(SICK)} more of "
              f"them {company * 1000:.1f}, with {len(SICK)} sick ones {together * 1000:.1f}")
    peaks = {pid: (samples[len(samples) // 4], max(samples)) for pid, samples in memory.lives.items() if samples}
    print("resident MiB, after a quarter of a life and at its peak:", list(peaks.values()))
    # Loose, as other work on the machine shows here too. What is caught is a healthy webhook that waits for a sick one,
    # which is for seconds: attempts at what hangs last 15.
    assert together <= 2 * company + 1
    assert max(peak for _, peak in peaks.values()) < 512

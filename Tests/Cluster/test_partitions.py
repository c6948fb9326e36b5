"""A node whose packets to PostgreSQL or NATS disappear answers in time, does not stop the other nodes, and recovers by
itself. Packets are dropped on arrival, so that no side hears of it."""

import subprocess
import threading
import time
from contextlib import contextmanager

import pytest

from cluster import STORE_SECONDS, Cluster, HeadLock, wait_until
from ledger import Listener, Observers, emit

pytestmark = [pytest.mark.isolated, pytest.mark.long]
MARGIN = 3  # seconds; for a machine that has other work


@contextmanager
def dropped(*rules):
    """Drops the packets that match one of the rules of nftables."""
    lines = "\n".join(f"    {rule} counter drop" for rule in rules)
    text = f"table inet faults {{\n  chain incoming {{\n    type filter hook input priority 0\n{lines}\n  }}\n}}\n"
    subprocess.run(["nft", "-f", "-"], input=text, text=True, check=True)
    try:
        yield
    finally:
        counted = subprocess.run(["nft", "list", "table", "inet", "faults"], capture_output=True, text=True).stdout
        subprocess.run(["nft", "delete", "table", "inet", "faults"], check=True)
        assert "packets 0 " not in counted, f"a rule matched nothing:\n{counted}"


def requests_to(address, port):
    return f"ip daddr {address} tcp dport {port}"


def replies_from(address, port):
    return f"ip saddr {address} tcp sport {port}"


@pytest.mark.parametrize("direction", ["both", "replies"])
def test_a_node_without_postgresql(direction):
    with Cluster() as cluster:
        observers = Observers(cluster)
        node, others = cluster.nodes[0], cluster.nodes[1:]
        ledger, place = observers.ledger, ("127.0.1.1", cluster.postgres.port)
        quiet = Listener([node], since="latest")
        wait_until(lambda: quiet.is_open, 20, "a stream does not open")
        rules = [replies_from(*place)] + ([requests_to(*place)] if direction == "both" else [])
        with dropped(*rules):
            start = time.monotonic()
            ledger.wait_for_refused(5, 60, [node.name])
            wait_until(lambda: node.readiness() == 503, 20, "the node is ready without PostgreSQL")
            reading = time.monotonic()
            assert node.call("GET", "/v1/channels/ledger.0/events", seconds=60)[0] in (200, 503)
            print(f"\na read of the node took {time.monotonic() - reading:.1f} s")
            assert time.monotonic() - reading < 2 * STORE_SECONDS + MARGIN
            ledger.wait_for_stored(50, 120, [other.name for other in others])
            time.sleep(max(0, 12 - (time.monotonic() - start)))
        healed = time.monotonic()
        node.wait_until_ready(15)
        ledger.wait_for_stored(10, 15, [node.name])
        print(f"the node stores again after {time.monotonic() - healed:.1f} s")
        assert quiet.connections == 1, "a stream ended while PostgreSQL was away"
        quiet.stop()
        # The node may have been cut off while it held the head, for which the others then wait.
        longest, waited = ledger.longest([node.name]), ledger.longest([other.name for other in others], start)
        print(f"a response of the node took {longest:.1f} s, and one of the others {waited:.1f} s")
        assert max(longest, waited) < STORE_SECONDS + MARGIN
        refused = [outcome for outcome in ledger.outcomes if not outcome.is_stored and outcome.node != node.name]
        assert not refused, f"other nodes refused: {refused[:3]}"
        observers.finish()


def test_a_node_that_vanishes_with_the_head():
    with Cluster() as cluster:
        node, other = cluster.nodes[:2]
        place = ("127.0.1.1", cluster.postgres.port)
        emit(node, "ledger.0", "before")
        lock = HeadLock(cluster.postgres)
        lock.__enter__()
        sender = threading.Thread(target=emit, args=[node, "ledger.0", "held"], daemon=True)
        sender.start()
        wait_until(lambda: cluster.postgres.sessions(node.name, "wait_event_type = 'Lock'"), 10,
                   "the node does not wait for the head")
        with dropped(requests_to(*place), replies_from(*place)):
            lock.__exit__()
            wait_until(lambda: cluster.postgres.sessions(node.name, "state = 'idle in transaction'"), 10,
                       "the node does not hold the head")
            # A machine without power: the kernel of the node ends no connection.
            node.pause()
            start = time.monotonic()
            outcome = emit(other, "ledger.0", "other")
            assert outcome.is_stored, f"{outcome}: the lock of a vanished node blocks the cluster"
            print(f"\nthe other nodes waited for {time.monotonic() - start:.1f} s")
            assert emit(other, "ledger.0", "next").seconds < 1
        node.resume()
        node.wait_until_ready(20)
        assert emit(node, "ledger.0", "after").is_stored


def test_a_node_without_nats():
    with Cluster() as cluster:
        observers = Observers(cluster)
        node, others = cluster.nodes[0], cluster.nodes[1:]
        listener = Listener([node], since="latest")
        wait_until(lambda: listener.is_open, 20, "a stream does not open")
        place = ("127.0.2.1", cluster.nats.port)
        with dropped(requests_to(*place), replies_from(*place)):
            start, slowest, round = time.monotonic(), 0, 0
            # NATS notices a silent connection after 15 s.
            while time.monotonic() - start < 20:
                outcome = emit(others[round % 2], "ledger.0", f"alone-{round}", observers.ledger)
                observers.ledger.close(f"alone-{round}", "ledger.0", [outcome])
                assert outcome.is_stored, outcome
                slowest = max(slowest, listener.arrival(outcome.timetoken) - outcome.start - outcome.seconds)
                round += 1
                time.sleep(0.2)
            print(f"\na listener heard each of {round} events within {slowest:.2f} s")
            assert slowest < 1
        observers.ledger.wait_for_stored(50, 30, [node.name])
        assert all(outcome.is_stored for outcome in observers.ledger.outcomes), "an append failed without NATS"
        listener.stop()
        observers.finish()

"""Nothing acknowledged is lost, doubled or misordered when a process of the cluster is killed or paused, and each
caller receives a documented outcome."""

import threading
import time

import pytest

from cluster import STORE_SECONDS, Cluster, HeadLock, wait_until
from ledger import Listener, Observers, emit
from nats_proxy import NATSProxy

MARGIN = 3  # seconds; for a machine that has other work


def test_a_killed_node_leaves_everything_to_the_others():
    with Cluster() as cluster:
        observers = Observers(cluster)
        for node in cluster.nodes:
            node.kill()
            observers.ledger.wait_for_stored(100, nodes=[other.name for other in cluster.nodes if other is not node])
            node.start()
            observers.ledger.wait_for_stored(30, nodes=[node.name])
        observers.finish(unavailable=[node.name for node in cluster.nodes])


def test_nodes_survive_a_killed_postgresql():
    with Cluster() as cluster:
        observers = Observers(cluster)
        ledger = observers.ledger
        # Streams at the end of the log, which wait for events.
        quiet = [Listener([node], since="latest") for node in cluster.nodes]
        for _ in range(2):
            wait_until(lambda: all(listener.is_open for listener in quiet), 20, "a stream does not open")
            opened = [listener.connections for listener in quiet]
            cluster.postgres.kill()
            ledger.wait_for_refused(20)
            for node in cluster.nodes:
                wait_until(lambda: node.readiness() == 503, 10, f"{node.name} is ready without PostgreSQL")
            cluster.postgres.start()
            for node in cluster.nodes:
                node.wait_until_ready(15)
            ledger.wait_for_stored(100)
            assert [listener.connections for listener in quiet] == opened, "a stream ended while PostgreSQL was away"
        for listener in quiet:
            listener.stop()
        refusals = [outcome for outcome in ledger.outcomes if not outcome.is_stored]
        assert refusals and max(outcome.seconds for outcome in refusals) < STORE_SECONDS + MARGIN
        observers.finish()


def test_a_listener_hears_within_a_second_without_nats():
    with Cluster() as cluster:
        observers = Observers(cluster)
        cluster.nats.kill()
        for round in range(20):
            listener = observers.listeners[round % len(observers.listeners)]
            node = next(node for node in cluster.nodes if node is not listener.node)
            outcome = emit(node, "ledger.0", f"alone-{round}", observers.ledger)
            observers.ledger.close(f"alone-{round}", "ledger.0", [outcome])
            assert outcome.is_stored, outcome
            stored = outcome.start + outcome.seconds
            assert listener.arrival(outcome.timetoken) - stored < 1
        assert all(outcome.is_stored for outcome in observers.ledger.outcomes), "an append failed without NATS"
        assert all(node.readiness() == 200 for node in cluster.nodes)
        cluster.nats.start()
        observers.ledger.wait_for_stored(100)
        observers.finish()


def test_nats_may_drop_delay_repeat_and_reorder():
    proxies = []

    def bus(number):
        proxies.append(NATSProxy(cluster.nats.port, number))
        return f"nats://127.0.0.1:{proxies[-1].port}"

    cluster = Cluster(bus=bus)
    with cluster:
        observers = Observers(cluster)
        observers.ledger.wait_for_stored(400, 120)
        observers.finish()
        for proxy in proxies:
            print(proxy.counts)
            assert min(proxy.counts.values()) > 0, "the proxy changed nothing"
            proxy.close()


def test_a_paused_node_that_holds_the_head_does_not_stop_the_others():
    with Cluster() as cluster:
        paused, other = cluster.nodes[0], cluster.nodes[1]
        emit(paused, "ledger.0", "before")
        pause_with_head(cluster, paused, lambda: paused.pause())
        start = time.monotonic()
        outcome = emit(other, "ledger.0", "other")
        assert outcome.is_stored, f"{outcome}: the lock of a paused node blocks the cluster"
        print(f"\nthe other nodes waited for {time.monotonic() - start:.1f} s")
        paused.resume()
        paused.wait_until_ready()
        assert emit(paused, "ledger.0", "after").is_stored
        assert emit(other, "ledger.0", "held").status in (201, 503)


def pause_with_head(cluster, node, pause):
    """Pauses a node at the moment when PostgreSQL gives the lock of the head to its transaction."""
    with HeadLock(cluster.postgres):
        sender = threading.Thread(target=emit, args=[node, "ledger.0", "held"], daemon=True)
        sender.start()
        wait_until(lambda: cluster.postgres.sessions(node.name, "wait_event_type = 'Lock'"), 10,
                   "the node does not wait for the head")
        pause()
    wait_until(lambda: cluster.postgres.sessions(node.name, "state = 'idle in transaction'"), 10,
               "the node does not hold the head")


@pytest.mark.long
def test_webhooks_of_a_paused_node_are_taken_over():
    with Cluster() as cluster:
        observers = Observers(cluster)
        postgres, receiver = cluster.postgres, observers.receiver

        def owner():
            found = postgres.query("SELECT owner FROM subscriber WHERE owner IS NOT NULL")
            return found[0] if found else None

        # The numbers of nodes in the order of their starts.
        numbers = postgres.query("SELECT id FROM node ORDER BY id")
        number = wait_until(owner, 20, "no node owns the webhook")
        node = cluster.nodes[numbers.index(number)]
        node.pause()
        start = time.monotonic()
        wait_until(lambda: owner() not in (None, number), 15, "no node took the webhook over within 15 s")
        taken = time.monotonic() - start
        with receiver.changed:
            count = len(receiver.received)
        receiver.wait_for_more(20, 15)
        print(f"\ntaken over after {taken:.1f} s")
        time.sleep(max(0, 20 - (time.monotonic() - start)))
        node.resume()
        node.wait_until_ready()
        observers.ledger.wait_for_stored(100, nodes=[node.name])
        with receiver.changed:
            later = receiver.received[count:]
        repeated = len(later) - len(set(later))
        print(f"{repeated} of {len(later)} deliveries after the takeover were repeated")
        observers.finish(unavailable=[node.name])

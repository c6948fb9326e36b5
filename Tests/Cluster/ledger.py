"""What writers, listeners and a webhook saw of a cluster under faults, and the audit that compares it with the
store."""

import http.client
import json
import random
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cluster import BEARER, wait_until

CHANNELS = [f"ledger.{number}" for number in range(3)]
# The problems that `openapi.yaml` documents for a store that is away, slow or full. With all but `outcome_unknown`
# nothing was stored.
REFUSALS = {(503, "unavailable"), (503, "overloaded"), (507, "storage_full"), (409, "idempotency_key_running")}
UNKNOWN = {(503, "outcome_unknown")}


@dataclass
class Outcome:
    """The result of one request."""

    node: str
    start: float
    seconds: float
    status: int | None  # None without a response
    code: str | None = None
    timetoken: int | None = None
    failure: str | None = None

    @property
    def is_stored(self):
        return self.status == 201

    @property
    def is_refused(self):
        return (self.status, self.code) in REFUSALS


class Ledger:
    """The outcomes of all requests, by key."""

    def __init__(self):
        self.changed = threading.Condition()
        self.stored = {}  # key: (channel, timetoken)
        self.refused = set()  # never stored: each request of the key was refused
        self.possible = set()  # stored once or not at all
        self.outcomes = []
        self.problems = []

    def record(self, outcome):
        with self.changed:
            self.outcomes.append(outcome)
            self.changed.notify_all()

    def close(self, key, channel, outcomes):
        """Records the fate of a key after its last request."""
        with self.changed:
            last = outcomes[-1]
            if last.is_stored:
                self.stored[key] = (channel, last.timetoken)
            elif all(outcome.is_refused for outcome in outcomes):
                self.refused.add(key)
            else:
                self.possible.add(key)
            self.changed.notify_all()

    def wait_for_stored(self, more, seconds=60, nodes=None):
        """Waits until `more` further requests are stored, by the given nodes."""
        with self.changed:
            start = len(self.outcomes)

            def count():
                return sum(1 for outcome in self.outcomes[start:]
                           if outcome.is_stored and (nodes is None or outcome.node in nodes))

            assert self.changed.wait_for(lambda: count() >= more, seconds), \
                f"only {count()} of {more} events were stored in {seconds} s: {self.summary(start)}"

    def wait_for_refused(self, more, seconds=60, nodes=None):
        with self.changed:
            start = len(self.outcomes)
            assert self.changed.wait_for(
                lambda: sum(1 for outcome in self.outcomes[start:] if not outcome.is_stored
                            and (nodes is None or outcome.node in nodes)) >= more, seconds), "nothing was refused"

    def summary(self, start=0):
        return dict(Counter((outcome.status, outcome.code or outcome.failure) for outcome in self.outcomes[start:]))

    def longest(self, node_names, after=0.0, before=float("inf")):
        """The longest time to a response of the nodes, in seconds."""
        return max((outcome.seconds for outcome in self.outcomes if outcome.node in node_names
                    and outcome.start >= after and outcome.start < before), default=0)


def emit(node, channel, key, ledger=None, seconds=20, data=None):
    """Emits one event and returns the outcome."""
    start = time.monotonic()
    outcome = Outcome(node.name, start, 0, None)
    try:
        status, headers, body = node.call(
            "POST", f"/v1/channels/{channel}/events", {"type": "entry", "data": data or {"key": key}},
            {"Idempotency-Key": key}, seconds)
        outcome.status = status
        if status == 201:
            outcome.timetoken = int(body["timetoken"])
        else:
            outcome.code = body.get("code") if isinstance(body, dict) else None
            if ledger:
                if (status, outcome.code) not in REFUSALS | UNKNOWN:
                    ledger.problems.append(f"{node.name}: an undocumented response {status} {body}")
                if status == 503 and not headers.get("Retry-After"):
                    ledger.problems.append(f"{node.name}: 503 without Retry-After: {body}")
    except (OSError, http.client.HTTPException, ValueError) as failure:
        outcome.failure = type(failure).__name__
    outcome.seconds = time.monotonic() - start
    if ledger:
        ledger.record(outcome)
    return outcome


class Writers:
    """Tasks that emit numbered events through random nodes, each after the outcome of the one before."""

    def __init__(self, nodes, ledger, count=6, seed=None, pause=0.01):
        self.nodes, self.ledger, self.pause = nodes, ledger, pause
        self.is_over = threading.Event()
        choice = random.Random(seed)
        self.threads = [threading.Thread(target=self.run, args=[number, random.Random(choice.random())], daemon=True)
                        for number in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, writer, choice):
        number = 0
        while not self.is_over.is_set():
            key, channel = f"{writer}-{number}", choice.choice(CHANNELS)
            number += 1
            # Half of the requests that fail are repeated until they are stored.
            attempts = choice.choice([1, 1 << 30])
            outcomes = []
            while not outcomes or (not outcomes[-1].is_stored and len(outcomes) < attempts
                                   and not self.is_over.is_set()):
                if outcomes:
                    time.sleep(0.1)
                outcomes.append(emit(choice.choice(self.nodes), channel, key, self.ledger))
            self.ledger.close(key, channel, outcomes)
            time.sleep(self.pause)

    def stop(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), "a request has no outcome after a minute"


class Listener:
    """A stream over all channels of the ledger. It reconnects to a random node with its last id."""

    def __init__(self, nodes, seed=None, since="earliest"):
        self.nodes, self.since = nodes, since
        self.choice = random.Random(seed)
        self.seen, self.arrivals, self.problems = [], [], []
        self.last, self.node = None, None
        self.connections = 0
        self.is_open = False
        self.is_over = threading.Event()
        self.moved = threading.Condition()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.is_over.is_set():
            self.node = self.choice.choice(self.nodes)
            try:
                with closing(http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=40)) as connection:
                    self.follow(connection)
            except (OSError, http.client.HTTPException, ValueError):
                pass
            self.is_open = False
            time.sleep(0.1)

    def follow(self, connection):
        path = "/v1/stream?channel=ledger.*"
        headers = {"Accept": "text/event-stream", **BEARER}
        if self.last:
            headers["Last-Event-ID"] = self.last
        else:
            path += f"&cursor={self.since}"
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        if answer.status != 200:
            if answer.status != 503:
                self.problems.append(f"a stream of {self.node.name} has the status {answer.status}: {answer.read()}")
            return
        self.connections += 1
        name, identifier, data = None, None, None
        while line := answer.readline():
            if self.is_over.is_set():
                return
            line = line.decode().rstrip("\r\n")
            if line:
                field, _, value = line.partition(": ")
                match field:
                    case "event": name = value
                    case "id": identifier = value
                    case "data": data = value
                continue
            self.take(name, identifier, data)
            name, identifier, data = None, None, None

    def take(self, name, identifier, data):
        with self.moved:
            if identifier:
                self.last = identifier
            if name == "stream.ready":
                self.is_open = True
            if name == "stream.gap":
                self.problems.append(f"a gap: {data}")
            if name == "entry":
                self.seen.append(int(json.loads(data)["timetoken"]))
                self.arrivals.append(time.monotonic())
            self.moved.notify_all()

    def wait_for(self, timetoken, seconds=60):
        with self.moved:
            assert self.moved.wait_for(lambda: self.seen and self.seen[-1] >= timetoken, seconds), \
                f"the stream of {self.node.name} stands still at {self.last}, before {timetoken}"

    def arrival(self, timetoken, seconds=60):
        self.wait_for(timetoken, seconds)
        return self.arrivals[self.seen.index(timetoken)]

    def stop(self):
        self.is_over.set()


class Receiver:
    """A receiver of webhooks that records the events in the order of the requests."""

    def __init__(self):
        self.received = []  # (channel, timetoken)
        self.changed = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with receiver.changed:
                    receiver.received.append((event["channel"], int(event["timetoken"])))
                    receiver.changed.notify_all()
                try:
                    self.send_response(204)
                    self.end_headers()
                except OSError:
                    pass  # the node was killed

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a killed node leaves its connections behind

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def register(self, node):
        status, _, body = node.call("POST", "/v1/webhooks", {
            "url": self.url, "types": ["entry"], "ordering": "per_channel"})
        assert status == 201, body
        return body["id"]

    def wait_for_more(self, count, seconds):
        with self.changed:
            start = len(self.received)
            assert self.changed.wait_for(lambda: len(self.received) >= start + count, seconds), \
                f"only {len(self.received) - start} deliveries within {seconds} s"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def pages(node, path):
    """All items of a list, in the order of the node."""
    items, cursor = [], ""
    while True:
        status, _, page = node.call("GET", f"{path}{'&' if '?' in path else '?'}limit=250{cursor}")
        assert status == 200, page
        items += page["data"]
        if not page["next_cursor"]:
            return items
        cursor = f"&cursor={page['next_cursor']}"


def history(node, channel):
    return pages(node, f"/v1/channels/{channel}/events")


class Observers:
    """The writers, listeners and the webhook of one test."""

    def __init__(self, cluster, listeners=3, seed=None, writers=6, pause=0.01):
        self.seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
        print(f"\nseed {self.seed}")
        choice = random.Random(self.seed)
        self.cluster = cluster
        self.ledger = Ledger()
        self.receiver = Receiver()
        self.webhook = self.receiver.register(cluster.nodes[0])
        self.listeners = [Listener(cluster.nodes, choice.random()) for _ in range(listeners)]
        self.writers = Writers(cluster.nodes, self.ledger, writers, choice.random(), pause)
        self.ledger.wait_for_stored(50)
        self.receiver.wait_for_more(1, 30)

    def finish(self, unavailable=()):
        """Stops the writers and audits. `unavailable`: the nodes that may have left a request without a response."""
        self.writers.stop()
        for node in self.cluster.nodes:
            if not node.is_running:
                node.start()
            node.wait_until_ready()
        try:
            self.audit(unavailable)
        finally:
            for listener in self.listeners:
                listener.stop()
            self.receiver.close()

    def audit(self, unavailable):
        ledger = self.ledger
        print(f"{len(ledger.outcomes)} requests: {ledger.summary()}")
        print(f"{len(ledger.stored)} keys stored, {len(ledger.refused)} refused, {len(ledger.possible)} possible")
        for outcome in ledger.outcomes:
            if outcome.status is None and outcome.node not in unavailable:
                ledger.problems.append(f"{outcome.node} left a request without a response: {outcome}")
        assert not ledger.problems, ledger.problems[:10]
        places = self.stored_places()
        for key, (channel, timetoken) in ledger.stored.items():
            assert places.get(key) == (channel, timetoken), f"{key} is lost: {places.get(key)}, {(channel, timetoken)}"
        for key in places:
            assert key not in ledger.refused, f"{key} was refused, and is stored"
            assert key in ledger.stored or key in ledger.possible, f"{key} was never sent"
        # Each writer waits for the outcome of a request before it sends the next one.
        order = {}
        for key, (_, timetoken) in sorted(ledger.stored.items(), key=lambda entry: int(entry[0].split("-")[1])):
            writer = key.split("-")[0]
            assert order.get(writer, 0) < timetoken, f"{key} is stored before the writer's earlier event"
            order[writer] = timetoken
        self.audit_listeners(sorted(timetoken for _, timetoken in places.values()))
        self.audit_webhook(set(places.values()))

    def stored_places(self):
        """The channel and the timetoken of each key, which are the same on every node."""
        found = []
        for node in self.cluster.nodes:
            places = {}
            for channel in CHANNELS:
                events = history(node, channel)
                order = [int(event["timetoken"]) for event in events]
                assert order in (sorted(set(order)), sorted(set(order), reverse=True)), "history is out of order"
                for event in events:
                    key = event["data"]["key"]
                    assert key not in places, f"{key} is stored twice"
                    places[key] = (channel, int(event["timetoken"]))
            found.append(places)
        assert all(places == found[0] for places in found), "the nodes disagree"
        return found[0]

    def audit_listeners(self, order):
        for listener in self.listeners:
            listener.wait_for(order[-1])
            assert not listener.problems, listener.problems
            if listener.seen != order:
                missed, extra = set(order) - set(listener.seen), Counter(listener.seen) - Counter(order)
                raise AssertionError(f"a listener missed {missed}, and received {extra} too often or out of order")
        print(f"{len(order)} events; connections of the listeners: {[l.connections for l in self.listeners]}")

    def audit_webhook(self, stored):
        receiver, start = self.receiver, time.monotonic()
        with receiver.changed:
            assert receiver.changed.wait_for(lambda: stored <= set(receiver.received), 120), \
                f"{len(stored - set(receiver.received))} of {len(stored)} events were not delivered"
            received = list(receiver.received)
        assert set(received) == stored, "the webhook received an event that is not stored"
        first = {}
        for channel, timetoken in dict.fromkeys(received):
            assert first.get(channel, 0) < timetoken, "the webhook received an event before an earlier one"
            first[channel] = timetoken

        def recorded():
            """Each event as often as it is recorded as delivered; the last ones may not be recorded yet."""
            found = pages(self.cluster.nodes[-1], f"/v1/deliveries?subscriber={self.webhook}")
            counts = Counter(delivery["event"] for delivery in found if delivery["status"] == "delivered")
            assert not counts or max(counts.values()) == 1, "a delivery is recorded twice"
            return len(counts) == len(stored)

        wait_until(recorded, 90, "a delivery that was received is not recorded")
        print(f"{len(received)} deliveries of {len(stored)} events; the last after {time.monotonic() - start:.1f} s")

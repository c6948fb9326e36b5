"""What a cluster survives of its servers: the promotion of a standby, a full disk, a slow disk, and a connection that
takes nothing more; and of the clock of a node."""

import http.client
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from cluster import STORE_SECONDS, Cluster, HeadLock, Postgres, wait_until
from ledger import Observers, emit, history
from nats_proxy import end

COMPILER = shutil.which("cc") or shutil.which("clang")
MARGIN = 3  # seconds; for a machine that has other work


@contextmanager
def cluster_with_standby(nodes):
    """A cluster with a synchronous standby, and nodes that know both servers."""
    cluster = Cluster(nodes=0)
    with cluster:
        primary, standby = cluster.postgres, Postgres(cluster.servers, "standby")
        cluster.hosts = lambda _: f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
        standby.run("pg_basebackup", "-R", "-D", standby.data, "-h", "127.0.0.1", "-p", primary.port, "-U", "postgres",
                    "--checkpoint=fast", "--no-sync")
        cluster.others.append(standby)
        standby.start()
        primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        primary.query("SELECT pg_reload_conf()")
        wait_until(lambda: primary.query("SELECT sync_state FROM pg_stat_replication") == ["sync"], 30,
                   "the standby is not synchronous")
        for number in range(1, nodes + 1):
            cluster.add_node(number)
        yield cluster, primary, standby


@pytest.mark.long
def test_a_standby_is_promoted():
    with cluster_with_standby(3) as (cluster, primary, standby):
        observers = Observers(cluster)
        primary.kill()
        killed = time.monotonic()
        standby.query("SELECT pg_promote()", database="postgres")
        observers.ledger.wait_for_stored(100)
        first = min(outcome.start + outcome.seconds for outcome in observers.ledger.outcomes
                    if outcome.is_stored and outcome.start > killed)
        print(f"\nthe first event is stored {first - killed:.1f} s after the death of the primary")
        assert all(outcome.seconds < STORE_SECONDS + MARGIN for outcome in observers.ledger.outcomes)
        observers.finish()


@pytest.mark.long
def test_an_event_that_no_standby_has_is_not_acknowledged():
    with cluster_with_standby(1) as (cluster, primary, standby):
        node = cluster.nodes[0]
        assert emit(node, "ledger.0", "first").is_stored
        for process in standby.family():
            os.kill(process, signal.SIGSTOP)
        outcomes = []
        sender = threading.Thread(target=lambda: outcomes.append(emit(node, "ledger.0", "second")))
        sender.start()
        wait_until(lambda: primary.sessions(node.name, "wait_event = 'SyncRep'"), 10, "no commit waits for the standby")
        # After its restart the primary shows the event, which the standby does not have.
        primary.kill()
        primary.start()
        assert primary.query("SELECT count(*) FROM event") == ["2"]
        sender.join()
        print(f"\n{outcomes[0]}")
        primary.kill()
        for process in standby.family():
            os.kill(process, signal.SIGCONT)
        standby.query("SELECT pg_promote()", database="postgres")
        node.wait_until_ready()
        stored = {event["data"]["key"] for event in history(node, "ledger.0")}
        assert "first" in stored
        assert outcomes[0].code == "outcome_unknown" or "second" in stored, "an acknowledged event is lost"


@pytest.fixture
def small_disk():
    """A folder of 120 MiB on a disk of its own."""
    folder = Path("/tmp/parley-small-disk")  # in the mounts of this test run only
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120m", "tmpfs", str(folder)], check=True)
    folder.chmod(0o755)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
    folder.rmdir()


@pytest.mark.isolated
@pytest.mark.long
@pytest.mark.parametrize("full", ["data", "all"])
def test_the_disk_is_full(small_disk, full):
    cluster = Cluster(data=small_disk / "pg", settings=["max_wal_size=48MB", "min_wal_size=32MB"])
    with cluster:
        if full == "data":
            # The write-ahead log is on another disk. So the server itself goes on.
            cluster.postgres.stop()
            log = cluster.servers / "wal"
            subprocess.run(["cp", "-a", str(small_disk / "pg" / "pg_wal"), str(log)], check=True)
            shutil.rmtree(small_disk / "pg" / "pg_wal")
            (small_disk / "pg" / "pg_wal").symlink_to(log)
            cluster.postgres.start()
            for node in cluster.nodes:
                node.wait_until_ready()
        observers = Observers(cluster)
        ballast = small_disk / "ballast"
        with ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(65536))
            except OSError:
                pass
        # Events that do not compress.
        noise = random.Random(1)
        number = 0

        def fill():
            nonlocal number
            key = f"fill-{number}"
            number += 1
            outcome = emit(cluster.nodes[number % 3], "ledger.0", key, observers.ledger,
                           data={"key": key, "noise": noise.randbytes(12_000).hex()})
            observers.ledger.close(key, "ledger.0", [outcome])
            return not outcome.is_stored and outcome

        outcome = wait_until(fill, 60, "the disk does not become full")
        print(f"\nafter {number} large events: {outcome.status} {outcome.code}")
        if full == "data":
            assert (outcome.status, outcome.code) == (507, "storage_full"), outcome
            assert history(cluster.nodes[1], "ledger.1"), "nothing can be read"
            wait_until(lambda: cluster.nodes[0].readiness() == 503, 10, "the node is ready with a full disk")
        observers.ledger.wait_for_refused(20)
        ballast.unlink()
        cluster.postgres.start()  # a server that cannot write its log ends
        for node in cluster.nodes:
            node.wait_until_ready(20)
        observers.ledger.wait_for_stored(100)
        observers.finish()


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("strace"), reason="NOT TESTED: strace is not installed")
def test_the_disk_is_slow():
    with Cluster() as cluster:
        observers = Observers(cluster, writers=40, pause=0)
        attached = [part for pid in cluster.postgres.family() for part in ("-p", str(pid))]
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync",
                                   "-e", "inject=fdatasync:delay_exit=200000", *attached])
        try:
            time.sleep(1)
            ledger = observers.ledger
            commits = int(cluster.postgres.query("SELECT commit FROM head")[0])
            start, count = time.monotonic(), len(ledger.outcomes)
            ledger.wait_for_stored(400, 120)
            commits = int(cluster.postgres.query("SELECT commit FROM head")[0]) - commits
            stored = len(ledger.outcomes) - count
            print(f"\n{stored} events in {commits} commits and {time.monotonic() - start:.1f} s")
            assert (time.monotonic() - start) / commits > 0.2, "the disk is not slow"
            assert stored > 3 * commits, "the batches do not grow"
            assert all(outcome.is_stored for outcome in ledger.outcomes), ledger.summary()
            for node in cluster.nodes:
                status = Path(f"/proc/{node.process.pid}/status").read_text()
                resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
                assert resident < 512 * 1024, f"{node.name} uses {resident} KiB"
        finally:
            tracer.terminate()
            tracer.wait(30)
        observers.finish()


@pytest.mark.long
@pytest.mark.skipif(not COMPILER, reason="NOT TESTED: a C compiler is not installed")
@pytest.mark.parametrize("step", [3600, -3600])
def test_the_clock_of_a_node_is_set(tmp_path, step):
    library, offset = tmp_path / "clock.so", tmp_path / "offset"
    source = Path(__file__).parent / "clock.c"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", str(library), str(source)], check=True)
    offset.write_bytes(struct.pack("q", 0))
    cluster = Cluster(environments={2: {"LD_PRELOAD": str(library), "PARLEY_TEST_CLOCK": str(offset)}})
    with cluster:
        observers = Observers(cluster)
        node = cluster.nodes[1]
        for value in (step, 0):
            with offset.open("r+b") as file:
                file.write(struct.pack("q", value))
            # The first events after the step have the time of the store too.
            observers.ledger.wait_for_stored(60, nodes=[node.name])
            date = parsedate_to_datetime(node.call("GET", "/livez")[1]["Date"]).timestamp()
            assert abs(date - time.time() - value) < 60, "the node's clock is not set"
        observers.finish()
        wrong = [timetoken for _, timetoken in observers.ledger.stored.values()
                 if abs(timetoken / 10_000_000 - time.time()) > 600]
        assert not wrong, f"{len(wrong)} timetokens follow the clock of the node"


class StallingProxy:
    """A proxy in front of PostgreSQL. Once armed, it stops to read within a large response to a session that locks the
    head, and never reads that session again, like a machine that is gone."""

    def __init__(self, port):
        self.port_of_server = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.is_armed = threading.Event()
        self.is_stalled = threading.Event()
        self.kept = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket()
            # The segments of a network, and a small window. So the response does not fit into the system's buffers.
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1448)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            server.connect(("127.0.0.1", self.port_of_server))
            self.kept += [client, server]
            locks_head, ended = threading.Event(), threading.Event()
            for copy, source, target in ((self.send, client, server), (self.respond, server, client)):
                threading.Thread(target=copy, args=[source, target, locks_head, ended], daemon=True).start()

    def send(self, client, server, locks_head, ended):
        try:
            while data := client.recv(65536):
                if b"FROM head WHERE lane = 0 FOR UPDATE" in data:
                    locks_head.set()
                server.sendall(data)
        except OSError:
            pass
        if not ended.is_set():
            end(server)

    def respond(self, server, client, locks_head, ended):
        size, last = 0, time.monotonic()
        try:
            while data := server.recv(65536):
                now = time.monotonic()
                size, last = (0 if now - last > 0.2 else size) + len(data), now
                if self.is_armed.is_set() and locks_head.is_set() and size > 64 * 1024:
                    ended.set()
                    self.is_stalled.set()
                    return
                client.sendall(data)
        except OSError:
            pass
        end(client)

    def close(self):
        self.listener.close()
        for one in self.kept:
            one.close()


def test_a_node_that_takes_no_response_does_not_keep_the_head():
    cluster = Cluster(nodes=0)
    with cluster:
        proxy = StallingProxy(cluster.postgres.port)
        cluster.hosts = lambda number: f"127.0.0.1:{proxy.port if number == 1 else cluster.postgres.port}"
        stalled, other = cluster.add_node(1), cluster.add_node(2)
        batch = {"mode": "atomic", "events": [
            {"channel": "ledger.0", "type": "entry", "data": {"text": "x" * 30_000}} for _ in range(30)]}

        def send(node):
            try:
                node.call("POST", "/v1/events/batch", batch, {"Idempotency-Key": "large"}, 60)
            except (OSError, http.client.HTTPException):
                pass  # the end of the test

        # The second request of the same key waits for the head, and then reads the events of the first one.
        with HeadLock(cluster.postgres):
            for node in (other, stalled):
                threading.Thread(target=send, args=[node], daemon=True).start()
                wait_until(lambda: cluster.postgres.sessions(node.name, "wait_event_type = 'Lock'"), 10,
                           "the node does not wait for the head")
            proxy.is_armed.set()
        assert proxy.is_stalled.wait(20), "no response was large enough"
        holder = cluster.postgres.query(
            "SELECT state, wait_event FROM pg_stat_activity WHERE wait_event = 'ClientWrite' AND query LIKE '%event%'")
        assert holder, "the server does not wait for the node"
        print(f"\nthe node with the head is in the state {holder[0]}")
        start = time.monotonic()
        wait_until(lambda: emit(other, "ledger.0", "other").is_stored, 60,
                   "the lock of a stalled node blocks the cluster")
        print(f"the other node stores after {time.monotonic() - start:.1f} s")
        assert time.monotonic() - start < STORE_SECONDS + MARGIN
        proxy.close()

"""No webhook makes the gateway connect to an address it must not, observed where the connections would arrive.

The gateway runs in a network of its own in which every address there is leads to this machine, so nothing but the gateway
itself keeps it from reaching one, and every connection is seen. Names are resolved by a server here that lies as it likes.
Making that network needs root, `unshare` and `ip`; without them the test is skipped and says so.
"""

import ipaddress
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest

from conftest import Gateway

INSIDE = os.environ.get("PARLEY_TEST_NETWORK") == "own"
RESOLVER = "127.0.0.53"
PUBLIC = "93.184.215.14"
PROXY = "8.8.4.4"
KEY = "a-key-for-the-test-of-addresses-0123456789"

# First and last address of every blocked range, then what embeds an address inside.
BLOCKED = """
0.0.0.1 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.254 169.254.0.0
169.254.169.254 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255 192.88.99.1
192.88.99.255 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255
224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.254 255.255.255.255 0.0.0.0
:: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b:: 64:ff9b::ffff:ffff
64:ff9b:1:: 64:ff9b:1:ffff:ffff:ffff:ffff:ffff 100:: 100::ffff:ffff:ffff:ffff 2001:: 2001:0:ffff:ffff:ffff:ffff:ffff:ffff
2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 2002:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff::
3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff 5f00:: 5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff fc00::
fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe80:: febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff fec0:: ff02::1
ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
64:ff9b::a9fe:a9fe 64:ff9b::7f00:1 64:ff9b:1::a9fe:a9fe 2002:a9fe:a9fe:: 2002:7f00:1:: 2001:0:1:2:3:4:80ff:fffe
""".split()

# What libc or a careless parser takes for 127.0.0.1, 169.254.169.254 or a host of the inner network.
SPELLINGS = """
2130706433 0x7f000001 0177.0.0.1 127.1 0x7f.1 127.0.0.1. 127.0.0.01 0X7F.0.0.1 017700000001 127.0.1 0x7f.0x0.0x0.0x1
2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 localhost LOCALHOST localhost. x.localhost %31%32%37.0.0.1
127%2e0.0.1 ①②⑦.⓪.⓪.① 127。0。0。1 [::1%25lo] [::1%lo] [0:0:0:0:0:0:0:1] [::ffff:7f00:1] [::FFFF:127.0.0.1] [127.0.0.1]
user@127.0.0.1 example.com@127.0.0.1 example.com:80@127.0.0.1 127.0.0.1#example.com 127.0.0.1\\@example.com
example.com\\@127.0.0.1 0 0x0 00 256.0.0.1 1.2.3.4.5
""".split()

# Allowed by none of the rules about ports, hosts aside.
PORTS = [22, 25, 465, 587, 2375, 3306, 5432, 6379, 9200, 11211, 27017]


@pytest.mark.skipif(INSIDE, reason="this is the network of its own")
def test_webhooks_reach_no_blocked_address():
    tools = [shutil.which(tool) for tool in ("unshare", "ip", "mount")]
    if os.geteuid() != 0 or not all(tools):
        pytest.skip("needs root, unshare, ip and mount: NO CONNECTION WAS OBSERVED")
    if subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("the system grants no network namespace: NO CONNECTION WAS OBSERVED")
    setup = (
        "ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ip -6 route add local ::/0 dev lo"
        ' && file=$(mktemp) && echo "nameserver $0" > "$file" && mount --bind "$file" /etc/resolv.conf && rm -f "$file"'
        ' && exec "$@"')
    inner = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    run = subprocess.run(
        ["unshare", "--net", "--mount", "sh", "-c", setup, RESOLVER, *inner], capture_output=True, text=True, timeout=300,
        env={**os.environ, "PARLEY_TEST_NETWORK": "own"})
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout, run.stdout


class Door:
    """Listens at every address on some ports, closes what comes and counts it by the address it came to."""

    def __init__(self, *ports):
        self.seen = Counter()
        self.lock = threading.Lock()
        for port in ports:
            for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
                listener = socket.socket(family)
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                listener.bind((address, port))
                listener.listen(128)
                threading.Thread(target=self.accept, args=(listener,), daemon=True).start()

    def accept(self, listener):
        while True:
            peer, _ = listener.accept()
            with self.lock:
                self.seen[str(ipaddress.ip_address(peer.getsockname()[0]))] += 1
            peer.close()

    def count(self):
        with self.lock:
            return sum(self.seen.values())

    def take(self):
        with self.lock:
            seen, self.seen = self.seen, Counter()
        return seen


class Names:
    """A name server that answers what it was told, and something else the second time if it was told so."""

    def __init__(self):
        self.zone = {}
        self.asked = Counter()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((RESOLVER, 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def set(self, name, *rounds):
        """Each round is a list of addresses, or a name for a CNAME; the last round stays."""
        self.zone[name] = rounds

    def serve(self):
        while True:
            query, client = self.socket.recvfrom(512)
            labels, at = [], 12
            while length := query[at]:
                labels.append(query[at + 1:at + 1 + length].decode())
                at += 1 + length
            kind = struct.unpack("!H", query[at + 1:at + 3])[0]
            name = ".".join(labels).lower()
            self.asked[name, kind] += 1
            answers = list(self.answers(name, kind, b"\xc0\x0c"))
            head = query[:2] + struct.pack("!HHHHH", 0x8580 | (0 if name in self.zone else 3), 1, len(answers), 0, 0)
            self.socket.sendto(head + query[12:at + 5] + b"".join(answers), client)

    def answers(self, name, kind, owner):
        rounds = self.zone.get(name)
        if rounds is None:
            return
        data = rounds[max(min(self.asked[name, kind], len(rounds)), 1) - 1]
        if isinstance(data, str):
            target = b"".join(bytes([len(part)]) + part.encode() for part in data.split(".")) + b"\0"
            yield self.record(owner, 5, target)
            yield from self.answers(data, kind, target)
            return
        for address in map(ipaddress.ip_address, data):
            if kind == (1 if address.version == 4 else 28):
                yield self.record(owner, kind, address.packed)

    @staticmethod
    def record(owner, kind, data):
        return owner + struct.pack("!HHIH", kind, 1, 0, len(data)) + data


@pytest.fixture(scope="module")
def doors():
    return Door(443, 8443, 80, 3128)


@pytest.fixture
def door(doors):
    doors.take()
    return doors


@pytest.fixture(scope="module")
def names():
    return Names()


@pytest.fixture
def guarded(tmp_path, monkeypatch):
    """A gateway without the loopback exception of `--dev`, in an environment that would like it to use a proxy."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://{PROXY}:3128")
    monkeypatch.setenv("no_proxy", "127.0.0.1")  # for the calls of this test
    monkeypatch.setenv("PARLEY_ADMIN_KEY", KEY)
    gateway = Gateway(tmp_path / "data", dev=False, key=KEY).start()
    yield gateway
    gateway.stop()


def can_be_reached(address):
    """False for multicast, broadcast, and link-local addresses, which need an interface's name."""
    try:
        socket.create_connection((address, 443), 5).close()
        return True
    except OSError:
        return False


def wait_until(condition, otherwise):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)


def attempts(gateway, event, count):
    """How the first attempt of every delivery of an event ended, by webhook, once all were made."""
    def attempted():
        page = gateway.call("GET", f"/v1/deliveries?event={event}&limit=250").json()
        return [one for one in page["data"] if one["attempts"] > 0]

    wait_until(lambda: len(attempted()) == count, "not every delivery was attempted")
    return {one["subscriber"]: gateway.call("GET", f"/v1/deliveries/{one['id']}").json()["attempt_log"][0]["error"]
            for one in attempted()}


inside = pytest.mark.skipif(not INSIDE, reason="runs in a network of its own")


def credentials(token_url):
    return {"type": "oauth2", "token_url": token_url, "client_id": "id", "client_secret": "secret"}


@inside
def test_without_the_gateway_almost_everything_can_be_reached(door):
    reached = sum(can_be_reached(address) for address in BLOCKED)
    assert reached >= len(BLOCKED) - 10
    wait_until(lambda: door.count() == reached, "the doors saw less than what was sent to them")
    assert {"169.254.169.254", "10.0.0.0", "127.0.0.1", "::1", "64:ff9b::a9fe:a9fe"} <= set(door.take())


@inside
def test_what_the_url_tells_is_refused_when_a_webhook_is_made_or_changed(guarded, door):
    made = guarded.call("POST", "/v1/webhooks", {"url": "https://spelled.test/", "types": ["nothing"]}).json()
    hosts = SPELLINGS + [f"[{address}]" if ":" in address else address for address in BLOCKED]
    for host in hosts:
        for url in (f"https://{host}/", f"http://{host}/", f"https://{host}:8443/hook"):
            for method, path in (("POST", "/v1/webhooks"), ("PATCH", f"/v1/webhooks/{made['id']}")):
                answer = guarded.call(method, path, {"url": url, **({"types": ["*"]} if method == "POST" else {})})
                assert answer.status_code in (400, 422), f"{method} {url}: {answer.status_code} {answer.text}"
        answer = guarded.call("POST", "/v1/webhooks", {
            "url": "https://public.test/", "types": ["*"], "auth": credentials(f"https://{host}/token")})
        assert answer.status_code in (400, 422), f"token_url {host}: {answer.status_code} {answer.text}"
    for url in [f"https://public.test:{port}/" for port in PORTS] + ["http://public.test/", f"http://{PUBLIC}/"]:
        answer = guarded.call("POST", "/v1/webhooks", {"url": url, "types": ["*"]})
        assert answer.status_code in (400, 422), f"{url}: {answer.status_code}"
    assert not door.take()


@inside
def test_what_a_name_leads_to_counts_at_the_moment_of_connecting(guarded, door, names):
    expected = {}

    def webhook(name, outcome, *rounds, port=443, **settings):
        names.set(name, *rounds)
        answer = guarded.call(
            "POST", "/v1/webhooks", {"url": f"https://{name}:{port}/hook", "types": ["order.paid"], **settings})
        assert answer.status_code == 201, answer.text
        expected[answer.json()["id"]] = (name, outcome)

    for number, address in enumerate(BLOCKED):
        webhook(f"blocked-{number}.test", "blocked_address", [address])
    webhook("other-port.test", "blocked_address", ["169.254.169.254"], port=8443)
    webhook("several.test", "blocked_address", ["10.0.0.1", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::1"])
    names.set("inside.test", ["192.168.1.1", "fd00::1"])
    names.set("further.test", "inside.test")
    webhook("alias.test", "blocked_address", "inside.test")
    webhook("long-alias.test", "blocked_address", "further.test")
    webhook("public.test", "tls", [PUBLIC])
    webhook("mixed.test", "tls", ["10.0.0.1", "93.184.215.15", "127.0.0.1"])
    webhook("mixed-families.test", "tls", ["64:ff9b::a9fe:a9fe", "::1", "93.184.215.16"])
    webhook("turned.test", "tls", ["93.184.215.17"], ["127.0.0.1"])
    webhook("turned-6.test", "tls", ["93.184.215.18"], ["64:ff9b::7f00:1", "2002:7f00:1::"])
    # Where tokens come from is no less an address.
    names.set("tokens.test", ["169.254.169.254"])
    webhook("authorized.test", "blocked_address", [PUBLIC], auth=credentials("https://tokens.test/latest/api/token"))
    outside = {PUBLIC, *(f"93.184.215.{last}" for last in range(15, 19))}

    def round_of(turned):
        event = guarded.emit("orders", {"n": 1})["id"]
        log = attempts(guarded, event, len(expected))
        for webhook_id, (name, outcome) in expected.items():
            wanted = "blocked_address" if turned and name.startswith("turned") else outcome
            # The door closes a connection without a word, in the middle of the handshake or before.
            assert log[webhook_id] in ((wanted,) if wanted == "blocked_address" else ("tls", "reset")), name
        return door.take()

    # Nor do those get asked whose consent is wanted first.
    asked = guarded.call("POST", "/v1/webhooks", {
        "url": "https://inside.test/", "types": ["nothing"], "verification": "echo"}).json()
    assert guarded.call("POST", f"/v1/webhooks/{asked['id']}/verify").status_code == 422

    seen = round_of(turned=False)
    assert set(seen) == outside, seen
    # A new process has resolved nothing yet: now the names lead elsewhere.
    assert guarded.stop(signal.SIGTERM) == 0
    guarded.start()
    door.take()
    seen = round_of(turned=True)
    assert set(seen) == outside - {"93.184.215.17", "93.184.215.18"}, seen
    assert names.asked["turned.test", 1] >= 2

"""Clients whose network goes without a word, no end and no reset, are noticed all the same.

Gateway and clients have network namespaces of their own, and between them a cable that can be pulled: two tunnels of the
kernel's, whose packets are carried from one to the other here. This file is its own helper, run by `unshare`."""

import ctypes
import fcntl
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time

import cluster
import pytest

BOUND = 5
WAITING = 20
HERE, THERE = "10.213.0.1", "10.213.0.2"
ADMIN_KEY = "key-for-the-test-of-clients-that-vanish"
AUTHORIZATION = f"Authorization: Bearer {ADMIN_KEY}"
ALONE = ["unshare", "--user", "--map-root-user", "--net"]
# Asks, and keeps the sockets open whatever comes.
CLIENT = """
import socket, sys, time
kept = []
for target, field in [line.split(" ", 1) for line in sys.argv[2:]]:
    one = socket.create_connection((sys.argv[1], 8080))
    one.sendall(f"GET {target} HTTP/1.1\\r\\nHost: localhost\\r\\n{field}\\r\\n\\r\\n".encode())
    kept.append(one)
print("asked", flush=True)
time.sleep(600)
"""


def is_possible():
    return all(map(shutil.which, ("ip", "unshare"))) and subprocess.run(
        [*ALONE, "ip", "tuntap", "add", "cable", "mode", "tun"], capture_output=True).returncode == 0


@pytest.mark.skipif(not is_possible(), reason="no network namespaces with a cable between them (unshare, ip, /dev/net/tun)")
def test_clients_whose_cable_is_pulled_are_noticed(tmp_path):
    store = ["--engine", cluster.servers().url(cluster.servers().make_database())] if cluster.IS_WANTED else []
    run = subprocess.run(
        [*ALONE, sys.executable, __file__, str(tmp_path), *store], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stdout + run.stderr
    took = json.loads(run.stdout.splitlines()[-1])
    print(took)
    # A quiet stream is written to once a second here.
    assert took["polls"] <= BOUND + 1 and took["streams"] <= BOUND + 2, took


class Cable:
    """Carries packets between two namespaces until it is pulled."""

    def __init__(self):
        self.ends = [tunnel(HERE)]
        self.is_pulled = False
        self.started = []

    def start_there(self, command, **options):
        """Starts a program at the other end. A thread has a namespace of its own, which what it starts begins in."""
        def begin():
            if ctypes.CDLL(None, use_errno=True).unshare(0x40000000) != 0:
                raise OSError(ctypes.get_errno(), "unshare")
            self.ends.append(tunnel(THERE))
            threading.Thread(target=self.carry, daemon=True).start()
            self.started.append(subprocess.Popen(command, **options))

        thread = threading.Thread(target=begin)
        thread.start()
        thread.join()
        return self.started[0]

    def carry(self):
        while True:
            for end in select.select(self.ends, [], [])[0]:
                packet = os.read(end, 65536)
                if not self.is_pulled:
                    os.write(self.ends[1 - self.ends.index(end)], packet)


def tunnel(address):
    """A device of the namespace one is in, that has the address; what is sent there is read from it."""
    end = os.open("/dev/net/tun", os.O_RDWR)
    # TUNSETIFF: IFF_TUN | IFF_NO_PI
    fcntl.ioctl(end, 0x400454CA, struct.pack("16sH22x", b"cable", 0x1001))
    for command in (["addr", "add", f"{address}/24", "dev", "cable"], ["link", "set", "cable", "up"], ["link", "set", "lo", "up"]):
        subprocess.run(["ip", *command], check=True)
    return end


def run_alone(folder, *store):
    cable = Cable()
    gateway = client = None
    try:
        gateway = subprocess.Popen(
            [os.environ["PARLEY_BINARY"], "serve", "--listen", "0.0.0.0:8080", "--data", f"{folder}/data", *store,
             "--set", f"silent_client_seconds={BOUND}", "--set", "limits.heartbeat_seconds=1"],
            stderr=open(f"{folder}/log", "w"),
            env={**os.environ, "PARLEY_ADMIN_KEY": ADMIN_KEY, "PARLEY_DEMO_KEYS": "demo:demo:secret-of-the-demo-keyset"})
        wait(lambda: gateway.poll() is not None or call("/livez"), "the gateway to start")
        assert gateway.poll() is None, open(f"{folder}/log").read()
        asks = [f"/v2/subscribe/demo/a/0?tt=99999999999999999&uuid=user-{number} X: y" for number in range(WAITING)]
        client = cable.start_there(
            [sys.executable, "-c", CLIENT, HERE, *asks, f"/v1/stream?channel=a {AUTHORIZATION}"],
            stdout=subprocess.PIPE, text=True)
        assert client.stdout.readline() == "asked\n"
        wait(lambda: figures() == (WAITING, 1), "everybody to wait")
        # Whoever answers is not taken for gone, however long nothing is said.
        for _ in range(BOUND + 1):
            time.sleep(1)
            assert figures() == (WAITING, 1)
        cable.is_pulled = True
        begun, took = time.monotonic(), {"polls": 99, "streams": 99}
        while max(took.values()) == 99 and time.monotonic() - begun < 40:
            for name, count in zip(took, figures()):
                if count == 0:
                    took[name] = min(took[name], round(time.monotonic() - begun, 2))
            time.sleep(0.05)
        print(json.dumps(took))
    finally:
        for process in (client, gateway):
            if process:
                process.kill()
                process.wait()


def call(target):
    try:
        with socket.create_connection(("127.0.0.1", 8080), timeout=5) as one:
            one.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{AUTHORIZATION}\r\n\r\n".encode())
            answer = b""
            while part := one.recv(1 << 16):
                answer += part
        return answer.decode()
    except ConnectionError:
        return ""


def figures():
    """How many polls wait, and how many streams there are."""
    lines = [line.split(" ") for line in call("/metrics").splitlines()]
    return tuple(next(float(line[1]) for line in lines if line[0] == name) for name in ("parley_polls_waiting", "parley_streams"))


def wait(condition, what):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, f"waited for {what}"
        time.sleep(0.05)


if __name__ == "__main__":
    run_alone(*sys.argv[1:])

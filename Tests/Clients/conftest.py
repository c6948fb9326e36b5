"""A real gateway for real clients: one per fixture, on a free port, in a temporary directory or on a database of its own."""

import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue

import pytest
import requests

import cluster

BINARY = os.environ["PARLEY_BINARY"]

needs_sqlite = pytest.mark.skipif(cluster.IS_WANTED, reason="is about the SQLite file, which a cluster does not have")

# What every gateway of the run has logged, with its last figures; and the secrets that went over the wire meanwhile.
# The last test looks for these in those (test_zz_nothing_leaks.py).
KEPT = Path(tempfile.mkdtemp(prefix="parley-kept-"))
SECRETS = set()
SECRET_NAMES = {"key", "secret", "secrets", "admin_key", "secret_key", "ticket", "token", "verify_token"}
NUMBERS = itertools.count(1)
# Those whose data may still be in use.
GATEWAYS = []


def note_secrets(value, name=None):
    """Remembers what stands under a name of secrets, in whatever depth."""
    if isinstance(value, dict):
        for inner, part in value.items():
            note_secrets(part, inner)
    elif isinstance(value, list):
        for part in value:
            note_secrets(part, name)
    # Ids of keys are no secrets, and short words stand anywhere.
    elif isinstance(value, str) and name in SECRET_NAMES and len(value) >= 12 and not value.startswith("key_"):
        SECRETS.add(value)


class Node:
    """One process of `parley serve`, whose log goes to its gateway."""

    def __init__(self, gateway, options):
        self.gateway = gateway
        self.process = subprocess.Popen(
            [BINARY, "serve", *options], stderr=subprocess.PIPE, text=True, env={**os.environ, **gateway.environment})

    def wait_until_it_listens(self):
        for line in self.process.stderr:
            self.gateway.note([line])
            if match := re.search(r"listening on (http://(\S+:\d+))", line):
                self.url, self.address = match.groups()
                break
        else:
            raise AssertionError("the gateway did not start:\n" + "".join(self.gateway.log))
        # Somebody has to read the pipe, or the gateway would wait for room in it.
        threading.Thread(target=self.gateway.note, args=[self.process.stderr], daemon=True).start()

    def metrics(self):
        return requests.get(self.url + "/metrics", timeout=20).text


class Gateway:
    """A running `parley serve`, or the nodes of a cluster behind a proxy; can be killed and started again on the same data
    and port. What ends, signals and configures a gateway does so with each of its nodes."""

    def __init__(self, data, dev=True, key="dev", options=()):
        self.data = str(data)
        self.mode = (["--dev"] if dev else []) + list(options)
        self.key = key
        self.address = "127.0.0.1:0"
        self.nodes = []
        self.up = threading.Event()
        self.log = []
        self.logged = threading.Condition()
        self.kept = KEPT / f"{next(NUMBERS)}.log"
        self.environment = {}
        self.cluster = cluster.Cluster() if cluster.IS_WANTED else None
        GATEWAYS.append(self)

    def start(self):
        self.log = []
        options = [*self.mode, "--data", self.data]
        if self.cluster:
            options += [*self.cluster.options, "--listen", "127.0.0.1:0"]
            self.nodes = [Node(self, options) for _ in range(cluster.NODES)]
        else:
            self.nodes = [Node(self, [*options, "--listen", self.address])]
        try:
            for node in self.nodes:
                node.wait_until_it_listens()
        except AssertionError:
            self.kill()
            raise
        if self.cluster:
            self.cluster.set_nodes([node.address for node in self.nodes])
            self.address = f"127.0.0.1:{self.cluster.port}"
        else:
            self.address = self.nodes[0].address
        self.url = "http://" + self.address
        self.up.set()
        return self

    @property
    def is_running(self):
        return any(node.process.poll() is None for node in self.nodes)

    @property
    def is_whole(self):
        """Whether no process has ended."""
        return all(node.process.poll() is None for node in self.nodes)

    @property
    def pids(self):
        return [node.process.pid for node in self.nodes]

    def note(self, lines):
        for line in lines:
            with self.logged:
                self.keep(line)
                self.log.append(line)
                self.logged.notify_all()

    def keep(self, text):
        with self.kept.open("a") as file:
            file.write(text)

    def wait_for_log(self, text, after=0, count=1):
        """The first line behind the one numbered `after` that has the text, once there are as many such lines."""
        def found():
            return [line for line in self.log[after:] if text in line][:count]

        with self.logged:
            assert self.logged.wait_for(lambda: len(found()) == count, timeout=20), "".join(self.log)
            return found()[0]

    def send_signal(self, how):
        for node in self.nodes:
            node.process.send_signal(how)

    def reload(self, answer="settings reloaded"):
        """Sends SIGHUP; the line that says what came of it."""
        seen = len(self.log)
        self.send_signal(signal.SIGHUP)
        return self.wait_for_log(answer, seen, len(self.nodes))

    def stop(self, how=signal.SIGTERM):
        """The exit code, of nodes that ended with different ones the one that is not 0; None if no process was running."""
        running = [node for node in self.nodes if node.process.poll() is None]
        if running:
            self.up.clear()
            if how == signal.SIGTERM:
                self.keep_metrics()
            for node in running:
                node.process.send_signal(how)
        return next(iter(sorted((node.process.wait(timeout=30) for node in running), key=abs, reverse=True)), None)

    def keep_metrics(self):
        for node in self.nodes:
            try:
                self.keep(node.metrics())
            except requests.RequestException:
                pass  # One that is stalled or going has no figures.

    def counter(self, name):
        """The sum of a metric over the nodes."""
        lines = [line for node in self.nodes for line in node.metrics().splitlines()]
        return sum(float(line.split(" ")[1]) for line in lines if line.split(" ")[0] == name)

    def kill(self):
        return self.stop(signal.SIGKILL)

    def stored(self):
        """What is on the disk."""
        if self.cluster:
            return self.cluster.stored()
        return b"".join(path.read_bytes() for path in Path(self.data).rglob("*") if path.is_file())

    def call(self, method, path, json=None, key=None, url=None, **options):
        headers = {"Authorization": f"Bearer {key or self.key}", **options.pop("headers", {})}
        note_secrets(json)
        answer = requests.request(method, (url or self.url) + path, json=json, headers=headers, timeout=20, **options)
        if answer.headers.get("Content-Type", "").startswith("application/json"):
            note_secrets(answer.json())
        return answer

    def wait_for_all(self, method, path, fits, **options):
        """Repeats a request until the answers of all nodes fit. Another node may see a write up to a second later."""
        for node in self.nodes:
            cluster.wait_for(lambda: fits(self.call(method, path, url=node.url, **options)), f"{method} {path} on {node.url}")

    def emit(self, channel, data, type="order.paid", **fields):
        answer = self.call("POST", f"/v1/channels/{channel}/events", {"type": type, "data": data, **fields})
        assert answer.status_code == 201, answer.text
        return answer.json()


@pytest.fixture(autouse=True)
def databases_are_dropped():
    """Ends the clusters of a test whose nodes have ended."""
    yield
    for gateway in [one for one in GATEWAYS if not one.is_running]:
        GATEWAYS.remove(gateway)
        if gateway.cluster:
            gateway.cluster.close()


@pytest.fixture
def gateway(tmp_path):
    gateway = Gateway(tmp_path / "data").start()
    yield gateway
    assert gateway.stop() in (0, None), "a stop by SIGTERM ends with 0"


class Receiver:
    """A webhook consumer that keeps what it got."""

    def __init__(self):
        self.requests = Queue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.put((dict(self.headers.items()), body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request, address):
                # A gateway that was killed leaves its connections behind, which is no news.
                if not isinstance(sys.exception(), ConnectionError):
                    super().handle_error(request, address)

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture(scope="session")
def chromium():
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    driver.set_page_load_timeout(30)
    driver.set_script_timeout(30)
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium):
    """The browser on an empty page. The page of an earlier test would go on to connect to that test's gateway, and its
    errors would be in this test's log."""
    chromium.get("about:blank")
    chromium.get_log("browser")
    return chromium


@pytest.fixture
def shape(browser):
    """The browser's window and colours, as they were afterwards."""

    def set(width, scheme):
        colours = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [colours]})
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500})

    # axe writes into the page's document to measure colours, which the pages' policy would forbid it.
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    yield set
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

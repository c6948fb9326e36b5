"""A real gateway for real clients: one process per fixture, on a free port, in a temporary directory."""

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

BINARY = os.environ["PARLEY_BINARY"]

# What every gateway of the run has logged, with its last figures; and the secrets that went over the wire meanwhile.
# The last test looks for these in those (test_zz_nothing_leaks.py).
KEPT = Path(tempfile.mkdtemp(prefix="parley-kept-"))
SECRETS = set()
SECRET_NAMES = {"key", "secret", "secrets", "admin_key", "secret_key", "ticket", "token", "verify_token"}
NUMBERS = itertools.count(1)


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


class Gateway:
    """A running `parley serve`; can be killed and started again on the same data and port."""

    def __init__(self, data, dev=True, key="dev", options=()):
        self.data = str(data)
        self.mode = (["--dev"] if dev else []) + list(options)
        self.key = key
        self.address = "127.0.0.1:0"
        self.process = None
        self.up = threading.Event()
        self.log = []
        self.logged = threading.Condition()
        self.kept = KEPT / f"{next(NUMBERS)}.log"
        self.environment = {}

    def start(self):
        self.process = subprocess.Popen(
            [BINARY, "serve", *self.mode, "--listen", self.address, "--data", self.data],
            stderr=subprocess.PIPE, text=True, env={**os.environ, **self.environment})
        self.log = []
        for line in self.process.stderr:
            self.keep(line)
            self.log.append(line)
            if match := re.search(r"listening on (http://(\S+:\d+))", line):
                self.url, self.address = match.groups()
                break
        else:
            raise AssertionError("the gateway did not start:\n" + "".join(self.log))
        # Somebody has to read the pipe, or the gateway would wait for room in it.
        threading.Thread(target=self.follow, args=[self.process.stderr], daemon=True).start()
        self.up.set()
        return self

    def keep(self, text):
        with self.kept.open("a") as file:
            file.write(text)

    def follow(self, log):
        for line in log:
            self.keep(line)
            with self.logged:
                self.log.append(line)
                self.logged.notify_all()

    def wait_for_log(self, text, after=0):
        """The first line behind the one numbered `after` that has the text."""
        def found():
            return next((line for line in self.log[after:] if text in line), None)

        with self.logged:
            assert self.logged.wait_for(found, timeout=20), "".join(self.log)
            return found()

    def reload(self, answer="settings reloaded"):
        """Sends SIGHUP; the line that says what came of it."""
        seen = len(self.log)
        self.process.send_signal(signal.SIGHUP)
        return self.wait_for_log(answer, seen)

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.up.clear()
            if how == signal.SIGTERM:
                self.keep_metrics()
            self.process.send_signal(how)
            return self.process.wait(timeout=30)
        return None

    def keep_metrics(self):
        try:
            self.keep(requests.get(self.url + "/metrics", timeout=20).text)
        except requests.RequestException:
            pass  # One that is stalled or going has no figures.

    def kill(self):
        return self.stop(signal.SIGKILL)

    def call(self, method, path, json=None, key=None, **options):
        headers = {"Authorization": f"Bearer {key or self.key}", **options.pop("headers", {})}
        note_secrets(json)
        answer = requests.request(method, self.url + path, json=json, headers=headers, timeout=20, **options)
        if answer.headers.get("Content-Type", "").startswith("application/json"):
            note_secrets(answer.json())
        return answer

    def emit(self, channel, data, type="order.paid", **fields):
        answer = self.call("POST", f"/v1/channels/{channel}/events", {"type": type, "data": data, **fields})
        assert answer.status_code == 201, answer.text
        return answer.json()


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

"""The guide to browsers: its lines, its page and its scripts work as they stand."""

import json
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

GUIDE = (Path(__file__).parents[2] / "docs/browsers.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.S)


@pytest.fixture
def site(gateway):
    """A site whose page is the guide's, and whose server knows the key."""
    page = blocks("html")[0].replace("http://127.0.0.1:8080", gateway.url).encode()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self):
            self.answer(page)

        def do_POST(self):
            wish = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            ticket = {"channels": ["orders.*"]} | {name: wish[name] for name in wish if name == "cursor"}
            made = gateway.call("POST", "/v1/stream-tickets", ticket)
            self.answer(made.json()["ticket"].encode())

        def answer(self, body):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_every_line_works(gateway, tmp_path):
    script = "\n".join(blocks("sh")).replace("http://127.0.0.1:8080", gateway.url).replace("\n", "\necho\n")
    done = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 0, done
    ticket, signed_in, again, said = [json.loads(line) for line in done.stdout.splitlines() if line]
    assert ticket["ticket"] and said["type"] == "message.created"
    assert signed_in["credential"] == again["credential"]


def test_the_page_is_live(gateway, browser, site):
    browser.get(site)
    wait = WebDriverWait(browser, 20)
    wait.until(lambda page: page.find_element(By.ID, "state").text == "live")
    gateway.emit("orders.eu", {"amount": 7})
    item = wait.until(lambda page: page.find_element(By.CSS_SELECTOR, "#events li"))
    assert item.text == 'orders.eu: {"amount":7}'


def test_the_scripts_run(gateway, browser):
    library, renewing, source = blocks("js")
    browser.get(gateway.url + "/livez")
    # Parsed alone: it asks for an app's own sign-in.
    browser.execute_script("new Function('Parley', arguments[0])", renewing)
    begun = """
        const [code, done] = arguments;
        fetch("/v1/session", { method: "POST", body: '{"key":"dev"}' }).then(() => import("/parley.js"))
          .then(({ Parley }) => eval(code)).then(() => done(null), error => done(String(error)));"""
    assert browser.execute_async_script(begun, library) is None
    ticket = gateway.call("POST", "/v1/stream-tickets", {"channels": ["orders"]}).json()["ticket"]
    opened = """
        const [code, ticket, done] = arguments;
        const said = [], console = { log: value => said.push(value) };
        const begun = eval(code + "source");
        begun.addEventListener("stream.ready", () => done(null));
        window.said = said;"""
    script = source.replace("http://127.0.0.1:8080", gateway.url).replace("const source = ", "var source = ")
    assert browser.execute_async_script(opened, script, ticket) is None
    gateway.emit("orders", {"amount": 1})
    WebDriverWait(browser, 20).until(lambda page: page.execute_script("return said.length === 1"))

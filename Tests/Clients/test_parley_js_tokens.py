"""parley.js with tokens that end soon, in Node: there it has no Web Locks, and holds a stream of its own."""

import json
import subprocess
import threading

import pytest

SCRIPT = """
import { Parley } from "./parley.js";
const [url, kind] = process.argv.slice(2);
const say = (name, value) => console.log(JSON.stringify([name, value]));
const fetchToken = async () => {
  const answer = await fetch(url + "/v1/tokens", {
    method: "POST",
    headers: { authorization: "Bearer dev" },
    body: JSON.stringify({ user: "ana", channels: ["orders"], expires_in_seconds: 1 }),
  });
  const { token } = await answer.json();
  say("token", token);
  return token;
};
const parley = new Parley({ url, user: "ana", token: kind === "fixed" ? await fetchToken() : fetchToken });
parley.on("order.*", (event) => say("event", event.data));
parley.addEventListener("gap", ({ detail }) => say("gap", detail));
parley.addEventListener("state", ({ detail }) => say("state", [detail.state, detail.reason]));
"""


class Page:
    """A program that follows the gateway by parley.js, and says what it hears."""

    def __init__(self, gateway, folder, kind):
        (folder / "package.json").write_text('{"type":"module"}')
        for name in ("parley.js", "parley-hub.js"):
            (folder / name).write_bytes(gateway.call("GET", "/" + name).content)
        (folder / "page.js").write_text(SCRIPT)
        self.process = subprocess.Popen(
            ["node", "page.js", gateway.url, kind], cwd=folder, stdout=subprocess.PIPE, text=True)
        self.said, self.changed = [], threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.said.append(json.loads(line))
                self.changed.notify_all()

    def all(self, name):
        return [value for kind, value in list(self.said) if kind == name]

    def wait(self, is_there):
        with self.changed:
            assert self.changed.wait_for(is_there, timeout=25), self.said[-20:]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def page(gateway, tmp_path):
    pages = []

    def open_page(kind):
        pages.append(Page(gateway, tmp_path, kind))
        pages[-1].wait(lambda: ["live", None] in pages[-1].all("state"))
        return pages[-1]

    yield open_page
    for each in pages:
        each.close()


def test_a_token_that_ends_is_fetched_again_without_losing_an_event(gateway, page):
    follower = page("function")
    sent = 0
    while len(follower.all("token")) < 4:
        gateway.emit("orders", sent)
        sent += 1
    follower.wait(lambda: len(follower.all("event")) >= sent)
    assert follower.all("event") == list(range(sent))
    assert follower.all("gap") == []
    assert ["waiting", "unauthorized"] in follower.all("state")
    assert len(set(follower.all("token"))) == len(follower.all("token"))


def test_a_token_that_cannot_be_fetched_again_closes_it(page):
    follower = page("fixed")
    follower.wait(lambda: follower.all("state")[-1][0] == "closed")
    assert "unauthorized" in follower.all("state")[-1][1]

"""parley.js in a real browser: tabs share one stream, and lose and repeat nothing, whatever goes away meanwhile."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from selenium.webdriver.support.ui import WebDriverWait

BEGIN = """
const [library, options, setup, done] = arguments;
(async () => {
  if (setup) await eval(setup);
  const { Parley } = await import(library);
  const given = typeof options === "string" ? eval(`(${options})`) : options;
  window.heard = []; window.states = [];
  window.chat = new Parley(given);
  chat.on("*", event => heard.push(event.data));
  chat.addEventListener("state", ({ detail }) => {
    states.push(detail.state);
    if (detail.state === "live") done(null);
    if (detail.state === "closed") done(detail.reason);
  });
})().catch(error => done(String(error)));
"""
SIGN_IN = """fetch("/v1/session", { method: "POST", body: JSON.stringify({ key: "dev" }) })"""
NO_WORKER = SIGN_IN + ".then(() => { delete globalThis.SharedWorker; })"


class Tabs:
    """Tabs of one browser, each with a page that follows the gateway."""

    def __init__(self, browser, gateway):
        self.browser, self.gateway = browser, gateway
        self.first = browser.current_window_handle
        self.page = gateway.url + "/livez"
        self.opened = []

    def open(self, options=None, setup=SIGN_IN, library="/parley.js"):
        self.browser.switch_to.new_window("tab")
        self.browser.get(self.page)
        self.opened.append(self.browser.current_window_handle)
        assert self.browser.execute_async_script(BEGIN, library, options or {}, setup) is None
        return self.opened[-1]

    def run(self, tab, script, *arguments):
        self.browser.switch_to.window(tab)
        return self.browser.execute_script(script, *arguments)

    def wait(self, tab, script, *arguments):
        self.browser.switch_to.window(tab)
        return WebDriverWait(self.browser, 25, 0.05).until(lambda page: page.execute_script(script, *arguments))

    def heard(self, tab, count):
        self.wait(tab, "return heard.length >= arguments[0]", count)
        return self.run(tab, "return heard")

    def close(self, tab):
        self.browser.switch_to.window(tab)
        self.browser.close()
        self.opened.remove(tab)
        self.browser.switch_to.window(self.opened[-1] if self.opened else self.first)

    def streams(self):
        return self.gateway.call("GET", "/v1/streams").json()["data"]

    def wait_streams(self, fits):
        return WebDriverWait(None, 25, 0.05).until(lambda _: fits(self.streams()))


@pytest.fixture
def tabs(gateway, browser):
    tabs = Tabs(browser, gateway)
    yield tabs
    for tab in list(tabs.opened):
        tabs.close(tab)


@pytest.mark.parametrize("setup", [SIGN_IN, NO_WORKER], ids=["a shared worker", "a tab with a lock"])
def test_two_tabs_share_one_stream_and_each_hears_what_it_wants(tabs, setup):
    orders = tabs.open({"channels": ["orders.*"]}, setup)
    both = tabs.open({"channels": ["orders.eu", "news"], "types": ["order.*", "said"]}, setup)
    wanted = {"news", "orders.*"}
    tabs.wait_streams(lambda streams: len(streams) == 1 and set(streams[0]["channels"]) == wanted)
    tabs.gateway.emit("orders.eu", 1)
    tabs.gateway.emit("orders.us", 2)
    tabs.gateway.emit("news", 3, type="said")
    tabs.gateway.emit("elsewhere", 4)
    tabs.gateway.emit("orders.eu", 5, type="other")
    tabs.gateway.emit("orders.eu", 6)
    assert tabs.heard(orders, 4) == [1, 2, 5, 6]
    assert tabs.heard(both, 3) == [1, 3, 6]
    assert len(tabs.streams()) == 1

    tabs.run(both, "chat.follow({ channels: ['late'] })")
    tabs.wait_streams(lambda streams: [set(stream["channels"]) for stream in streams] == [{"late", "orders.*"}])
    tabs.gateway.emit("late", 7)
    assert tabs.heard(both, 4) == [1, 3, 6, 7]

    tabs.close(orders)
    tabs.wait_streams(lambda streams: [stream["channels"] for stream in streams] == [["late"]])
    tabs.run(both, "chat.close()")
    tabs.wait_streams(lambda streams: not streams)


@pytest.mark.parametrize("setup", [SIGN_IN, NO_WORKER], ids=["a shared worker", "a tab with a lock"])
def test_a_gateway_that_was_killed_costs_no_event(tabs, setup):
    options = {"channels": ["orders"]}
    opened = [tabs.open(options, setup), tabs.open(options, setup)]
    for number in range(3):
        tabs.gateway.emit("orders", number)
    for tab in opened:
        tabs.heard(tab, 3)
    for turn in (1, 2):
        tabs.gateway.kill()
        tabs.wait(opened[0], "return chat.state === 'waiting'")
        tabs.gateway.start()
        # Before anybody is back.
        for number in range(3):
            tabs.gateway.emit("orders", turn * 3 + number)
        for tab in opened:
            assert tabs.heard(tab, turn * 3 + 3) == list(range(turn * 3 + 3))
    tabs.wait_streams(lambda streams: len(streams) == 1)


def test_when_the_tab_with_the_stream_goes_another_takes_it_up(tabs):
    options = {"channels": ["orders"]}
    holder, other, third = (tabs.open(options, NO_WORKER) for _ in range(3))
    tabs.gateway.emit("orders", 1)
    for tab in (holder, other, third):
        assert tabs.heard(tab, 1) == [1]
    first = tabs.streams()[0]["id"]
    tabs.close(holder)
    tabs.gateway.emit("orders", 2)
    tabs.wait_streams(lambda streams: len(streams) == 1 and streams[0]["id"] != first)
    tabs.gateway.emit("orders", 3)
    for tab in (other, third):
        assert tabs.heard(tab, 3) == [1, 2, 3]


NO_LOCKS = SIGN_IN + ".then(() => Object.defineProperty(navigator, 'locks', { value: undefined }))"


@pytest.mark.parametrize("options, setup", [({"share": False}, SIGN_IN), ({}, NO_LOCKS)], ids=["asked", "without locks"])
def test_tabs_may_keep_to_themselves(tabs, options, setup):
    one, other = (tabs.open(options, setup) for _ in range(2))
    assert len(tabs.streams()) == 2
    tabs.gateway.emit("orders", 1)
    assert tabs.heard(one, 1) == tabs.heard(other, 1) == [1]
    tabs.run(one, "chat.close()")
    tabs.wait_streams(lambda streams: len(streams) == 1)


def test_a_page_begins_where_it_was(tabs):
    first = tabs.gateway.emit("orders", 1)
    tabs.gateway.emit("orders", 2)
    tab = tabs.open({"channels": ["orders"], "cursor": first["timetoken"]})
    assert tabs.heard(tab, 1) == [2]
    # One that comes later and further back gets its own, and the first nothing twice.
    other = tabs.open({"channels": ["orders"], "cursor": str(int(first["timetoken"]) - 1)})
    assert tabs.heard(other, 2) == [1, 2]
    tabs.gateway.emit("orders", 3)
    assert tabs.heard(other, 3) == [1, 2, 3]
    assert tabs.heard(tab, 2) == [2, 3]
    assert len(tabs.streams()) == 1


def test_what_the_gateway_refuses_is_said_and_not_asked_again(tabs):
    tabs.browser.switch_to.new_window("tab")
    tabs.browser.get(tabs.page)
    tabs.opened.append(tabs.browser.current_window_handle)
    reason = tabs.browser.execute_async_script(BEGIN, "/parley.js", {"filter": "data.amount >"}, SIGN_IN)
    assert "column" in reason
    assert tabs.run(tabs.opened[0], "return states") == ["closed"]


TOKENS = """{ channels: ["orders"], share: "%s", token: async () => {
  window.asked = (window.asked ?? 0) + 1;
  return window.keys.shift() ?? "none";
} }"""


@pytest.mark.parametrize("setup", ["", "delete globalThis.SharedWorker;"], ids=["a shared worker", "a tab with a lock"])
def test_a_token_that_holds_no_more_is_fetched_again(tabs, setup):
    made = tabs.gateway.call("POST", "/v1/keys", {"scopes": ["read"]}).json()
    keys = f"window.keys = ['wrong', '{made['key']}', 'dev', 'dev', 'dev'];"
    tab = tabs.open(TOKENS % setup, setup + keys)
    assert tabs.run(tab, "return [asked, states[0], states.at(-1)]") == [2, "waiting", "live"]
    tabs.gateway.emit("orders", 1)
    assert tabs.heard(tab, 1) == [1]
    tabs.gateway.call("DELETE", f"/v1/keys/{made['id']}")
    tabs.wait(tab, "return asked === 3 && chat.state === 'live'")
    tabs.gateway.emit("orders", 2)
    assert tabs.heard(tab, 2) == [1, 2]
    # It goes on with another selection by the token, without another stream.
    stream = tabs.streams()[0]["id"]
    tabs.run(tab, "chat.follow({ channels: ['orders', 'news'] })")
    tabs.wait_streams(lambda streams: len(streams[0]["channels"]) == 2 and streams[0]["id"] == stream)


@pytest.fixture
def site(gateway):
    """Another site, which knows the key and gives its visitors tickets."""

    class Site(BaseHTTPRequestHandler):
        asked = []

        def do_GET(self):
            self.answer("text/html", b"<!doctype html><title>Shop</title>")

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            Site.asked.append(body)
            made = gateway.call("POST", "/v1/stream-tickets", headers={"Content-Type": "application/json"}, data=body)
            self.answer("application/json", made.content)

        def answer(self, kind, body):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", Site.asked
    server.shutdown()
    server.server_close()


TICKETS = """{ channels: %s, ticket: async wish => {
  const body = { cursor: wish.cursor, ...(wish.channels.length ? { channels: wish.channels } : {}) };
  const answer = await fetch("/ticket", { method: "POST", body: JSON.stringify(body) });
  return (await answer.json()).ticket;
} }"""


def test_pages_of_another_site_share_a_stream_by_tickets(tabs, site):
    tabs.page, asked = site
    library = tabs.gateway.url + "/parley.js"
    one = tabs.open(TICKETS % '["orders"]', None, library)
    assert len(asked) == 1
    two = tabs.open(TICKETS % '["news"]', None, library)
    tabs.wait_streams(lambda streams: len(streams) == 1 and set(streams[0]["channels"]) == {"news", "orders"})
    assert len(asked) == 2
    tabs.gateway.emit("orders", 1)
    tabs.gateway.emit("news", 2)
    assert tabs.heard(one, 1) == [1] and tabs.heard(two, 1) == [2]

    tabs.gateway.kill()
    tabs.wait(one, "return chat.state === 'waiting'")
    tabs.gateway.start()
    tabs.gateway.emit("orders", 3)
    tabs.gateway.emit("news", 4)
    assert tabs.heard(one, 2) == [1, 3] and tabs.heard(two, 2) == [2, 4]
    # The same ticket has taken its stream up again.
    assert len(asked) == 2

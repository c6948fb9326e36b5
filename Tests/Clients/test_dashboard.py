"""The dashboard as a person uses it: every page, what hangs together on them, what anybody can see and reach."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pages import LOOKS, Pages, complaints, shoot
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

SCHEMA = {
    "type": "object", "required": ["amount", "currency"],
    "properties": {"amount": {"type": "integer", "minimum": 1}, "currency": {"enum": ["EUR", "USD"]}}}


class Moody:
    """A receiver of webhooks that refuses until it is told otherwise."""

    def __init__(self):
        self.status, self.bodies = 500, []
        moody = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                moody.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(moody.status)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def moody():
    moody = Moody()
    yield moody
    moody.server.shutdown()
    moody.server.server_close()


@pytest.fixture
def pages(gateway, browser):
    pages = Pages(browser, gateway)
    yield pages
    assert pages.complaints() == []


def furnish(gateway, url):
    """Something on every page."""
    gateway.call("PUT", "/v1/users/ana", {"name": "Ana Lee", "custom": {"floor": 3}})
    gateway.call("PUT", "/v1/channels/crew", {"kind": "group", "by": "ana", "name": "The crew"})
    gateway.call("PUT", "/v1/channels/crew/presence/ana", {"state": {"mood": "fine"}})
    gateway.call("PUT", "/v1/event-types/order.paid", {"description": "An order was paid", "owner": "payments"})
    gateway.call("POST", "/v1/event-types/order.paid/versions", {
        "schema": SCHEMA, "examples": [{"amount": 4200, "currency": "EUR"}]})
    hook = gateway.call("POST", "/v1/webhooks", {
        "url": url, "types": ["order.*"], "retry": {"delays_seconds": []}}).json()["id"]
    gateway.call("PUT", "/v1/sources/shop", {
        "scheme": "none",
        "mapping": {"channel": "orders.{body/country}", "type": "order.paid", "data": {"$": "body/order"}}})
    gateway.call("POST", "/in/shop", {"country": "us", "order": {"amount": 9, "currency": "USD"}})
    gateway.call("POST", "/in/shop", {"country": "us"})
    gateway.call("POST", "/v1/channels/crew/messages", {"text": "lunch?", "user": "ana"})
    event = gateway.emit("orders.eu", {"amount": 1, "currency": "EUR"}, user="ana")
    return hook, event["id"]


def test_emit_see_it_break_a_webhook_replay_and_trace(pages, gateway, moody):
    gateway.call("PUT", "/v1/event-types/order.paid", {})
    gateway.call("POST", "/v1/event-types/order.paid/versions", {
        "schema": SCHEMA, "examples": [{"amount": 4200, "currency": "EUR"}]})

    pages.open("webhooks/new")
    pages.type("url", moody.url)
    pages.type("types", "order.*")
    pages.press("Register")
    assert pages.find("#secret").text.startswith("whsec_")
    pages.press("Done", "dialog")
    pages.titled(moody.url)
    hook = pages.browser.current_url.split("/")[-1]
    gateway.call("PATCH", f"/v1/webhooks/{hook}", {"retry": {"delays_seconds": [0]}})

    # A form made of the schema; what it would do, and what it does, in another tab than the one that watches.
    pages.open()
    pages.text("live", "#state")
    watching = pages.browser.current_window_handle
    pages.browser.switch_to.new_window("tab")
    pages.open("emit?type=order.paid")
    amount = pages.find("#emit-form input[type=number]")
    assert amount.get_attribute("value") == "4200"
    amount.clear()
    amount.send_keys("0")
    pages.press("Test without emitting")
    pages.text("rejected")
    pages.text("#/amount")
    amount.clear()
    amount.send_keys("7")
    pages.press("Emit")
    pages.text("Accepted as")
    event = pages.find("#emit-form p a").text
    pages.browser.close()
    pages.browser.switch_to.window(watching)
    pages.text("order.paid", "#events")
    pages.text('{"amount":7,"currency":"EUR"}', "#events")

    pages.open(f"webhooks/{hook}")
    def is_dead(_):
        pages.press("Reload")
        return "dead" in pages.find("main .split").text
    pages.wait.until(is_dead)
    assert len(moody.bodies) == 2

    pages.open("webhooks")
    pages.text("500", "main td code")
    moody.status = 200
    pages.open(f"webhooks/{hook}")
    Select(pages.find("#replay select")).select_by_value("dead")
    pages.press("Count the deliveries")
    pages.text("Deliveries to send: 1.")
    pages.press("Replay")
    pages.wait.until(lambda _: len(moody.bodies) == 3)
    assert moody.bodies[2]["id"] == event
    pages.text("Done\n1 of 1", "[aria-labelledby=replay-title]")

    def is_counted(_):
        pages.press("Reload")
        return "1 delivered" in pages.find(".cards").text
    pages.wait.until(is_counted)
    assert "1 of 1" in pages.find("[aria-labelledby=replay-title]").text, "what came of it stays"

    def is_told(_):
        pages.open(f"events/{event}")
        return "delivered" in pages.find("#receivers").text
    pages.wait.until(is_told)
    pages.text("Accepted by version 1 of order.paid.")
    pages.text("the type matches 'order.*'", "#receivers")
    assert len(pages.browser.find_elements(By.CSS_SELECTOR, "main .badge.bad")) == 2, "the two attempts that failed"


def test_the_live_page_pauses_filters_and_finds(pages, gateway):
    pages.open()
    pages.text("live", "#state")
    for number in range(3):
        gateway.emit("orders.eu", {"number": number})
    pages.wait.until(lambda page: len(page.find_elements(By.CSS_SELECTOR, "#events > li")) == 3)
    pages.press("Pause")
    gateway.emit("orders.eu", {"number": 3})
    pages.text("1 waiting", "#count")
    assert len(pages.browser.find_elements(By.CSS_SELECTOR, "#events > li")) == 3
    pages.press("Continue")
    pages.wait.until(lambda page: len(page.find_elements(By.CSS_SELECTOR, "#events > li")) == 4)
    pages.type("needle", '"number":2')
    pages.wait.until(lambda page: [each.text for each in page.find_elements(By.CSS_SELECTOR, "#events > li")
                                   if each.is_displayed()].__len__() == 1)
    pages.type("needle", Keys.BACKSPACE)
    pages.press("Clear")
    pages.type("channels", "news")
    pages.type("filter", "data.loud == true")
    pages.press("Watch")
    def followed():
        return [stream["channels"] for stream in gateway.call("GET", "/v1/streams").json()["data"]]
    pages.wait.until(lambda _: followed() == [["news"]])
    gateway.emit("orders.eu", {"loud": True})
    gateway.emit("news", {"loud": False})
    gateway.emit("news", {"loud": True, "text": "read all about it"})
    pages.text("read all about it", "#events")
    assert len(pages.browser.find_elements(By.CSS_SELECTOR, "#events > li")) == 1
    pages.find("#events summary").click()
    pages.text('"loud": true', "#events")
    pages.type("filter", " >")
    pages.press("Watch")
    pages.text("column")
    pages.browser.get_log("browser")  # the refusal


def test_what_others_wrote_is_text(pages, gateway):
    evil = "<img src=x onerror=\"document.title='caught'\">"
    pages.open()
    pages.text("live", "#state")
    gateway.call("POST", "/v1/channels/crew/messages", {"text": evil, "user": evil})
    pages.text(evil, "#events")
    gateway.call("PUT", "/v1/users/ana", {"name": evil, "custom": {evil: evil}})
    gateway.call("PUT", "/v1/channels/crew", {"kind": "public", "name": evil})
    for hash in ("users", "users/ana", "channels", "channels/crew"):
        pages.open(hash)
        pages.text("onerror")
        assert pages.browser.title != "caught"
        assert not pages.browser.find_elements(By.CSS_SELECTOR, "main img")


def test_signing_in_and_out(gateway, browser):
    pages = Pages(browser, gateway)
    pages.open()
    pages.find("#sign-out").click()
    pages.titled("Sign in")
    pages.type("key", "wrong")
    pages.press("Sign in")
    pages.text("unknown or has expired")
    pages.type("key", "dev")
    pages.press("Sign in")
    pages.titled("Live")
    assert browser.execute_script("return document.cookie + JSON.stringify({ ...localStorage })").find("dev") == -1

    # A key that goes takes its session with it.
    made = gateway.call("POST", "/v1/keys", {"scopes": ["read"]}).json()
    pages.find("#sign-out").click()
    pages.titled("Sign in")
    pages.type("key", made["key"])
    pages.press("Sign in")
    pages.titled("Live")
    pages.follow("Keys")
    pages.text("lacks the scope 'admin'")
    gateway.call("DELETE", f"/v1/keys/{made['id']}")
    pages.follow("Streams")
    pages.titled("Sign in")
    browser.get_log("browser")  # the refusals above


def test_a_restart_ends_no_session(pages, gateway):
    pages.open()
    pages.text("live", "#state")
    gateway.stop()
    gateway.start()
    gateway.emit("orders.eu", {"after": "the restart"})
    pages.text("the restart", "#events")
    pages.browser.get_log("browser")  # that it was away


def test_what_is_not_known_after_a_restart_is_not_made_up(pages, gateway, moody):
    moody.status = 200
    hook, _ = furnish(gateway, moody.url)
    gateway.call("POST", "/in/shop", {"country": "fr", "order": {"amount": 9, "currency": "USD"}})
    event = gateway.call("GET", "/v1/channels/orders.fr/events").json()["data"][0]["id"]
    pages.open(f"events/{event}")
    pages.text("User\nnone")
    pages.text("The gateway does not record which streams received this event")

    def last_success(_):
        pages.open(f"webhooks/{hook}")
        return pages.find(".cards .facts dd").text.replace("–", "")
    before = pages.wait.until(last_success)
    gateway.stop()
    gateway.start()
    assert last_success(None) == before
    pages.text("Attempts since the gateway's last start")
    pages.open(f"events/{event}")
    pages.text("User\nnone")


def test_an_event_leads_to_the_source_it_came_by(pages, gateway):
    event = gateway.emit("orders.eu", {"amount": 1})["id"]
    pages.open(f"events/{event}")
    pages.text("Received from\nno source is recorded")
    pages.open()
    pages.browser.execute_script("""
        const [event] = arguments, real = fetch;
        const origin = { kind: "source", source: "shop", request: "req_7" };
        globalThis.fetch = async (path, options) => path.endsWith("/explain")
          ? Response.json({ ...await (await real(path, options)).json(), origin })
          : real(path, options);
        location.hash = "#/events/" + event;""", event)
    pages.text("Received from\nthe source shop, request req_7")
    assert pages.find("main .facts a[href='#/sources/shop']").text == "shop"


def test_receivers_are_shown_by_their_addresses(pages, gateway, moody):
    hook, event = furnish(gateway, moody.url)
    address = moody.url.removeprefix("http://")
    for page in ("deliveries", f"events/{event}", "webhooks"):
        pages.open(page)
        pages.text(address)
    pages.open("deliveries")
    shown = pages.find(f"main a[href='#/webhooks/{hook}']").text
    assert shown.split("\n") == [address, hook]


def test_what_cannot_be_shown_says_why(pages, gateway):
    event = gateway.emit("orders.eu", {"amount": 1})["id"]
    pages.open("channels/%E0%A4%A")
    pages.titled("Not found")
    pages.text("There is no such page.")
    pages.without_record.append("/v1/channels/orders.eu")
    pages.open("channels/orders.eu")
    pages.text("This channel has no record")
    pages.text("amount", "#events")
    narrow = gateway.call("POST", "/v1/keys", {"scopes": ["emit"]}).json()
    pages.find("#sign-out").click()
    pages.titled("Sign in")
    pages.type("key", narrow["key"])
    pages.press("Sign in")
    pages.wait.until(lambda _: pages.find("#sign-out").is_displayed())
    pages.open(f"events/{event}")
    pages.titled("Event")
    pages.text("lacks the scope 'read'")
    pages.browser.get_log("browser")  # the refusals


def test_a_chart_leaves_gaps_where_nothing_was_measured(pages):
    pages.open()
    line = pages.browser.execute_async_script("""
        const [done] = arguments;
        import("/dashboard/chart.js").then(({ chart }) => {
          const { element, add } = chart("Delay", String, { steps: 10 });
          for (const value of [null, 4, 8, null, null, 2]) add(value);
          done(element.querySelector("path:not(.area)").getAttribute("d"));
        });""")
    assert line == "M5 10.50L6 1.00h0M9 15.25h0"


def test_types_and_keys_are_made_and_a_schema_is_checked_before_it_is_added(pages, gateway):
    pages.open("types/new")
    pages.type("type", "order.paid")
    pages.type("description", "An order was paid")
    pages.press("Declare")
    pages.titled("order.paid")
    area = pages.find("#propose textarea")
    pages.browser.execute_script("arguments[0].value = arguments[1]", area, json.dumps(SCHEMA))
    pages.press("Add this version")
    pages.text("Version 1")
    narrower = json.dumps({**SCHEMA, "required": ["amount", "currency", "shop"]})
    area = pages.find("#propose textarea")
    pages.browser.execute_script("arguments[0].value = arguments[1]", area, narrower)
    pages.press("Check compatibility")
    pages.text("would not be backward compatible")
    pages.type("force", "all shops send it")
    pages.press("Check compatibility")
    pages.text("The new version would have the number 2.")
    assert gateway.call("GET", "/v1/event-types/order.paid").json()["latest_version"] == 1
    pages.browser.get_log("browser")  # the refusal

    pages.open("keys")
    pages.type("name", "reader")
    pages.press("Create")
    key = pages.find("#secret").text
    assert "receiver" not in pages.find("dialog").text, "keys are for clients"
    pages.press("Done", "dialog")
    pages.text("reader")
    assert gateway.call("GET", "/v1/streams", key=key).status_code == 200
    pages.wait.until(lambda _: pages.find("[name=demand_tokens]")).click()
    pages.press("Save")
    pages.text("Saved.", "#notices")
    assert gateway.call("GET", "/v1/apps/demo").json()["demand_tokens"] is True


def test_a_source_is_tried_out(pages, gateway, moody):
    furnish(gateway, moody.url)
    pages.open("sources/shop")
    pages.text("rejected")
    pages.press("Show")
    pages.text("has no value")
    body = pages.find("#try [name=body]")
    body.clear()
    body.send_keys('{"country": "fr", "order": {"amount": 5, "currency": "EUR"}}')
    pages.press("Test")
    pages.text("orders.fr")
    assert gateway.call("GET", "/v1/channels/orders.fr/events").json()["data"] == []


PAGES = [
    "", "channels", "channels/crew", "users", "users/ana", "emit?type=order.paid", "types", "types/order.paid",
    "types/new", "sources", "sources/shop", "sources/new", "webhooks", "webhooks/HOOK", "webhooks/new", "deliveries",
    "events/EVENT", "streams", "keys", "activity"]


@pytest.mark.parametrize("width, scheme", LOOKS)
def test_every_page_can_be_read_by_everybody(pages, gateway, moody, shape, width, scheme):
    shape(width, scheme)
    pages.without_record.append("/v1/event-types/order.paid/candidate")
    hook, event = furnish(gateway, moody.url)
    found = {}
    for page in PAGES:
        hash = page.replace("HOOK", hook).replace("EVENT", event)
        pages.open(hash)
        name = f"dashboard-{page.split('?')[0].replace('/', '-').lower() or 'live'}-{width}-{scheme}"
        shoot(pages.browser, name)
        assert not pages.browser.find_elements(By.CSS_SELECTOR, "main > .fault"), f"{page} could not be shown"
        if not page.startswith("events/"):
            current = pages.find("#menu [aria-current]").rect
            assert 0 <= current["x"] and current["x"] + current["width"] <= width, f"{page} is marked out of sight"
        pages.browser.execute_script("document.querySelectorAll('main details').forEach(each => { each.open = true; })")
        found[name] = complaints(pages.browser) + pages.complaints()
    assert {name: each for name, each in found.items() if each} == {}


def test_pages_are_reached_by_the_keyboard(pages):
    pages.open()
    first = "const first = document.querySelector('a[href], button, input, [tabindex]'); first.focus();"
    assert pages.browser.execute_script(first + "return first.textContent") == "Skip to content"
    names = []
    for _ in range(16):
        names.append(pages.browser.switch_to.active_element.text)
        pages.browser.switch_to.active_element.send_keys(Keys.TAB)
    some = ["Live", "Channels", "Webhooks", "Keys"]
    assert [name for name in names if name in some] == some
    link = next(each for each in pages.browser.find_elements(By.CSS_SELECTOR, "#menu a") if each.text == "Streams")
    link.send_keys(Keys.ENTER)
    pages.titled("Streams")
    assert pages.browser.switch_to.active_element.text == "Streams", "the heading has the focus"
    assert pages.find("#menu [aria-current]").text == "Streams"


def test_nothing_is_fetched_from_elsewhere(gateway, browser):
    pages = Pages(browser, gateway)
    for page in ("/", "/docs"):
        browser.get(gateway.url + page)
        pages.wait.until(lambda page: page.find_elements(By.CSS_SELECTOR, "main h1"))
        names = browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
        assert names and all(name.startswith(gateway.url) for name in names)


def test_the_next_attempt_is_never_one_that_will_not_be_made(gateway, browser):
    browser.get(gateway.url + "/livez")
    shown = browser.execute_async_script("""
        const done = arguments[0];
        import("/dashboard/receivers.js").then(({ nextAttempt }) => {
          const due = { subscriber: "wh_1", next_attempt_at: "2026-01-01T10:00:00Z", reason: null };
          const text = (node) => node.textContent ?? node;
          done([
            text(nextAttempt({ ...due, subscriber: "sub_1" })),
            text(nextAttempt(due, "2026-01-01T10:04:00Z")),
            text(nextAttempt(due, "2026-01-01T09:00:00Z")),
            text(nextAttempt(due, null)),
            nextAttempt({ ...due, next_attempt_at: null, reason: "gone" }),
          ]);
        }).catch(error => done(String(error)));""")
    assert shown[0] == "waits to be pulled"
    assert shown[1].startswith("after ") and ":04:00" in shown[1] and "paused" in shown[1]
    assert "paused" not in shown[2] + shown[3] and ":00:00" in shown[3]
    assert shown[4] == "gone"

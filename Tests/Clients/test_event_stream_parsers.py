"""What a browser and two Python libraries read from the same stream is the same."""

import json

import httpx
import requests
from httpx_sse import connect_sse
from sseclient import SSEClient

CHANNEL = "parsers"
DATA = [
    '{"text":"plain"}',
    '{"text":"unicode é 😀 \\u2028 \\u0000"}',
    '{\n  "on": "several",\r\n  "lines": ["\\r\\n", ""]\r}',
    '"a bare string with \\"quotes\\" and id: evil"',
    '[ ]',
    "1.50e2",
]

COLLECT = """
const [ticket, count, done] = arguments;
const seen = [], names = ["a.b", "message", "stream.ready"];
const source = new EventSource("/v1/stream?ticket=" + encodeURIComponent(ticket));
for (const name of names) source.addEventListener(name, e => {
  seen.push([name, e.lastEventId, e.data]);
  if (seen.length === count) { source.close(); done(seen); }
});
"""


def emit_all(gateway):
    for data in DATA:
        body = '{"type":"a.b","data":' + data + "}"
        answer = gateway.call("POST", f"/v1/channels/{CHANNEL}/events", data=body.encode(),
                              headers={"Content-Type": "application/json"})
        assert answer.status_code == 201, answer.text


def with_httpx(gateway, count):
    seen = []
    headers = {"Authorization": "Bearer dev"}
    with httpx.Client(timeout=20) as client, connect_sse(
            client, "GET", f"{gateway.url}/v1/stream?channel={CHANNEL}&cursor=earliest", headers=headers) as source:
        for event in source.iter_sse():
            seen.append([event.event, event.id, event.data])
            if len(seen) == count:
                return seen
    return seen


def with_sseclient(gateway, count):
    seen = []
    headers = {"Authorization": "Bearer dev", "Accept": "text/event-stream"}
    answer = requests.get(f"{gateway.url}/v1/stream?channel={CHANNEL}&cursor=earliest", headers=headers,
                          stream=True, timeout=20)
    for event in SSEClient(answer).events():
        seen.append([event.event, event.id or "", event.data])
        if len(seen) == count:
            answer.close()
            break
    return seen


def with_browser(gateway, browser, count):
    ticket = gateway.call("POST", "/v1/stream-tickets", {"channels": [CHANNEL], "cursor": "earliest"}).json()["ticket"]
    browser.get(gateway.url + "/livez")
    return browser.execute_async_script(COLLECT, ticket, count)


def test_three_parsers_agree(gateway, browser):
    emit_all(gateway)
    count = len(DATA) + 1
    seen = {"httpx-sse": with_httpx(gateway, count), "sseclient-py": with_sseclient(gateway, count),
            "chromium": with_browser(gateway, browser, count)}
    for name, events in seen.items():
        assert events[0][0] == "stream.ready", name
        assert events[0][1] == json.loads(events[0][2])["cursor"], name
        assert [event[0] for event in events[1:]] == ["a.b"] * len(DATA), name
        assert [json.loads(event[2])["data"] for event in events[1:]] == [json.loads(data) for data in DATA], name
    # The ready blocks name different streams; everything after them is equal to the letter.
    assert seen["httpx-sse"][1:] == seen["sseclient-py"][1:] == seen["chromium"][1:]


def test_heartbeats_are_no_events(tmp_path):
    import os
    from conftest import Gateway

    os.environ["PARLEY_LIMITS_HEARTBEAT_SECONDS"] = "1"
    try:
        gateway = Gateway(tmp_path / "data").start()
    finally:
        del os.environ["PARLEY_LIMITS_HEARTBEAT_SECONDS"]
    raw = requests.get(f"{gateway.url}/v1/stream?channel=quiet", stream=True, timeout=20,
                       headers={"Authorization": "Bearer dev", "Accept": "text/event-stream"})
    seen = b""
    for piece in raw.iter_content(chunk_size=None):
        seen += piece
        if seen.endswith(b"\n\n:\n:\n"):
            break
    raw.close()
    assert seen.count(b"event:") == 1, "only stream.ready is an event"
    gateway.emit("quiet", {"n": 1})
    events = []
    with httpx.Client(timeout=20) as client, connect_sse(
            client, "GET", f"{gateway.url}/v1/stream?channel=quiet&cursor=earliest",
            headers={"Authorization": "Bearer dev"}) as source:
        for event in source.iter_sse():
            events.append(event.event)
            # Two heartbeats lie between these two events; neither becomes one.
            if len(events) == 2:
                import threading
                threading.Timer(2.5, lambda: gateway.emit("quiet", {"n": 2})).start()
            if len(events) == 3:
                break
    assert events == ["stream.ready", "order.paid", "order.paid"]
    assert gateway.stop() == 0

"""Input that is wrong gets a clear refusal, stores nothing, and costs little."""

import itertools
import json
import re
import resource
import socket
import time
from pathlib import Path

import pytest

ROUTE = "/v1/channels/bad/events"
JSON = {"Content-Type": "application/json"}


def emit(gateway, body):
    return gateway.call("POST", ROUTE, data=body if isinstance(body, bytes) else body.encode(), headers=JSON)


def stored(gateway):
    return gateway.call("GET", ROUTE).json()["data"]


def problem(answer, status):
    assert answer.status_code == status, (answer.status_code, answer.text)
    assert answer.headers["Content-Type"].startswith("application/problem+json")
    body = answer.json()
    assert body["status"] == status and body["detail"] and body["request_id"] == answer.headers["X-Request-Id"]
    return body


BROKEN = {
    "nothing": "",
    "cut short": '{"type":"a.b","data":{',
    "no object": "[1]",
    "text after the end": '{"type":"a.b","data":1} x',
    "duplicate member": '{"type":"a.b","data":1,"data":2}',
    "duplicate member inside the payload": '{"type":"a.b","data":{"a":1,"a":2}}',
    "lone surrogate": '{"type":"a.b","data":"\\ud800"}',
    "invalid UTF-8": b'{"type":"a.b","data":"\xff"}',
    "overlong UTF-8": b'{"type":"a.b","data":"\xc0\xa0"}',
    "byte order mark": b'\xef\xbb\xbf{"type":"a.b","data":1}',
    "raw NUL": b'{"type":"a.b","data":"\x00"}',
    "NUL in a name": '{"type":"a.b","data":{"\\u0000":1}}',
    "a number out of range": '{"type":"a.b","data":1e400}',
    "depth 10,000": '{"type":"a.b","data":' + "[" * 10_000 + "]" * 10_000 + "}",
    "depth one over the limit": '{"type":"a.b","data":' + "[" * 64 + "]" * 64 + "}",
    "no data": '{"type":"a.b"}',
    "type of the wrong kind": '{"type":1,"data":1}',
    "user of the wrong kind": '{"type":"a.b","user":{},"data":1}',
    "store of the wrong kind": '{"type":"a.b","data":1,"store":"no"}',
    "unknown member": '{"type":"a.b","data":1,"dta":1}',
    "line break in the type": '{"type":"a\\nid: evil","data":1}',
    "carriage return in the type": '{"type":"a\\rb","data":1}',
    "type too long": '{"type":"' + "a" * 65 + '","data":1}',
    "reserved type": '{"type":"presence.joined","data":1}',
    "control character in the user": '{"type":"a.b","user":"a\\u0007","data":1}',
    "user too long": '{"type":"a.b","user":"' + "u" * 93 + '","data":1}',
}


def test_broken_bodies_are_refused_and_stored_nowhere(gateway):
    for name, body in BROKEN.items():
        answer = emit(gateway, body)
        assert answer.status_code in (400, 422), (name, answer.status_code, answer.text)
        problem(answer, answer.status_code)
    assert stored(gateway) == []


def test_one_byte_over_a_limit_is_refused_and_the_limit_itself_is_not(gateway):
    def data(size):
        return '{"type":"a.b","data":"' + "x" * (size - 2) + '"}'

    def meta(size):
        return '{"type":"a.b","data":1,"meta":{"m":"' + "x" * (size - 8) + '"}}'

    assert emit(gateway, data(64 * 1024)).status_code == 201
    problem(emit(gateway, data(64 * 1024 + 1)), 413)
    assert emit(gateway, meta(8 * 1024)).status_code == 201
    problem(emit(gateway, meta(8 * 1024 + 1)), 413)
    problem(emit(gateway, data(128 * 1024)), 413)
    signal = gateway.call("POST", "/v1/channels/bad/signals", {"data": "x" * 62})
    assert signal.status_code == 202, signal.text
    problem(gateway.call("POST", "/v1/channels/bad/signals", {"data": "x" * 63}), 413)
    batch = [{"channel": "bad", "type": "a.b", "data": 1}]
    assert gateway.call("POST", "/v1/events/batch", {"mode": "each", "events": batch * 500}).status_code == 200
    problem(gateway.call("POST", "/v1/events/batch", {"mode": "each", "events": batch * 501}), 413)
    assert len(gateway.call("GET", ROUTE, params={"limit": 250}).json()["data"]) == 250
    problem(gateway.call("GET", ROUTE, params={"limit": 251}), 400)
    problem(gateway.call("GET", ROUTE, params={"limit": 0}), 400)


@pytest.mark.parametrize("channel, status", [
    ("a" * 255, 201), ("a" * 256, 400), ("a%2Cb", 400), ("a%0Ab", 400), ("a*", 400), ("%00", 400), ("a%2Fb", 201),
    ("%ff", 400), ("$system", 403), ("$other", 400),
])
def test_channel_names(gateway, channel, status):
    answer = gateway.call("POST", f"/v1/channels/{channel}/events", {"type": "a.b", "data": 1})
    assert answer.status_code == status, answer.text


def test_unknown_routes_and_methods(gateway):
    problem(gateway.call("GET", "/v1/nothing"), 404)
    refused = gateway.call("DELETE", "/v1/events")
    problem(refused, 405)
    assert "POST" in refused.headers["Allow"]
    problem(gateway.call("GET", ROUTE, key="wrong"), 401)
    assert "WWW-Authenticate" in gateway.call("GET", ROUTE, key="wrong").headers


@pytest.mark.parametrize("cursor", ["x", "-1", "1e5", "9" * 20, "", "17\r\n", "null"])
def test_bad_cursors(gateway, cursor):
    problem(gateway.call("GET", "/v1/poll", params={"channel": "bad", "cursor": cursor}), 400)


def raw(gateway, request, deadline=15):
    """What comes back for bytes as they are; the connection is read to its end or to a whole answer."""
    host, port = gateway.address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=deadline) as s:
        s.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer:
            try:
                piece = s.recv(65536)
            except (ConnectionResetError, TimeoutError):
                break
            if not piece:
                break
            answer += piece
    match = re.match(rb"HTTP/1\.[01] (\d{3})", answer)
    return int(match.group(1)) if match else None


HEAD = b"Host: localhost\r\nAuthorization: Bearer dev\r\nContent-Type: application/json\r\n"
POST = b"POST " + ROUTE.encode() + b" HTTP/1.1\r\n" + HEAD


@pytest.mark.parametrize("name, request_bytes, expected", [
    ("header of 70 KiB", b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", {431}),
    ("request line of 70 KiB", b"GET /" + b"y" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", {414}),
    ("length that is no number", POST + b"Content-Length: abc\r\n\r\n{}", {400}),
    ("negative length", POST + b"Content-Length: -1\r\n\r\n{}", {400}),
    ("length beyond the limit", POST + b"Content-Length: 99999999999\r\n\r\n", {413}),
    ("two lengths", POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x", {400}),
    ("chunks that are none", POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", {400, None}),
    ("length and chunks", POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", {400}),
    ("no request at all", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", {400, None}),
    ("unknown coding", POST + b"Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}", {415}),
    ("broken gzip", POST + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", {400}),
])
def test_broken_http(gateway, name, request_bytes, expected):
    assert raw(gateway, request_bytes) in expected, name
    assert gateway.call("GET", "/livez").status_code == 200
    assert stored(gateway) == []


def resident(gateway):
    texts = [Path(f"/proc/{pid}/status").read_text() for pid in gateway.pids]
    return sum(int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) for text in texts) * 1024


def test_ten_thousand_slow_connections(gateway):
    wanted = 10_000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, wanted + 1000), hard))
    # Not by the proxy of a cluster, which would need two descriptors for each.
    nodes = itertools.cycle([node.address.rsplit(":", 1) for node in gateway.nodes])
    before = resident(gateway)
    held = []
    try:
        for number in range(wanted):
            # Several source addresses: one has only so many ports.
            s = socket.socket()
            s.bind((f"127.0.0.{2 + number % 4}", 0))
            s.settimeout(5)
            host, port = next(nodes)
            s.connect((host, int(port)))
            s.setblocking(False)
            try:
                s.send(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            except OSError:
                pass
            held.append(s)
        # Others are served meanwhile, and what the slow ones cost is bounded.
        for _ in range(20):
            begun = time.monotonic()
            assert gateway.call("GET", "/livez").status_code == 200
            assert time.monotonic() - begun < 5
        assert resident(gateway) - before < wanted * 40 * 1024
        # Dripping does not keep them: each is answered or cut within the header deadline.
        deadline = time.monotonic() + 40
        open_ones = held[:]
        while open_ones and time.monotonic() < deadline:
            still = []
            for s in open_ones:
                try:
                    s.send(b"y")
                    if s.recv(65536) != b"":
                        continue
                except BlockingIOError:
                    still.append(s)
                except OSError:
                    pass
            open_ones = still
            time.sleep(0.5)
        assert not open_ones, f"{len(open_ones)} slow connections were kept"
    finally:
        for s in held:
            s.close()
    assert gateway.call("GET", "/livez").status_code == 200

"""Clients that ask for everything and read nothing hold up nobody, and miss nothing when they read at last."""

import re
import socket
import time
from urllib.parse import urlsplit

STALLED = 40
EVENTS = 300
PAD = "x" * 20_000


def follow(gateway, receive_buffer=None):
    """A stream from the beginning, asked for and not read."""
    client = socket.socket()
    if receive_buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    url = urlsplit(gateway.url)
    client.settimeout(30)
    client.connect((url.hostname, url.port))
    client.sendall(b"GET /v1/stream?channel=stalled&cursor=earliest HTTP/1.1\r\nHost: localhost\r\n"
                   b"Authorization: Bearer dev\r\nAccept: text/event-stream\r\n\r\n")
    return client


def numbers(client, last, deadline=30):
    """The numbers of the events up to the last one wanted, as they came."""
    taken = bytearray()
    end = time.monotonic() + deadline
    while time.monotonic() < end and not re.search(rb'"n": %d,' % last, taken[-2 * len(PAD):]):
        piece = client.recv(1 << 20)
        if not piece:
            break
        taken += piece
    return [int(number) for number in re.findall(rb'"n": (\d+),', taken)]


def test_readers_that_stall_hold_up_nobody_and_miss_nothing(gateway):
    for first in range(0, EVENTS, 20):
        batch = [{"channel": "stalled", "type": "tick", "data": {"n": first + n, "pad": PAD}} for n in range(20)]
        assert gateway.call("POST", "/v1/events/batch", json={"events": batch}).status_code < 300
    stalled = [follow(gateway, receive_buffer=4096) for _ in range(STALLED)]
    reader = follow(gateway)
    assert numbers(reader, EVENTS - 1) == list(range(EVENTS))
    gateway.emit("stalled", {"n": EVENTS, "pad": ""}, type="tick")
    assert numbers(reader, EVENTS) == [EVENTS]
    for client in stalled:
        assert numbers(client, EVENTS) == list(range(EVENTS + 1))
        client.close()
    reader.close()

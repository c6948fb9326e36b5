"""Receivers for the chaos test, of the kinds in the arguments: a port for each, one event loop. Prints the ports."""

import asyncio
import json
import random
import re
import sys
import time

AT = re.compile(rb'"at": ([0-9.]+), "phase": "(\w+)"')


class Receiver:
    def __init__(self, kind):
        self.kind = kind
        self.requests = 0
        self.accepted = {}  # event id -> times answered with 2xx
        self.delays = {}    # phase -> seconds from emit to arrival, first arrival only

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(re.search(rb"content-length: *(\d+)", head, re.I)[1])
                body = await reader.readexactly(length)
                self.requests += 1
                if not await self.answer(re.search(rb"webhook-id: *(\S+)", head, re.I)[1].decode(), body, writer):
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def note(self, event, body):
        if event not in self.accepted and (found := AT.search(body)):
            self.delays.setdefault(found[2].decode(), []).append(time.time() - float(found[1]))
        self.accepted[event] = self.accepted.get(event, 0) + 1

    async def answer(self, event, body, writer):
        """False when the connection is over."""
        kind = self.kind
        if kind == "flaky":
            kind = random.choice(["ok", "500"])
        if kind == "ok":
            self.note(event, body)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        elif kind == "500":
            writer.write(b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n")
        elif kind == "429":
            writer.write(b"HTTP/1.1 429 No\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n")
        elif kind == "redirect":
            writer.write(b"HTTP/1.1 302 No\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n")
        elif kind == "hang":
            await asyncio.sleep(3600)
        elif kind == "reset":
            writer.transport.abort()
            return False
        elif kind == "drip":
            # A header that never ends, a byte a second.
            for byte in b"HTTP/1.1 200 OK\r\nx: " + b"a" * 3600:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(1)
        elif kind == "huge":
            self.note(event, body)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n")
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
        await writer.drain()
        return True


async def main():
    receivers = [Receiver(kind) for kind in sys.argv[1:]]
    servers = [await asyncio.start_server(receiver.serve, "127.0.0.1", 0) for receiver in receivers]
    ports = [server.sockets[0].getsockname()[1] for server in servers]
    print(json.dumps([[r.kind, port] for r, port in zip(receivers, ports)]), flush=True)
    loop = asyncio.get_running_loop()
    while command := (await loop.run_in_executor(None, sys.stdin.readline)).strip():
        if command == "report":
            print(json.dumps([
                {"kind": r.kind, "requests": r.requests, "accepted": r.accepted, "delays": r.delays}
                for r in receivers]), flush=True)


asyncio.run(main())

"""An HTTP proxy in front of the nodes of a cluster. It sends each request to the next node in turn, also the requests of
one connection.

Requests and responses pass byte by byte, as they come. The proxy reads only as much of them as it takes to find their
ends. What it cannot read stays with one node until the connection ends, because the node has to reject it, not the proxy.

The proxy runs in a process of its own and takes one command in each line of its standard input:

- `open` listens on a free port and prints it.
- `nodes PORT ADDRESS…` sets the nodes behind that port.
- `close PORT` stops listening there.
"""

import asyncio
import itertools
import resource
import sys

HEAD_BYTES = 1 << 17
HELD_BYTES = 1 << 18


class Message:
    """Finds the end of one request or response."""

    def __init__(self, is_response=False, is_bodiless=False):
        self.is_response, self.is_bodiless = is_response, is_bodiless
        self.text = bytearray()
        self.step = self.read_head
        self.left = 0
        self.is_begun = self.is_done = False
        # True if only the end of the connection ends the message, or if the message is malformed.
        self.is_endless = False
        self.method = b""

    def take(self, data):
        """The number of bytes of `data` that belong to the message."""
        at = 0
        self.is_begun = self.is_begun or bool(data)
        while at < len(data) and not self.is_done:
            if self.is_endless:
                return len(data)
            at = self.step(data, at)
        return at

    def endless(self, data):
        self.is_endless = True
        return len(data)

    def read_until(self, end, limit, data, at):
        """Adds to the text up to a mark. Returns the position behind it, and whether the mark was found."""
        before = len(self.text)
        self.text += data[at:]
        found = self.text.find(end, max(0, before - len(end)))
        if found < 0:
            return (self.endless(data) if before + len(data) - at > limit else len(data)), False
        length = found + len(end)
        del self.text[length:]
        return at + length - before, True

    def read_head(self, data, at):
        at, is_found = self.read_until(b"\r\n\r\n", HEAD_BYTES, data, at)
        if not is_found:
            return at
        lines = bytes(self.text).split(b"\r\n")
        self.text.clear()
        words = lines[0].split(b" ")
        fields = {}
        for line in lines[1:-2]:
            name, colon, value = line.partition(b":")
            name = name.lower()
            if not colon or not name.strip() or (name in fields and name in (b"content-length", b"transfer-encoding")):
                return self.endless(data)
            fields[name] = value.strip().lower()
        if len(words) < (2 if self.is_response else 3):
            return self.endless(data)
        # The node closes the connection after this response.
        if self.is_response and (words[0] != b"HTTP/1.1" or b"close" in fields.get(b"connection", b"")):
            return self.endless(data)
        return self.read_size(fields, data, at, words)

    def read_size(self, fields, data, at, words):
        self.method = b"" if self.is_response else words[0]
        length, coding = fields.get(b"content-length"), fields.get(b"transfer-encoding")
        if self.is_response:
            status = words[1]
            if status == b"101":
                return self.endless(data)
            if status.startswith(b"1"):
                return at
            if self.is_bodiless or status in (b"204", b"304"):
                self.is_done = True
                return at
        if coding is not None:
            if coding != b"chunked" or length is not None:
                return self.endless(data)
            self.step = self.read_chunk_size
        elif length is not None:
            if not length.isdigit():
                return self.endless(data)
            self.left = int(length)
            self.step = self.read_body
            self.is_done = self.left == 0
        elif self.is_response:
            return self.endless(data)
        else:
            self.is_done = True
        return at

    def read_body(self, data, at):
        taken = min(self.left, len(data) - at)
        self.left -= taken
        self.is_done = self.left == 0
        return at + taken

    def read_chunk_size(self, data, at):
        at, is_found = self.read_until(b"\r\n", 1024, data, at)
        if is_found:
            try:
                size = int(bytes(self.text).split(b";")[0].strip(), 16)
            except ValueError:
                return self.endless(data)
            self.text.clear()
            # With the line end behind the chunk.
            self.left = size + 2
            self.step = self.read_chunk if size else self.read_trailer
        return at

    def read_chunk(self, data, at):
        taken = min(self.left, len(data) - at)
        self.left -= taken
        if self.left == 0:
            self.step = self.read_chunk_size
        return at + taken

    def read_trailer(self, data, at):
        at, is_found = self.read_until(b"\r\n", HEAD_BYTES, data, at)
        if is_found:
            self.is_done = self.text == b"\r\n"
            self.text.clear()
        return at


class Upstream(asyncio.Protocol):
    """A connection to a node, for one client."""

    def __init__(self, client, address):
        self.client, self.address = client, address
        self.transport = None
        self.waiting = bytearray()
        self.is_ending = self.is_gone = False

    async def connect(self):
        host, port = self.address
        try:
            await asyncio.get_running_loop().create_connection(lambda: self, host, port)
        except OSError:
            self.is_gone = True
            self.client.upstream_lost(self)

    def connection_made(self, transport):
        self.transport = transport
        if self.is_gone:
            transport.abort()
            return
        if self.waiting:
            transport.write(self.waiting)
            self.waiting = bytearray()
        if self.is_ending:
            transport.write_eof()

    def write(self, data):
        if self.transport is None:
            self.waiting += data
        elif not self.is_gone:
            self.transport.write(data)

    def end(self):
        self.is_ending = True
        if self.transport is not None and not self.is_gone:
            self.transport.write_eof()

    def drop(self, is_reset):
        self.is_gone = True
        if self.transport is not None:
            self.transport.abort() if is_reset else self.transport.close()

    def data_received(self, data):
        self.client.respond(self, data)

    def connection_lost(self, reason):
        self.is_gone = True
        self.client.upstream_lost(self)

    def pause_writing(self):
        self.client.transport.pause_reading()

    def resume_writing(self):
        self.client.transport.resume_reading()


class Client(asyncio.Protocol):
    """A connection of a client. It has at most one connection to each node."""

    def __init__(self, door):
        self.door = door
        self.transport = None
        self.upstreams = {}
        self.current = None
        self.request = self.response = None
        self.held = b""
        self.is_ending = self.is_paused = False

    def connection_made(self, transport):
        self.transport = transport
        self.door.clients.add(self)

    def data_received(self, data):
        self.held = self.held + data if self.held else data
        self.advance()

    def advance(self):
        """Forwards what belongs to the current request, and begins the next request after the current response."""
        while self.held:
            if self.request is None:
                self.begin()
            if self.request.is_done:
                break
            taken = self.request.take(self.held)
            self.current.write(self.held[:taken])
            self.held = self.held[taken:]
        if self.is_ending and not self.held:
            if self.current is None or self.request is None:
                self.transport.close()
            else:
                self.current.end()
        is_full = len(self.held) > HELD_BYTES
        if is_full != self.is_paused:
            self.is_paused = is_full
            self.transport.pause_reading() if is_full else self.transport.resume_reading()

    def begin(self):
        address = self.door.next_node()
        upstream = self.upstreams.get(address)
        if upstream is None or upstream.is_gone:
            upstream = self.upstreams[address] = Upstream(self, address)
            # Keeps the task from being collected.
            upstream.task = asyncio.get_running_loop().create_task(upstream.connect())
        self.current, self.request, self.response = upstream, Message(), None

    def respond(self, upstream, data):
        if upstream is not self.current or self.transport.is_closing():
            return
        self.transport.write(data)
        while data and self.request is not None:
            if self.response is None:
                self.response = Message(is_response=True, is_bodiless=self.request.method == b"HEAD")
            data = data[self.response.take(data):]
            if not self.response.is_done:
                return
            self.response = None
            if self.request.is_done:
                self.request = None
                self.advance()
            else:
                # An early response, such as 413. What follows belongs to this node until it closes the connection.
                self.request.is_endless = True

    def upstream_lost(self, upstream):
        if self.upstreams.get(upstream.address) is upstream:
            del self.upstreams[upstream.address]
        # A connection that a node closes while another node serves the client is opened again when it is needed.
        if upstream is self.current and self.transport is not None:
            self.transport.close()

    def eof_received(self):
        self.is_ending = True
        self.advance()
        return True

    def connection_lost(self, reason):
        self.door.clients.discard(self)
        for upstream in list(self.upstreams.values()):
            upstream.drop(is_reset=reason is not None)

    def pause_writing(self):
        if self.current and self.current.transport:
            self.current.transport.pause_reading()

    def resume_writing(self):
        if self.current and self.current.transport:
            self.current.transport.resume_reading()


class Door:
    """A port, and the nodes behind it."""

    def __init__(self):
        self.turns = itertools.cycle([])
        self.clients = set()

    async def open(self):
        self.server = await asyncio.get_running_loop().create_server(lambda: Client(self), "127.0.0.1", 0, backlog=4096)
        return self.server.sockets[0].getsockname()[1]

    def set_nodes(self, addresses):
        self.turns = itertools.cycle([(host, int(port)) for host, port in (one.rsplit(":", 1) for one in addresses)])

    def next_node(self):
        return next(self.turns)

    def close(self):
        self.server.close()
        for client in list(self.clients):
            client.transport.abort()


async def serve():
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    doors = {}
    while line := await commands.readline():
        command, *words = line.decode().split()
        match command:
            case "open":
                door = Door()
                port = await door.open()
                doors[port] = door
                print(port, flush=True)
            case "nodes":
                doors[int(words[0])].set_nodes(words[1:])
                print("ok", flush=True)
            case "close":
                doors.pop(int(words[0])).close()
                print("ok", flush=True)


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(serve())

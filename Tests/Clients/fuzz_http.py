"""Requests that nobody means well, from a seed: routes with their holes filled, shaken and misused, and what must hold of
every answer. One connection at a time, written and read byte by byte, since no library would say such things."""

import json
import os
import random
import re
import socket
import time
import zlib
from urllib.parse import quote

SEED = int(os.environ.get("PARLEY_FUZZ_SEED") or random.SystemRandom().randrange(1 << 32))
SECONDS = float(os.environ.get("PARLEY_FUZZ_SECONDS", "5"))
# Longer than any answer may take that is not held on purpose.
PATIENCE = 10
# Nothing here is said by a route for want of something that passes: no 500, no 503.
STATED = {501}

NAMES = [
    "a", "room", "room.1", "a b", "ana", "bob", "a,b,c", ",", ",,", "*", "a.*", "*.a", "a*b", "room-pnpres", "-pnpres",
    "a-pnpres-b", "$system", "$other", "", " ", ".", "..", "a/b", "//", "%", "%2", "%zz", "%00", "%FF", "%C0%80",
    "%ED%A0%80", "%F0%9F%98%80", "ä", "e\u0301", "\u202e", "x" * 92, "x" * 93, "x" * 255, "x" * 256, "ü" * 128,
    "x" * 5000, ",".join(f"c{n}" for n in range(501)), "+", "a+b", "a|b:c", "'", '"', "\\", "<script>", "null",
    "PUBNUB_INTERNAL_MODERATION_a", "PUBNUB_INTERNAL_THREAD_a_17324123456789012", "demo", "0",
]
NUMBERS = [
    "0", "1", "-1", "2", "100", "101", "250", "1000000", "2147483648", "4294967296", "9223372036854775807",
    "9223372036854775808", "18446744073709551615", "18446744073709551616", "99999999999999999", "9" * 20, "9" * 21,
    "9" * 400, "17324123456789012", "1e3", "1e400", "1.5", "-0", "0x10", "１２", "NaN", "inf", "", " 1", "1 ", "+1", "true",
    "1_000", "00000000000000000001", "null", "١٧",
]
TEXTS = [
    "", "x", "null", "true", "{}", "[]", '""', "{", "[", '{"a":', '"\\ud800"', '"\\u0000"', '{"a":1,"a":2}', "1e400",
    "-0", "1.10", "12345678901234567890123", '{"\\u0000":1}', "\ufeff{}", "[" * 63 + "]" * 63, "[" * 64 + "]" * 64,
    "[" * 5000, '{"a":' * 5000, '"' + "x" * 40_000 + '"', "uuid ==", "(((((", "a == 'b'", "!" * 200, "~" * 100 + "1",
    "data.a.b.c > 1 && meta.x LIKE '*a*b*c*d*'", "name LIKE '" + "*a" * 200 + "'", "1,2,3", "a:desc", ":", "id:up",
    "custom,status,type,channel.custom", "🙂" * 20, "a\r\nX-Evil: 1", "\0", "=", "&", "2020-01-01T00:00:00Z", "9999-99-99",
]
VALUES = [
    None, True, False, 0, 1, -1, 1.5, 1e308, -(1 << 63), (1 << 63) - 1, 1 << 64, "", "x", "a" * 300, "\u0000", "\ud7ff", "🙂", [],
    {}, [[]], [None], {"a": None}, {"a": [1, {"b": []}]}, {"": ""}, "17324123456789012", "2020-01-01T00:00:00Z", "*",
]
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "get", "X" * 40]
# What honest requests say: few names, so that they meet what others have made.
CALM = ["a", "room", "ana", "bob", "order.paid", "a.b", "1", "0", "true", "s"]


class Odd:
    """Draws what goes into a request. What answers said comes up again: timetokens, ids, cursors, tokens."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.heard = []
        # Whether the request under way is to be taken for an honest one, but for a thing or two: else nothing would get
        # past the first check.
        self.is_calm = False

    def begin(self):
        self.is_calm = self.chance(0.5)

    def chance(self, share):
        return self.random.random() < share

    def text(self):
        if self.is_calm and self.chance(0.9):
            return self.random.choice(self.heard[-9:] if self.heard and self.chance(0.2) else CALM)
        kind = self.random.randrange(10)
        if kind == 0 and self.heard:
            return self.random.choice(self.heard)
        if kind == 1:
            return "".join(chr(self.random.choice([*range(32, 127), 0, 9, 0x85, 0x2028, 0x1F642])) for _ in range(8))
        return self.random.choice(self.random.choice([NAMES, NAMES, NUMBERS, TEXTS]))

    def number(self):
        if self.heard and self.chance(0.6 if self.is_calm else 0.3):
            return self.random.choice(self.heard)
        return self.random.choice(NUMBERS)

    def value(self, depth=0):
        kind = self.random.randrange(12)
        if kind == 0 and depth < 3:
            return {self.text()[:50]: self.value(depth + 1) for _ in range(self.random.randrange(4))}
        if kind == 1 and depth < 3:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return self.text() if kind < 4 else self.random.choice(VALUES)

    def escaped(self, text, safe=""):
        """In one of the spellings that clients have for it, or in one that none should have."""
        kind = self.random.randrange(12) if not self.is_calm else 11
        if kind == 0:
            return text.encode("utf-8", "surrogatepass")
        if kind == 1:
            return "".join(f"%{byte:02x}" for byte in text.encode("utf-8", "surrogatepass")).encode()
        if kind == 2 and "%" in text:
            return text.encode("utf-8", "surrogatepass")
        return quote(text, safe=safe, errors="surrogatepass").encode()

    def body(self, example):
        """Like the example of its route, but for one thing or several; or nothing like it."""
        kind = self.random.randrange(10) if not self.is_calm else self.random.choice([6, 8, 8])
        if kind == 0:
            return self.random.choice(TEXTS).encode("utf-8", "surrogatepass")
        if kind == 1:
            return bytes(self.random.randrange(256) for _ in range(self.random.randrange(40)))
        value = self.shaken(example) if kind < 8 else example if kind == 8 else self.value()
        text = json.dumps(value, ensure_ascii=self.chance(0.5)).encode("utf-8", "surrogatepass")
        if kind == 7:
            cut = self.random.randrange(len(text) + 1)
            return text[:cut]
        return text

    def shaken(self, value):
        if self.chance(0.03 if self.is_calm else 0.15):
            return self.value()
        if isinstance(value, str) and self.is_calm and self.chance(0.3):
            return self.text()
        if isinstance(value, dict):
            members = {name: self.shaken(part) for name, part in value.items() if self.chance(0.9)}
            if self.chance(0.02 if self.is_calm else 0.15):
                members[self.text()[:60]] = self.value()
            return members
        if isinstance(value, list):
            parts = [self.shaken(part) for part in value]
            return parts * self.random.choice([1, 1, 1, 1, 30]) if self.chance(0.2) else parts
        if isinstance(value, (int, float)) and self.chance(0.2):
            return self.random.choice([-1, 0, 1 << 31, 1 << 53, 1 << 63, 1e300, 0.5])
        return value

    def listen(self, text):
        """Keeps some of what could be said again."""
        for found in self.random.sample(re.findall(r'"([A-Za-z0-9_.~-]{6,80})"', text) or [""], 1):
            if found:
                self.heard.append(found)
        if len(self.heard) > 60:
            del self.heard[self.random.randrange(60)]


class Request:
    """One request as bytes."""

    def __init__(self, method, target, fields, body):
        self.method, self.target, self.fields, self.body = method, target, fields, body

    @property
    def head(self):
        lines = [self.method.encode() + b" " + self.target + b" HTTP/1.1", b"Host: localhost"]
        lines += [name.encode() + b": " + value for name, value in self.fields]
        return b"\r\n".join(lines) + b"\r\n\r\n"

    def __str__(self):
        return repr(self.head + self.body)[:3000]


def framed(odd, method, target, fields, body):
    """A request whose body may be compressed, in chunks, or called something that it is not."""
    fields = list(fields)
    kind = odd.random.randrange(14) if not odd.is_calm else 13
    if kind == 0:
        body = zlib.compress(body)
        fields.append(("Content-Encoding", odd.random.choice([b"gzip", b"deflate"])))
    elif kind == 1:
        fields.append(("Content-Encoding", odd.random.choice([b"gzip", b"deflate", b"br", b"identity", b"x"])))
    elif kind == 2:
        fields.append((odd.random.choice(["If-Match", "If-None-Match", "Idempotency-Key", "Last-Event-ID", "traceparent",
                                          "Range", "X-Request-Id", "Accept", "Cookie", "Origin"]),
                       odd.text().replace("\r", "").replace("\n", "").replace("\0", "")[:2000].encode("utf-8", "surrogatepass")))
    if body or method in ("POST", "PUT", "PATCH"):
        if odd.chance(0.9):
            fields.append(("Content-Type", b"application/json" if odd.chance(0.9) else odd.random.choice(
                [b"text/plain", b"application/json; charset=latin-1", b"multipart/form-data", b"", b"a/b/c"])))
        if odd.chance(0.05):
            chunks = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            fields.append(("Transfer-Encoding", b"chunked"))
            body = chunks + b"0\r\n\r\n"
        else:
            fields.append(("Content-Length", str(len(body)).encode()))
    return Request(method, target, fields, body)


class Client:
    """Says requests on one connection, as long as it lasts."""

    def __init__(self, port):
        self.port = port
        self.socket = None
        self.buffer = b""

    def ask(self, request, patience=PATIENCE):
        """Status, header fields and body of the answer; None where the server only closed the connection.

        Fails when nothing comes in time."""
        for attempt in (1, 2):
            fresh = self.socket is None
            if fresh:
                self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=patience)
                self.buffer = b""
            self.socket.settimeout(patience)
            try:
                self.socket.sendall(request.head + request.body)
            except OSError:
                pass  # Refused before it was read: the answer may be there all the same.
            try:
                answer = self.read(request.method)
            except (ConnectionError, BrokenPipeError):
                answer = None
            except TimeoutError:
                raise AssertionError(f"no answer within {patience} s to {request}") from None
            if answer is not None:
                return answer
            self.close()
            # Closed for having been idle, or for what was said before: once more on a new one.
            if fresh:
                return None

    def read(self, method):
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split()[1])
        if status == 100:
            return self.read(method)
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        body = b""
        if method != "HEAD" and status not in (204, 304):
            if fields.get("transfer-encoding") == "chunked":
                # A stream has no end: its head is all that is asked.
                self.close()
            elif "content-length" in fields:
                length = int(fields["content-length"])
                while len(self.buffer) < length:
                    self.more()
                body, self.buffer = self.buffer[:length], self.buffer[length:]
            else:
                self.close()
        if fields.get("connection", "").lower() == "close":
            self.close()
        return status, fields, body

    def more(self):
        part = self.socket.recv(1 << 16)
        if not part:
            raise ConnectionResetError
        self.buffer += part

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None


class Campaign:
    """As many requests as fit into the time, and what came of them."""

    def __init__(self, gateway, name, draw, judge):
        self.gateway, self.name, self.draw, self.judge = gateway, name, draw, judge
        self.count, self.statuses = 0, {}

    def run(self, seconds=SECONDS, seed=SEED):
        print(f"{self.name}: PARLEY_FUZZ_SEED={seed} PARLEY_FUZZ_SECONDS={seconds}")
        odd = Odd(f"{self.name} {seed}")
        client = Client(int(self.gateway.address.rsplit(":", 1)[1]))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            odd.begin()
            request = self.draw(odd)
            answer = client.ask(request)
            self.count += 1
            assert self.gateway.is_whole, f"the gateway ended at {request}"
            if answer is None:
                self.statuses["closed"] = self.statuses.get("closed", 0) + 1
                continue
            status, fields, body = answer
            self.statuses[status] = self.statuses.get(status, 0) + 1
            fault = self.fault(request, status, fields, body)
            assert fault is None, f"seed {seed}: {fault}: {status} {body[:500]!r} to {request}"
            odd.listen(body[:20_000].decode("utf-8", "replace"))
        client.close()
        failures = [line for line in self.gateway.log if re.search(r"request failed|Fatal|overflow|precondition", line)]
        assert not failures, f"seed {seed}: {failures[:3]}"
        print(f"{self.name}: {self.count} requests, {dict(sorted(self.statuses.items(), key=str))}")

    def fault(self, request, status, fields, body):
        if not 200 <= status < 500 and status not in STATED:
            return "a status that is no refusal"
        if request.method == "HEAD" or status in (204, 304) or fields.get("transfer-encoding") == "chunked":
            return None
        if not body and status < 400:
            return None
        kind = fields.get("content-type", "")
        if "json" not in kind:
            return None if status < 400 else "a refusal that is no JSON"
        try:
            value = json.loads(body)
        except ValueError as error:
            return f"no JSON ({error})"
        return self.judge(status, kind, value) if status >= 400 else None

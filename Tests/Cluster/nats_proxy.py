"""A proxy in front of NATS that drops, delays, repeats and reorders the messages that the server sends to a client."""

import heapq
import random
import socket
import threading
import time


class NATSProxy:
    """Listens on a port of its own. `drop`, `repeat` and `delay` are shares of the messages; `longest` is the longest
    delay in seconds."""

    def __init__(self, port, seed, drop=0.3, repeat=0.1, delay=0.5, longest=0.2):
        self.port_of_server, self.choice = port, random.Random(seed)
        self.drop, self.repeat, self.delay, self.longest = drop, repeat, delay, longest
        self.counts = {"passed": 0, "dropped": 0, "repeated": 0, "delayed": 0}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.port_of_server))
            except OSError:
                if self.listener.fileno() < 0:
                    return
                client.close()
                continue
            threading.Thread(target=self.copy, args=[client, server], daemon=True).start()
            threading.Thread(target=Messages(self, server, client).run, daemon=True).start()

    @staticmethod
    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        end(source, target)

    def close(self):
        self.listener.close()


def end(*sockets):
    for one in sockets:
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Messages:
    """The messages from the server to one client."""

    def __init__(self, proxy, server, client):
        self.proxy, self.server, self.client = proxy, server, client
        self.queue, self.number = [], 0
        self.changed = threading.Condition()
        self.is_over = False

    def run(self):
        threading.Thread(target=self.send, daemon=True).start()
        try:
            with self.server.makefile("rb") as stream:
                while line := stream.readline():
                    if line.startswith((b"MSG ", b"HMSG ")):
                        self.take(line + stream.read(int(line.split()[-1]) + 2))
                    else:
                        self.put(line, time.monotonic())
        except (OSError, ValueError):
            pass
        with self.changed:
            self.is_over = True
            self.changed.notify()
        end(self.server, self.client)

    def take(self, message):
        """Decides the fate of a message. A later message without a delay overtakes one with a delay."""
        proxy, choice = self.proxy, self.proxy.choice
        if choice.random() < proxy.drop:
            proxy.counts["dropped"] += 1
            return
        copies = 2 if choice.random() < proxy.repeat else 1
        proxy.counts["repeated"] += copies - 1
        proxy.counts["passed"] += 1
        for _ in range(copies):
            is_late = choice.random() < proxy.delay
            proxy.counts["delayed"] += is_late
            self.put(message, time.monotonic() + (choice.uniform(0, proxy.longest) if is_late else 0))

    def put(self, data, moment):
        with self.changed:
            self.number += 1
            heapq.heappush(self.queue, (moment, self.number, data))
            self.changed.notify()

    def send(self):
        while True:
            with self.changed:
                while not self.queue or self.queue[0][0] > time.monotonic():
                    if self.is_over:
                        return
                    self.changed.wait(self.queue[0][0] - time.monotonic() if self.queue else None)
                data = heapq.heappop(self.queue)[2]
            try:
                self.client.sendall(data)
            except OSError:
                return

#!/usr/bin/env python3
"""Makes a webhook, receives its deliveries, and prints each event once.

usage: receive_webhooks.py [TYPE…]        for example: receive_webhooks.py 'order.*'
"""

import json
import os
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

from webhook import Forged, verify

URL = os.environ.get("PARLEY_URL", "http://127.0.0.1:8080")
KEY = os.environ.get("PARLEY_KEY", "dev")


def api(method, path, body=None, headers={}):
    request = urllib.request.Request(
        URL + path, method=method, data=json.dumps(body).encode() if body is not None else None,
        headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=20) as answer:
        text = answer.read()
        return json.loads(text) if text else None


class Receiver(BaseHTTPRequestHandler):
    secret = ""
    # A delivery comes at least once: after a lost answer, again with the same id. A real receiver keeps the ids where it
    # keeps what it does with the events.
    seen = set()

    def handle_event(self, event):
        print(json.dumps(event), flush=True)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            verify(self.secret, self.headers, body)
        except Forged as error:
            self.send_error(401, str(error))
            return
        if self.headers["webhook-id"] not in self.seen:
            # If this fails there is no answer, and the delivery comes again.
            self.handle_event(json.loads(body))
            self.seen.add(self.headers["webhook-id"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def receive(receiver, **settings):
    """Makes a webhook with these settings for this receiver, serves it until it is interrupted, and removes it."""
    server = HTTPServer(("127.0.0.1", 0), receiver)
    webhook = api("POST", "/v1/webhooks", {"url": f"http://127.0.0.1:{server.server_port}/", **settings})
    receiver.secret = webhook["secret"]
    print(f"{webhook['id']} tells of {', '.join(webhook['types'])}", file=sys.stderr, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        api("DELETE", f"/v1/webhooks/{webhook['id']}")


if __name__ == "__main__":
    receive(Receiver, types=sys.argv[1:] or ["*"], description="an example")

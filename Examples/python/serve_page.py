#!/usr/bin/env python3
"""Serves browser/page.html, and gives each visitor a ticket for its stream: the API key stays here.

usage: serve_page.py [PORT]
"""

import json
import os
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

URL = os.environ.get("PARLEY_URL", "http://127.0.0.1:8080")
KEY = os.environ.get("PARLEY_KEY", "dev")
PAGE = Path(__file__).parents[1] / "browser/page.html"


def ticket(cursor=None):
    """Good for one stream of these channels, from a position on, for a minute until it is opened."""
    wish = {"channels": ["orders.*"]} | ({"cursor": cursor} if cursor else {})
    request = urllib.request.Request(
        URL + "/v1/stream-tickets", data=json.dumps(wish).encode(),
        headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)["ticket"]


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        # A real site would ask here who is visiting, and what they may see.
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if path == "/stream":
            text = ticket(query.get("cursor", [None])[0])
            self.answer("application/json", json.dumps({"url": f"{URL}/v1/stream?ticket={text}"}).encode())
        elif path == "/":
            self.answer("text/html; charset=utf-8", PAGE.read_bytes())
        else:
            self.send_error(404)

    def answer(self, content_type, body):
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8000), Site)
    print(f"http://127.0.0.1:{server.server_port}/", file=sys.stderr, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass

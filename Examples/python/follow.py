#!/usr/bin/env python3
"""Follows channels, line by line, and goes on where it was when the connection breaks.

usage: follow.py PATTERN… [--since CURSOR]        for example: follow.py 'orders.*' --since earliest
"""

import argparse
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ.get("PARLEY_URL", "http://127.0.0.1:8080")
KEY = os.environ.get("PARLEY_KEY", "dev")


def events(patterns, cursor="latest"):
    """Every event once, in order. The timetoken of the last one is the place to go on from."""
    pause = 1
    while True:
        query = urllib.parse.urlencode([("channel", pattern) for pattern in patterns] + [("cursor", cursor)])
        request = urllib.request.Request(
            f"{URL}/v1/stream?{query}",
            headers={"Authorization": f"Bearer {KEY}", "Accept": "application/x-ndjson"})
        try:
            # An empty line comes every 15 seconds: silence for longer means that nobody is there any more.
            with urllib.request.urlopen(request, timeout=40) as stream:
                pause = 1
                for line in filter(bytes.strip, stream):
                    event = json.loads(line)
                    if "event" in event:  # a word of the gateway itself: stream.ready, stream.gap, stream.closing
                        # Without it a stream that began now and broke before the first event would begin later.
                        cursor = event["data"].get("cursor", cursor)
                        continue
                    cursor = event["timetoken"]
                    yield event
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                raise SystemExit(f"refused: {error.read().decode()}")
        except OSError:
            pass
        time.sleep(pause)
        pause = min(pause * 2, 30)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("patterns", nargs="+", metavar="PATTERN")
    arguments.add_argument("--since", default="latest", metavar="CURSOR")
    options = arguments.parse_args()
    for event in events(options.patterns, options.since):
        print(json.dumps(event), flush=True)

#!/usr/bin/env python3
"""Works off events one after the other, at its own pace, without an address anybody could connect to.

A subscription is a queue: what is taken and not acknowledged in time is given out again, to this program or to another
that pulls beside it. usage: pull_events.py [TYPE…]
"""

import json
import sys

from receive_webhooks import api


def work(event):
    print(json.dumps(event), flush=True)


if __name__ == "__main__":
    subscription = api("POST", "/v1/subscriptions", {"types": sys.argv[1:] or ["*"], "description": "an example"})
    path = f"/v1/subscriptions/{subscription['id']}"
    print(f"{subscription['id']} keeps {', '.join(subscription['types'])}", file=sys.stderr, flush=True)
    try:
        while True:
            for taken in api("POST", path + "/pull", {"limit": 10, "wait_seconds": 15})["data"]:
                work(taken["event"])
                api("POST", path + "/ack", {"ack_ids": [taken["ack_id"]]})
    except KeyboardInterrupt:
        api("DELETE", path)  # a program that comes back would keep it, and with it what came meanwhile

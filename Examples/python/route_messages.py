#!/usr/bin/env python3
"""A handler of one's own: hears what is said in `support.*`, and calls the right people.

A webhook tells it of messages; it answers by emitting. Who speaks of leaving, or writes in capitals, becomes a typed event
`customer-satisfaction` on the channel of the crew that looks after such customers.
"""

from receive_webhooks import Receiver, api, receive

CREW = "CUSTOMER-SATISFACTION-CREW"
WORDS = ("cancel", "refund", "unacceptable", "lawyer")


def reasons(text):
    found = [word for word in WORDS if word in text.lower()]
    if len(text) > 10 and text.isupper():
        found.append("shouting")
    return found


class Router(Receiver):
    def handle_event(self, event):
        text = event["data"].get("text") if isinstance(event["data"], dict) else None
        found = reasons(text or "")
        if not found:
            return
        api("POST", f"/v1/channels/{CREW}/events", {
            "type": "customer-satisfaction",
            "data": {"channel": event["channel"], "customer": event.get("user"), "reasons": found, "text": text},
        }, {"Idempotency-Key": event["id"]})  # the same message told twice calls the crew once


if __name__ == "__main__":
    receive(Router, types=["message.created"], channels=["support.*"], description="calls the crew")

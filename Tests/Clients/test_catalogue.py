"""Every event type of the catalogue really happens: caused by a call, seen on a stream, told to a webhook, and in history
unless it is of the moment. The list of types is the gateway's own, so that none can be forgotten."""

import json
import threading
import time
from collections import defaultdict
from queue import Empty, Queue

import requests

# What the gateway reports of itself; each has a test where it is made.
REPORTS = ("webhook.", "source.", "schema.", "key.", "stream.", "system.")


class Watcher:
    """A stream, read in the background."""

    def __init__(self, gateway, query):
        self.events = Queue()
        self.answer = requests.get(
            f"{gateway.url}/v1/stream?{query}", stream=True, timeout=60,
            headers={"Authorization": f"Bearer {gateway.key}", "Accept": "application/x-ndjson"})
        assert self.answer.status_code == 200, self.answer.text
        lines = self.answer.iter_lines()
        ready = json.loads(next(line for line in lines if line))
        assert ready["event"] == "stream.ready"
        threading.Thread(target=self.read, args=(lines,), daemon=True).start()

    def read(self, lines):
        try:
            for line in filter(None, lines):
                self.events.put(json.loads(line))
        except (requests.RequestException, AttributeError, ValueError):
            pass  # closed by the test, or by the gateway's end

    def close(self):
        self.answer.close()


class Story:
    """What users of a chat do, so that everything happens once."""

    def __init__(self, gateway):
        self.gateway = gateway

    def call(self, method, path, body=None, user=None, device=None):
        headers = {"X-Device-Id": device} if device else {}
        answer = self.gateway.call(method, "/v1" + path, body, headers=headers)
        assert answer.status_code < 300, (method, path, answer.text)
        return answer.json() if answer.content else None

    def users(self):
        for user in ("ana", "ben", "carl", "dora"):
            self.call("PUT", f"/users/{user}", {"name": user.capitalize()})
        self.call("PATCH", "/users/ana", {"status": "busy"})
        self.call("PUT", "/users/ana/blocks/dora", {})
        self.call("DELETE", "/users/ana/blocks/dora")
        self.call("DELETE", "/users/dora")

    def members(self):
        self.call("POST", "/channels", {"id": "crew", "kind": "group", "users": ["ben", "carl"], "by": "ana"})
        self.call("POST", "/channels/crew/invites/ben/accept", {"by": "ben"})
        self.call("POST", "/channels/crew/invites/carl/decline", {"by": "carl"})
        self.call("PATCH", "/channels/crew", {"name": "Crew"})
        self.call("PATCH", "/channels/crew/members/ben", {"status": "new"})
        self.call("PUT", "/channels/crew/members/ben/hidden", {})
        self.call("DELETE", "/channels/crew/members/ben/hidden")

    def messages(self):
        path = "/channels/crew/messages"
        root = self.call("POST", path, {"text": "hi ben", "user": "ana", "mentions": ["ben"]})["timetoken"]
        self.call("POST", path, {"text": "hi ana", "user": "ben", "thread_of": root})
        edited = self.call("PATCH", f"{path}/{root}", {"text": "hello ben"})["edited"]["timetoken"]
        self.call("DELETE", f"{path}/{root}/actions/{edited}?user=ana")
        self.call("PUT", f"{path}/{root}/reactions/wave?user=ben")
        self.call("DELETE", f"{path}/{root}/reactions/wave?user=ben")
        action = self.call("POST", f"{path}/{root}/actions", {"type": "task", "value": "done", "user": "ben"})
        self.call("DELETE", f"{path}/{root}/actions/{action['action_timetoken']}?user=ben")
        self.call("PUT", f"{path}/{root}/pin")
        self.call("POST", f"{path}/{root}/report", {"reason": "rude", "by": "ben", "auto_moderation_id": "rule-1"})
        self.call("PUT", "/channels/crew/members/ben/delivered", {"by": "ben"})
        self.call("PUT", "/channels/crew/members/ben/read", {"by": "ben"})
        self.call("DELETE", f"{path}/{root}")
        self.call("POST", "/channels/crew/signals", {"user": "ana", "data": 1})
        self.call("POST", "/channels/crew/events", {"user": "ana", "data": {"any": "thing"}})

    def values(self):
        for kind, first, second in (("metadata", "a", "b"), ("metacounters", 1, 2)):
            member = "metadata" if kind == "metadata" else "metacounters"
            self.call("POST", f"/channels/crew/{kind}", {member: {"k": first}})
            self.call("PATCH", f"/channels/crew/{kind}", {member: {"k": second}})
            self.call("DELETE", f"/channels/crew/{kind}/k")

    def moderation(self):
        self.call("PUT", "/channels/crew/freeze", {})
        self.call("DELETE", "/channels/crew/freeze")
        for what in ("mute", "ban"):
            self.call("PUT", "/channels/crew/restrictions/ben", {what: True, "reason": "spam"})
            self.call("DELETE", "/channels/crew/restrictions/ben")

    def presence(self):
        self.call("PUT", "/channels/crew/presence/ana", {"state": {"mood": "new"}})
        self.call("PUT", "/channels/crew/presence/ana/state", {"state": {"mood": "fine"}})
        self.call("DELETE", "/channels/crew/presence/ana")
        self.call("PUT", "/channels/attic/presence/ana", {"ttl_seconds": 2, "state": {"mood": "fine"}})
        self.call("PUT", "/channels/crew/typing/ana")
        self.call("DELETE", "/channels/crew/typing/ana")
        self.call("PUT", "/channels/lobby", {"kind": "open"})
        self.call("PUT", "/channels/lobby/participants/ana")
        self.call("DELETE", "/channels/lobby/participants/ana")
        # Above the number of single announcements, comings and goings are told together.
        for number in range(25):
            self.call("PUT", f"/channels/hall/presence/u{number}", {})

    def devices(self):
        phone = Watcher(self.gateway, "user=ana&device=phone")
        self.call("POST", "/channels/crew/messages", {"text": "unread", "user": "ben"})
        # Numbers are told together, a moment later, and to nobody who has gone by then.
        told = collected(phone.events, {"unread_count.updated"}, lambda event: event if "event" not in event else None, 20)
        assert told, "the phone was told nothing"
        phone.close()
        end = time.monotonic() + 10
        while self.call("GET", "/users/ana/sessions")["data"][0]["state"] == "open":
            assert time.monotonic() < end, "the gateway does not see that the phone is gone"
        phone = Watcher(self.gateway, "user=ana&device=phone")
        session = self.call("GET", "/users/ana/sessions")["data"][0]["id"]
        self.call("DELETE", f"/users/ana/sessions/{session}")
        phone.close()

    def end(self):
        self.call("POST", "/channels/swept/messages", {"text": "swept", "user": "ana"})
        self.call("DELETE", "/channels/swept/events?all=true")
        self.call("DELETE", "/channels/crew")


def collected(queue, wanted, key, seconds):
    """Events until each of the wanted types was there, or the time is over."""
    found = Found()
    end = time.monotonic() + seconds
    while wanted - found.keys() and time.monotonic() < end:
        try:
            event = key(queue.get(timeout=0.5))
        except Empty:
            continue
        if event:
            found.setdefault(event["type"], event)
            if isinstance(event["data"], dict):
                found.members[event["type"]] |= event["data"].keys()
    return found


class Found(dict):
    """The first event of each type, and the members that the data of all of them have."""

    def __init__(self):
        super().__init__()
        self.members = defaultdict(set)


# Told to a user's own device; ActivityStreamTests follows one.
UNFOLLOWED = ("channel.activity", "unread_count")


def unfilled(gateway, name, members):
    """The members that the type's schema describes and none of the events has, without those of PubNub SDKs' events, and of
    intervals with more users than this story has."""
    newest = gateway.call("GET", f"/v1/event-types/{name}").json()["latest_version"]
    schema = gateway.call("GET", f"/v1/event-types/{name}/versions/{newest}").json()["schema"]
    described = schema.get("properties", {})
    return {
        member for member, schema in described.items()
        if member not in members and member != "here_now_refresh" and (name, member) != UNFOLLOWED and "PubNub SDK" not in schema.get("description", "")
    }


def test_every_type_happens(gateway, receiver):
    listed = gateway.call("GET", "/v1/event-types?limit=250").json()["data"]
    types = {entry["type"] for entry in listed if entry["built_in"]}
    # A session fails when its device has not come back within two minutes: shown where the clock can be moved.
    wanted = {name for name in types if not name.startswith(REPORTS)} - {"connection.failed"}
    assert len(wanted) > 50
    hook = gateway.call("POST", "/v1/webhooks", {"url": receiver.url, "types": sorted(types)})
    assert hook.status_code == 201, hook.text
    # One type is given to nobody who does not name it.
    watcher = Watcher(gateway, "type=*&type=channel.activity")

    story = Story(gateway)
    for part in ("users", "members", "messages", "values", "moderation", "presence", "devices", "end"):
        getattr(story, part)()

    seen = collected(watcher.events, wanted, lambda event: event if "event" not in event else None, 30)
    assert wanted - seen.keys() == set(), "never seen on a stream"
    assert {name: rest for name in wanted if (rest := unfilled(gateway, name, seen.members[name]))} == {}
    told = collected(receiver.requests, wanted, lambda post: json.loads(post[1]), 30)
    assert wanted - told.keys() == set(), "never told to a webhook"
    for name, event in seen.items():
        history = gateway.call("GET", f"/v1/channels/{event['channel']}/events?type={name}").json()["data"]
        assert bool(history) != event.get("ephemeral", False), (name, "history")
    watcher.close()

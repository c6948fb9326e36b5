"""Moving a keyset by `parley export pubnub` and `parley import`: another Parley is the PubNub that is moved from."""

import json
import os
import subprocess
from urllib.parse import quote

import pytest
import requests

from conftest import BINARY, Gateway

ASK = "include_meta=true&include_uuid=true&include_message_type=true&include_custom_message_type=true"


class Keyset:
    """A gateway as what it looks like to PubNub's clients."""

    def __init__(self, gateway):
        self.gateway = gateway

    def ask(self, method, path, body=None, **query):
        answer = requests.request(method, self.gateway.url + path, json=body, params=query, timeout=20)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def publish(self, channel, payload, user="ana", **query):
        path = f"/publish/demo/demo/0/{quote(channel, safe='')}/0/{quote(json.dumps(payload), safe='')}"
        return self.ask("GET", path, uuid=user, **query)[2]

    def act(self, channel, message, type, value, user):
        self.ask("POST", f"/v1/message-actions/demo/channel/{channel}/message/{message}",
                 {"type": type, "value": value}, uuid=user)

    def history(self, channel):
        """Byte for byte, with everything that is kept of a message."""
        pages, start = [], ""
        while True:
            path = f"/v3/history-with-actions/sub-key/demo/channel/{quote(channel, safe='')}?max=25&{ASK}{start}"
            answer = requests.get(self.gateway.url + path, timeout=20)
            pages.append(answer.text)
            if "more" not in answer.json():
                return pages
            start = "&start=" + answer.json()["more"]["start"]

    def records(self):
        """Users, channels, members and groups, without what says when they were written."""
        lists = [f"/v2/objects/demo/{list}?include=custom,status,type" for list in
                 ("uuids", "channels", "channels/room.1/uuids", "channels/quiet/uuids",
                  "channels/PUBNUB_INTERNAL_MODERATION_room.1/uuids")]
        found = [self.ask("GET", path)["data"] for path in lists]
        for record in (record for list in found for record in list):
            del record["updated"], record["eTag"]
        return found + [self.ask("GET", "/v1/channel-registration/sub-key/demo/channel-group/both")["payload"]]


@pytest.fixture
def source(gateway):
    return Keyset(gateway)


@pytest.fixture
def target(tmp_path):
    gateway = Gateway(tmp_path / "target").start()
    yield Keyset(gateway)
    assert gateway.stop() in (0, None)


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "secret"
    file.write_text("demo-secret\n")
    return f"@{file}"


def parley(target, *arguments, code=0):
    run = subprocess.run(
        [BINARY, *arguments], capture_output=True, text=True, timeout=60,
        env={**os.environ, "PARLEY_URL": target.gateway.url, "PARLEY_KEY": "dev"})
    assert run.returncode == code, run.stdout + run.stderr
    return run.stdout


def options(source, *more):
    return ["--origin", source.gateway.url, "--subscribe-key", "demo", "--rate", "1000", *more]


def fill(source):
    """Something of everything; the timetokens of the room's texts."""
    texts = [source.publish("room.1", {"type": "text", "text": f"text {n}"}, meta=json.dumps({"n": n}))
             for n in range(60)]
    source.publish("room.1", {"amount": 1.50, "digits": 12345678901234567890123}, custom_message_type="order")
    source.publish("room.1", "bare", user="bob")
    source.publish("named only", [1, 2])
    source.publish("ana", {"type": "mention", "messageTimetoken": texts[0], "channel": "room.1",
                           "parentChannel": None}, user="bob")
    source.publish("PUBNUB_INTERNAL_MODERATION_room.1", {
        "type": "report", "text": "text 1", "reason": "spam", "reportedMessageTimetoken": texts[1],
        "reportedMessageChannelId": "room.1", "reportedUserId": "ana"}, user="bob")
    thread = "PUBNUB_INTERNAL_THREAD_room.1_" + texts[7]
    source.act("room.1", texts[7], "threadRootId", thread, "ana")
    source.publish(thread, {"type": "text", "text": "reply"})
    source.act("room.1", texts[3], "reactions", "+1", "bob")
    source.act("room.1", texts[3], "reactions", "+1", "ana")
    for text in ("new text", "newer text", "newest text"):
        source.act("room.1", texts[4], "edited", text, "ana")
    source.act("room.1", texts[6], "deleted", "deleted", "ana")
    source.act("room.1", texts[8], "starred", "yes", "ana")
    source.ask("PATCH", "/v2/objects/demo/uuids/ana", {"name": "Ana", "email": "a@b.c", "custom": {"level": 2}})
    source.ask("PATCH", "/v2/objects/demo/uuids/bob", {"name": "Bob", "externalId": "b-1", "status": "busy"})
    source.ask("PATCH", "/v2/objects/demo/channels/room.1", {"name": "Room", "description": "of all", "type": "group"})
    for channel in ("room.1", "quiet"):
        source.ask("PATCH", "/v2/objects/demo/uuids/ana/channels", {"set": [{
            "channel": {"id": channel}, "status": "joined", "custom": {"lastReadMessageTimetoken": texts[5]}}]})
    source.gateway.call("PUT", "/v1/channels/room.1/restrictions/eve", {"ban": True, "reason": "spam"})
    source.ask("GET", "/v1/channel-registration/sub-key/demo/channel-group/both", add="room.1,quiet")
    return texts, ["room.1", "named only", "ana", "PUBNUB_INTERNAL_MODERATION_room.1", thread]


def test_a_keyset_arrives_as_it_was(source, target, secret):
    texts, channels = fill(source)
    before = source.records(), [source.history(channel) for channel in channels]
    target.gateway.call("PUT", "/v1/channels/room.1", {"kind": "public", "name": "Made here"})
    # The access manager is on: only who signs reads everything.
    source.gateway.call("PATCH", "/v1/apps/demo", {"demand_tokens": True})
    keys = ["--publish-key", "demo", "--secret-key", secret, "--channel", "named only"]
    assert "rejected the request (403)" in subprocess.run(
        [BINARY, "export", "pubnub", *options(source)], capture_output=True, text=True, timeout=60).stderr
    told = parley(target, "import", "pubnub", *options(source, *keys, "--replace"))
    assert told == "1 channel, 1 group, 2 memberships, 66 messages, 1 restriction, 2 users, 1 already present, 0 rejected\n"
    assert (target.records(), [target.history(channel) for channel in channels]) == before
    again = parley(target, "import", "pubnub", *options(source, *keys))
    assert again == "nothing new, 74 already present, 0 rejected\n"
    assert [target.history(channel) for channel in channels] == before[1]


def test_a_move_in_two_steps_by_a_file_and_back(source, target, tmp_path):
    _, channels = fill(source)
    lines = parley(target, "export", "pubnub", *options(source, "--channel", "named only"))
    assert all(json.loads(line)["record"] for line in lines.splitlines())
    file = tmp_path / "chat.ndjson"
    file.write_text(lines)
    assert "66 messages, 1 restriction, 2 users, 0 already present, 0 rejected" in parley(target, "import", "file", str(file))
    assert [target.history(channel) for channel in channels] == [source.history(channel) for channel in channels]
    # And out of the gateway again, as it went in.
    back = parley(target, "export", "pubnub", *options(target, "--channel", "named only"))
    assert sorted(back.splitlines()) == sorted(lines.splitlines())


def test_a_later_run_moves_what_has_come_since(source, target, tmp_path):
    texts, _ = fill(source)
    state = ["--state", str(tmp_path / "state.json")]
    parley(target, "import", "pubnub", *options(source, *state))
    source.publish("room.1", {"type": "text", "text": "late"})
    source.act("room.1", texts[2], "reactions", "-1", "bob")
    told = parley(target, "import", "pubnub", *options(source, *state, "--without", "users", "--without", "memberships",
                                                       "--without", "groups", "--without", "channels"))
    assert told.startswith("1 message, ") and "(1 attached to existing messages), 0 rejected" in told
    assert target.history("room.1") == source.history("room.1")


def test_invitations_and_read_marks_are_moved_as_the_facts_they_are(source, target):
    texts, _ = fill(source)
    source.ask("PATCH", "/v2/objects/demo/uuids/cy/channels", {"set": [{
        "channel": {"id": "room.1"}, "status": "pending", "custom": {"mood": "calm"}}]})
    parley(target, "import", "pubnub", *options(source))
    assert target.records() == source.records()
    members = target.gateway.call("GET", "/v1/channels/room.1/members").json()["data"]
    assert [(member["user"], member["state"], member["custom"]) for member in members] == [
        ("ana", "joined", None), ("cy", "invited", {"mood": "calm"})]
    assert members[0]["read_timetoken"] == texts[5]
    assert target.gateway.call("GET", "/v1/channels/quiet/members/ana/unread").json() == {"unread_count": 0}


def test_nobody_is_told_of_what_is_imported(source, target, receiver):
    fill(source)
    target.gateway.call("POST", "/v1/webhooks", {"url": receiver.url, "types": ["*", "member.*", "user.*"]})
    cursor = target.gateway.call("GET", "/v1/poll?channel=room.1&channel=ana").json()["cursor"]
    now = target.ask("GET", "/v2/subscribe/demo/room.1,ana/0", tt=0)["t"]["t"]
    parley(target, "import", "pubnub", *options(source))
    target.gateway.emit("room.1", {"n": 1})
    assert json.loads(receiver.requests.get(timeout=20)[1])["type"] == "order.paid"
    assert receiver.requests.empty()
    polled = target.gateway.call("GET", f"/v1/poll?channel=room.1&channel=ana&cursor={cursor}").json()["data"]
    assert [event["type"] for event in polled] == ["order.paid"]
    assert len(target.ask("GET", "/v2/subscribe/demo/room.1,ana/0", tt=now)["m"]) == 1
    assert len(target.history("room.1")) == 3, "it is in history all the same"


def test_what_was_moved_survives_a_kill(source, target):
    _, channels = fill(source)
    parley(target, "import", "pubnub", *options(source, "--channel", "named only"))
    target.gateway.kill()
    target.gateway.start()
    assert [target.history(channel) for channel in channels] == [source.history(channel) for channel in channels]

"""A conversation between two users: ben's client is PubNub's SDK, ana's is REST with a token of her own. After each step both
sides show the same facts (`docs/pubnub-migration.md`, "The same fact on both sides")."""

import json
import time

import pytest
import requests
from pubnub.models.consumer.message_actions import PNMessageAction
from pubnub.models.consumer.objects_v2.common import MemberIncludes
from pubnub.models.consumer.objects_v2.memberships import PNChannelMembership
from pubnub.pubnub import PubNub

from test_pubnub import fetch, publish, settings

ROOM = "room.1"


class Native:
    """A user of the native interface, with a token and a device that polls."""

    def __init__(self, gateway, user):
        asked = {"user": user, "scopes": ["read", "emit"], "channels": ["room.*", user]}
        self.gateway, self.user = gateway, user
        self.token = gateway.call("POST", "/v1/tokens", asked).json()["token"]
        self.cursor = None
        self.news()

    def call(self, method, path, body=None, status=(200, 201, 204)):
        answer = self.gateway.call(method, "/v1" + path, body, key=self.token)
        assert answer.status_code in status, answer.text
        return answer.json() if answer.content else None

    def news(self, *subjects):
        """What the device was told since it last asked, by type; a message of its own ends the wait."""
        place = {"channel": [ROOM, self.user], "user": self.user}
        if self.cursor is None:
            self.cursor = requests.get(
                self.gateway.url + "/v1/poll", place, headers={"Authorization": f"Bearer {self.token}"}, timeout=20
            ).json()["cursor"]
            return []
        told = []
        self.gateway.emit(self.user, {"end": True}, type="test.end")
        while not any(event["type"] == "test.end" for event in told):
            answer = requests.get(
                self.gateway.url + "/v1/poll", {**place, "cursor": self.cursor},
                headers={"Authorization": f"Bearer {self.token}"}, timeout=40).json()
            self.cursor = answer["cursor"]
            told += answer["data"]
        return [event for event in told if event["type"].split(".")[0] in subjects]

    def member(self, user):
        return self.call("GET", f"/channels/{ROOM}/members/{user}")

    def unread(self, user):
        return self.gateway.call("GET", f"/v1/channels/{ROOM}/members/{user}/unread").json()["unread_count"]


class Wire:
    """A user of PubNub's SDK. What its subscription brings is read off the poll itself: the SDK's thread ends with the first
    object it tells of."""

    def __init__(self, gateway, user):
        self.gateway, self.user = gateway, user
        self.sdk = PubNub(settings(gateway, user))
        self.cursor = self.poll(0)["t"]["t"]

    def poll(self, cursor):
        return requests.get(
            f"{self.gateway.url}/v2/subscribe/demo/{ROOM},{self.user}/0",
            {"tt": cursor, "tr": 1, "uuid": self.user}, timeout=40).json()

    def news(self):
        """The items since the last time, as (channel, e, who, payload); a publish ends the wait."""
        publish(self.sdk, self.user, "end", should_store=False)
        told = []
        while not any(payload == "end" for _, _, _, payload in told):
            answer = self.poll(self.cursor)
            self.cursor = answer["t"]["t"]
            told += [(item["c"], item.get("e", 0), item.get("i"), item["d"]) for item in answer["m"]]
        return [item for item in told if item[3] != "end"]

    def signal(self, payload):
        self.sdk.signal().channel(ROOM).message(payload).sync()

    def set_own(self, **fields):
        return self.sdk.set_memberships().uuid(self.user).channel_memberships(
            [PNChannelMembership(ROOM, **fields)]).include_custom(True).sync().result.data

    def members(self):
        """The members of the room as SDKs see them, by user."""
        found = self.sdk.get_channel_members().channel(ROOM).include(
            MemberIncludes(custom=True, status=True)).sync().result.data
        return {item["uuid"]["id"]: item for item in found}

    def unread(self, since):
        return self.sdk.message_counts().channel(ROOM).channel_timetokens([int(since)]).sync().result.channels[ROOM]

    def react(self, place, type, value):
        action = PNMessageAction({
            "type": type, "value": value, "messageTimetoken": str(place), "uuid": self.user, "actionTimetoken": "0"})
        return self.sdk.add_message_action().channel(ROOM).message_action(action).sync().result


def kinds(items, kind):
    return [item for item in items if item[1] == kind]


def memberships(items):
    """(channel, event, user, status) of what is told of memberships."""
    return [
        (channel, payload["event"], payload["data"]["uuid"]["id"], payload["data"].get("status"))
        for channel, _, _, payload in kinds(items, 2) if payload["type"] == "membership"]


def types(events):
    return [event["type"] for event in events]


@pytest.fixture
def two(gateway):
    ana = Native(gateway, "ana")
    ana.call("POST", "/channels", {"id": ROOM, "kind": "group", "name": "Room"})
    return ana, Wire(gateway, "ben")


def test_a_conversation_is_the_same_on_both_sides(gateway, two):
    ana, ben = two
    ana.news()

    # ana invites, natively
    ana.call("POST", f"/channels/{ROOM}/invites", {"users": ["ben"]})
    assert ana.member("ben")["state"] == "invited"
    assert ben.members()["ben"]["status"] == "pending"
    told = ben.news()
    assert memberships(told) == [(ROOM, "set", "ben", "pending"), ("ben", "set", "ben", "pending")]
    assert [(channel, payload["channelId"]) for channel, _, _, payload in kinds(told, 0)] == [("ben", ROOM)]
    ana.news()

    # ben accepts, on the wire
    ben.set_own()
    assert ana.member("ben")["state"] == "joined"
    assert ben.members()["ben"]["status"] is None
    assert types(ana.news("member")) == ["member.joined"]
    assert memberships(ben.news()) == [(ROOM, "set", "ben", None), ("ben", "set", "ben", None)]

    # ben types, on the wire, and stops
    ben.signal({"type": "typing", "value": True})
    (started,) = ana.news("typing")
    assert started["type"] == "typing.started"
    assert [user["user_id"] for user in started["data"]["typing_users"]] == ["ben"]
    ben.signal({"type": "typing", "value": False})
    (stopped,) = ana.news("typing")
    assert (stopped["type"], stopped["data"]["typing_users"]) == ("typing.stopped", [])
    assert [payload["value"] for _, _, _, payload in kinds(ben.news(), 1)] == [True, False]

    # ana types, natively
    ana.call("PUT", f"/channels/{ROOM}/typing/ana")
    ana.call("DELETE", f"/channels/{ROOM}/typing/ana")
    assert [(who, payload["type"], payload["value"]) for _, _, who, payload in kinds(ben.news(), 1)] == [
        ("ana", "typing", True), ("ana", "typing", False)]

    # ana writes and mentions ben
    said = ana.call("POST", f"/channels/{ROOM}/messages", {"text": "hello @ben", "mentions": ["ben"]})["timetoken"]
    told = ben.news()
    texts = [payload for channel, _, _, payload in kinds(told, 0) if channel == ROOM]
    mentions = [payload for channel, _, _, payload in kinds(told, 0) if channel == "ben"]
    assert [payload["text"] for payload in texts] == ["hello @ben"]
    assert [(payload["type"], payload["messageTimetoken"]) for payload in mentions] == [("mention", said)]
    assert [item.message["text"] for item in fetch(ben.sdk, ROOM)[ROOM]] == ["hello @ben"]
    assert (ana.unread("ben"), ben.unread(0)) == (1, 1)
    ana.news()

    # ben reads, as a Chat SDK does: the membership, then the signal
    ben.set_own(custom={"lastReadMessageTimetoken": said})
    ben.signal({"type": "receipt", "messageTimetoken": said})
    assert ana.member("ben")["read_timetoken"] == said
    mark = ben.members()["ben"]["custom"]["lastReadMessageTimetoken"]
    assert (mark, ana.unread("ben"), ben.unread(mark)) == (said, 0, 0)
    (receipt,) = ana.news("receipt")
    assert (receipt["data"]["user_id"], receipt["data"]["last_read_timetoken"]) == ("ben", said)
    told = ben.news()
    assert [channel for channel, *_ in memberships(told)] == [ROOM, "ben"]
    assert [payload["messageTimetoken"] for _, _, _, payload in kinds(told, 1)] == [said]

    # ben writes and mentions ana, as a Chat SDK does: the text, then the mention
    answer = str(publish(ben.sdk, ROOM, {"type": "text", "text": "hi @ana", "files": []}))
    publish(ben.sdk, "ana", {"type": "mention", "messageTimetoken": answer, "channel": ROOM})
    told = ana.news("message", "user")
    assert types(told) == ["message.created", "user.mentioned"]
    assert told[0]["data"]["text"] == "hi @ana"
    assert (told[1]["data"]["message_timetoken"], told[1]["data"]["mentioned_by_user_id"]) == (answer, "ben")
    assert ana.unread("ana") == 1

    # ana reads, natively
    ana.call("PUT", f"/channels/{ROOM}/members/ana/read", {"timetoken": answer})
    assert ben.members()["ana"]["custom"]["lastReadMessageTimetoken"] == answer
    told = ben.news()
    assert [(who, payload["messageTimetoken"]) for _, _, who, payload in kinds(told, 1)] == [("ana", answer)]
    assert [channel for channel, *_ in memberships(told)] == [ROOM]

    # both react
    ben.react(said, "reactions", "+1")
    ana.call("PUT", f"/channels/{ROOM}/messages/{answer}/reactions/heart")
    natively = {message["timetoken"]: message.get("reactions") for message in
                ana.call("GET", f"/channels/{ROOM}/messages")["data"]}
    wire = {str(item.timetoken): item.actions for item in fetch(ben.sdk, ROOM, include_message_actions=True)[ROOM]}
    for place, value, user in [(said, "+1", "ben"), (answer, "heart", "ana")]:
        assert value in json.dumps(natively[place])
        assert [action["uuid"] for action in wire[place]["reactions"][value]] == [user]

    # both edit
    ana.call("PATCH", f"/channels/{ROOM}/messages/{said}", {"text": "hello, ben"})
    ben.react(answer, "edited", "hi, ana")
    natively = {message["timetoken"]: message["data"]["text"] for message in
                ana.call("GET", f"/channels/{ROOM}/messages")["data"]}
    wire = {str(item.timetoken): item.actions for item in fetch(ben.sdk, ROOM, include_message_actions=True)[ROOM]}
    assert natively == {said: "hello, ben", answer: "hi, ana"}
    assert list(wire[said]["edited"]) == ["hello, ben"] and list(wire[answer]["edited"]) == ["hi, ana"]
    ana.news()
    ben.news()

    # ben leaves, on the wire
    ben.sdk.remove_memberships().uuid("ben").channel_memberships([PNChannelMembership.channel(ROOM)]).sync()
    (left,) = ana.news("member")
    assert (left["type"], left["data"]["reason"]) == ("member.left", "LEFT_BY_OWN_CHOICE")
    assert list(ben.members()) == ["ana"]
    assert [member["user"] for member in ana.call("GET", f"/channels/{ROOM}/members")["data"]] == ["ana"]
    assert [item[:3] for item in memberships(ben.news())] == [(ROOM, "delete", "ben"), ("ben", "delete", "ben")]


def test_who_vanishes_while_typing_on_the_wire_has_stopped(gateway, two):
    ana, ben = two
    gateway.call("PUT", f"/v1/channels/{ROOM}/members/ben")
    ana.news()
    ben.signal({"type": "typing", "value": True})
    assert types(ana.news("typing")) == ["typing.started"]
    end, told = time.monotonic() + 20, []
    while not told and time.monotonic() < end:
        told = types(ana.news("typing"))
    assert told == ["typing.stopped"]
    assert [(who, payload["value"]) for _, _, who, payload in kinds(ben.news(), 1)] == [("ben", True), ("ben", False)]


def test_an_invitation_of_a_chat_sdk_is_one_natively(gateway, two):
    ana, ben = two
    gateway.call("PUT", f"/v1/channels/{ROOM}/members/ben")
    cy = Native(gateway, "cy")
    cy.news()
    # The calls of the SDK's `invite`.
    ben.sdk.set_memberships().uuid("cy").channel_memberships([PNChannelMembership(ROOM, status="pending")]).sync()
    now = str(ben.sdk.time().sync().result)
    ben.sdk.set_memberships().uuid("cy").channel_memberships(
        [PNChannelMembership(ROOM, custom={"lastReadMessageTimetoken": now})]).sync()
    publish(ben.sdk, "cy", {"type": "invite", "channelType": "group", "channelId": ROOM})
    told = cy.news("member")
    assert sorted((event["type"], event["channel"]) for event in told) == [
        ("member.invited", "cy"), ("member.invited", ROOM)]
    assert cy.member("cy")["state"] == "invited" and cy.member("cy")["inviter"] == "ben"
    assert ben.members()["cy"]["status"] == "pending"
    cy.call("POST", f"/channels/{ROOM}/invites/cy/accept")
    assert ben.members()["cy"]["status"] is None
    assert memberships(ben.news())[-1] == (ROOM, "set", "cy", None)

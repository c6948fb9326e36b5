"""A conversation between two users: ben's client is PubNub's SDK, ana's is REST with a token of her own. After each step both
sides show the same facts (`docs/pubnub-migration.md`, "The same fact on both sides")."""

import time
from collections import Counter

import pytest
import requests
from pubnub.exceptions import PubNubException
from pubnub.models.consumer.message_actions import PNMessageAction
from pubnub.models.consumer.objects_v2.channel_members import PNUUID
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
        self.cursor = self.poll()["cursor"]
        self.threads = set()

    def call(self, method, path, body=None, status=(200, 201, 204)):
        answer = self.gateway.call(method, "/v1" + path, body, key=self.token)
        assert answer.status_code in status, answer.text
        return answer.json() if answer.content else None

    def poll(self, **place):
        """The answer of one poll of the user's device."""
        return requests.get(
            self.gateway.url + "/v1/poll", {"channel": [ROOM, self.user], "user": self.user, **place},
            headers={"Authorization": f"Bearer {self.token}"}, timeout=40).json()

    def news(self):
        """The device's events since the last time, but for those of presence and counts, which the wire has in a form of its
        own or not at all; an event of the test ends the wait."""
        self.gateway.emit(self.user, {"end": True}, type="test.end")
        events = []
        while not any(event["type"] == "test.end" for event in events):
            answer = self.poll(cursor=self.cursor)
            self.cursor = answer["cursor"]
            events += answer["data"]
        own = ("test", "presence", "unread_count", "channel.member_count")
        return [event for event in events if not event["type"].startswith(own)]

    def heard(self):
        """The facts of these events, in the form that `Wire.heard` has as well."""
        return [fact for event in self.news() for fact in self.facts(event)]

    def facts(self, event):
        data, place = event["data"], event.get("timetoken")
        match event["type"]:
            case "member.invited":
                return [(event["channel"], "member", user["id"], "invited") for user in data["invitees"]]
            case "member.joined":
                return [(event["channel"], "member", user["id"], "joined") for user in data["users"]]
            case "member.left" | "member.declined":
                return [(event["channel"], "member", data["user"]["id"], None)]
            case "typing.started" | "typing.stopped":
                return [(ROOM, "typing", *sorted(user["id"] for user in data["typing_users"]))]
            case "message.created":
                return [(ROOM, "message", place, event["user"], data["text"])]
            case "thread.updated":
                name = data["thread"]["channel"]
                new = name not in self.threads
                self.threads.add(name)
                return [(ROOM, "thread", data["thread_of"], name)] if new else []
            case "user.mentioned":
                return [(self.user, "mention", data["message"]["timetoken"], data["message"]["user"])]
            case "reaction.added" | "reaction.removed":
                return [(ROOM, event["type"], data["reaction"]["message_timetoken"], data["reaction"]["value"], data["user"]["id"])]
            case "message.updated":
                return [(ROOM, "edit", data["message"]["timetoken"], data["message"]["data"]["text"])]
            case "message.deleted":
                return [(ROOM, "deletion", data["message"]["timetoken"])]
            case "receipt.read":
                return [(ROOM, "read", data["user"]["id"], data["read_timetoken"])]
            case "user.muted" | "user.banned":
                return [(data["user"]["id"], "restriction", ROOM, event["type"][5:], data["restriction"]["reason"])]
            case "user.unmuted" | "user.unbanned":
                return [(data["user"]["id"], "restriction", ROOM, "lifted", None)]
            case "channel.frozen" | "channel.unfrozen":
                return [(ROOM, "channel")]
        return [(event["channel"], event["type"])]

    def member(self, user):
        return self.call("GET", f"/channels/{ROOM}/members/{user}")

    def view(self):
        """Every fact of the table that can be asked for, in the form that `Wire.view` has as well. Facts about other users
        that are not for every member come by the app's key."""
        def get(path):
            return self.gateway.call("GET", "/v1" + path).json()

        def page(path):
            return get(path)["data"]

        members = page(f"/channels/{ROOM}/members")
        messages = page(f"/channels/{ROOM}/messages")
        threads = {message["timetoken"]: message["thread"]["channel"] for message in messages if message["thread"]}
        replies = {}
        for message in messages:
            if message["thread"]:
                found = page(f"/channels/{ROOM}/messages/{message['timetoken']}/thread")
                assert len(found) == message["thread"]["reply_count"]
                replies[message["thread"]["channel"]] = {reply["timetoken"]: reply["data"]["text"] for reply in found}
        reactions = {
            (message["timetoken"], action["value"], action["user"]) for message in messages
            for action in page(f"/channels/{ROOM}/messages/{message['timetoken']}/reactions")}
        for message in messages:
            assert message["reactions"] == Counter(value for place, value, _ in reactions if place == message["timetoken"])
        return {
            "members": {member["user"]: member["state"] for member in members},
            "marks": {member["user"]: member["read_timetoken"] for member in members if member["read_timetoken"]},
            "unread": {
                member["user"]: get(f"/channels/{ROOM}/members/{member['user']}/unread")["unread_count"]
                for member in members if member["state"] == "joined"},
            "texts": {message["timetoken"]: (message["user"], message["data"]["text"]) for message in messages
                      if not message["thread_of"] and not message["deleted"]},
            "threads": threads,
            "replies": replies,
            "reactions": reactions,
            "restrictions": {item["user"]: (item["ban"], item["mute"], item["reason"])
                             for item in page(f"/channels/{ROOM}/restrictions")},
            "channel": get(f"/channels/{ROOM}")["name"],
            "users": {user["id"]: user["name"] for user in page("/users")},
        }


class Wire:
    """A user of PubNub's SDK. What its subscription brings is read off the poll itself: the SDK's thread ends with the first
    object it tells of."""

    def __init__(self, gateway, user):
        self.gateway, self.user = gateway, user
        self.sdk = PubNub(settings(gateway, user))
        self.moderator = PubNub(settings(gateway, "mo", secret_key="demo-secret"))
        self.moderation = f"PUBNUB_INTERNAL_MODERATION.{user}"
        self.states, self.typing = {}, set()
        self.cursor = self.poll(0)["t"]["t"]

    def poll(self, cursor):
        # A Chat SDK subscribes to the channels of threads by their names, which a wildcard has as well.
        names = f"{ROOM},{self.user},{self.moderation},PUBNUB_INTERNAL_THREAD_room.*"
        return requests.get(
            f"{self.gateway.url}/v2/subscribe/demo/{names}/0",
            {"tt": cursor, "tr": 1, "uuid": self.user}, timeout=40).json()

    def news(self):
        """The items since the last time, as (channel, e, who, payload, timetoken); a publish ends the wait."""
        publish(self.sdk, self.user, "end", should_store=False)
        items = []
        while not any(item[3] == "end" for item in items):
            answer = self.poll(self.cursor)
            self.cursor = answer["t"]["t"]
            items += [(item["c"], item.get("e", 0), item.get("i"), item["d"], item["p"]["t"]) for item in answer["m"]]
        return [item for item in items if item[3] != "end"]

    def heard(self):
        """The facts of these items, in the form that `Native.heard` has as well."""
        return [fact for item in self.news() for fact in self.facts(*item)]

    def facts(self, channel, kind, who, payload, place):
        if kind == 0 and payload["type"] == "mention":
            return [(channel, "mention", payload["messageTimetoken"], who)]
        if kind == 0 and payload["type"] == "moderation":
            return [(self.user, "restriction", ROOM, payload["restriction"], payload.get("reason"))]
        if kind == 0 and payload["type"] == "invite":
            return []  # beside the membership, which says the same
        if kind == 0:
            return [(ROOM, "message", place, who, payload["text"])]
        if kind == 1 and payload["type"] == "typing":
            (self.typing.add if payload["value"] else self.typing.discard)(who)
            return [(ROOM, "typing", *sorted(self.typing))]
        if kind == 1:
            return [(ROOM, "read", who, payload["messageTimetoken"])]
        if kind == 3:
            data = payload["data"]
            match data["type"]:
                case "reactions":
                    return [(ROOM, f"reaction.{payload['event']}", data["messageTimetoken"], data["value"], who)]
                case "edited":
                    return [(ROOM, "edit", data["messageTimetoken"], data["value"])]
                case "deleted":
                    return [(ROOM, "deletion", data["messageTimetoken"])]
                case "threadRootId":
                    return [(ROOM, "thread", data["messageTimetoken"], data["value"])]
        if payload["type"] == "membership":
            user = payload["data"]["uuid"]["id"]
            state = state_of(payload["data"]) if payload["event"] == "set" else None
            known = self.states.get((channel, user))
            self.states[channel, user] = state
            # A read mark changes the membership as well, and its signal says so.
            return [(channel, "member", user, state)] if state != known else []
        return [(channel, payload["type"])]

    def signal(self, payload):
        self.sdk.signal().channel(ROOM).message(payload).sync()

    def set_own(self, **fields):
        return self.sdk.set_memberships().uuid(self.user).channel_memberships(
            [PNChannelMembership(ROOM, **fields)]).include_custom(True).sync().result.data

    def restrict(self, user, **custom):
        """What a Chat SDK does to restrict a user: it needs the secret key."""
        beside, own = f"PUBNUB_INTERNAL_MODERATION_{ROOM}", f"PUBNUB_INTERNAL_MODERATION.{user}"
        if custom:
            self.moderator.set_channel_metadata().channel(beside).sync()
            self.moderator.set_channel_members().channel(beside).uuids([PNUUID.uuid_with_custom(user, custom)]).sync()
            word = "banned" if custom["ban"] else "muted"
        else:
            self.moderator.remove_channel_members().channel(beside).uuids([PNUUID.uuid(user)]).sync()
            word = "lifted"
        publish(self.moderator, own, {
            "type": "moderation", "channelId": beside, "restriction": word, "reason": custom.get("reason")})

    def members(self, channel=ROOM):
        """The members of the room as SDKs see them, by user."""
        found = self.moderator.get_channel_members().channel(channel).include(
            MemberIncludes(custom=True, status=True)).sync().result.data
        return {item["uuid"]["id"]: item for item in found}

    def unread(self, channel, since):
        return self.sdk.message_counts().channel(channel).channel_timetokens([int(since)]).sync().result.channels[channel]

    def unread_by(self, user, mark, channels, items):
        """The unread messages of the room and of its threads. Message counts hold the user's own messages, and those
        deleted softly, as well."""
        own = sum((item.uuid == user or "deleted" in (item.actions or {})) and int(item.timetoken) > int(mark)
                  for item in items)
        return sum(self.unread(channel, mark) for channel in channels) - own

    def view(self):
        """Every fact of the table that SDKs can ask for, in the form that `Native.view` has as well."""
        members = self.members()
        marks = {user: item["custom"]["lastReadMessageTimetoken"] for user, item in members.items()
                 if (item["custom"] or {}).get("lastReadMessageTimetoken")}
        actions = self.sdk.get_message_actions().channel(ROOM).sync().result.actions
        items = fetch(self.sdk, ROOM, include_message_actions=True, include_uuid=True).get(ROOM, [])
        threads = {str(action.message_timetoken): action.value for action in actions if action.type == "threadRootId"}
        replies, shown = {}, list(items)
        for name in threads.values():
            found = fetch(self.sdk, name, include_message_actions=True, include_uuid=True).get(name, [])
            assert self.unread(name, 1) == len(found)
            replies[name] = {str(item.timetoken): newest(item) for item in found}
            shown += found
        return {
            "members": {user: state_of(item) for user, item in members.items()},
            "marks": marks,
            "unread": {user: self.unread_by(user, marks.get(user, 1), [ROOM, *threads.values()], shown)
                       for user, item in members.items() if state_of(item) == "joined"},
            "texts": {str(item.timetoken): (item.uuid, newest(item)) for item in items
                      if "deleted" not in (item.actions or {})},
            "threads": threads,
            "replies": replies,
            "reactions": {
                (str(item.timetoken), value, action["uuid"]) for item in shown
                for value, given in (item.actions or {}).get("reactions", {}).items() for action in given},
            "restrictions": {
                user: (item["custom"]["ban"], item["custom"]["mute"], item["custom"].get("reason"))
                for user, item in self.members(f"PUBNUB_INTERNAL_MODERATION_{ROOM}").items()},
            "channel": self.sdk.get_channel_metadata().channel(ROOM).sync().result.data["name"],
            "users": {user["id"]: user["name"] for user in self.sdk.get_all_uuid_metadata().sync().result.data},
        }

    def react(self, place, type, value, channel=ROOM):
        action = PNMessageAction({
            "type": type, "value": value, "messageTimetoken": str(place), "uuid": self.user, "actionTimetoken": "0"})
        return self.sdk.add_message_action().channel(channel).message_action(action).sync().result


def state_of(item):
    return "invited" if item["status"] == "pending" else "joined"


def newest(item):
    """The text of a message as a Chat SDK shows it: that of its last edit."""
    edits = (item.actions or {}).get("edited", {})
    return list(edits)[-1] if edits else item.message["text"]


@pytest.fixture
def two(gateway):
    gateway.call("PUT", "/v1/users/ana", {"name": "Ana"})
    ana = Native(gateway, "ana")
    ana.call("POST", "/channels", {"id": ROOM, "kind": "group", "name": "Room"})
    return ana, Wire(gateway, "ben")


def test_a_conversation_is_the_same_on_both_sides(gateway, two):
    ana, ben = two
    ben.states[ROOM, "ana"] = "joined"

    def same(*facts, natively=None):
        """Both users have heard these facts of the room, each once and in this order, or ana those of `natively`; and both
        sides now show the same. Returns the facts that either heard on other channels."""
        heard, wired = ana.heard(), ben.heard()
        assert [fact for fact in wired if fact[0] == ROOM] == list(facts)
        assert [fact for fact in heard if fact[0] == ROOM] == list(facts if natively is None else natively)
        assert ana.view() == ben.view()
        return [fact for fact in heard + wired if fact[0] != ROOM]

    assert ana.view() == ben.view()
    ana.news()
    ben.news()

    # Natively ana invites, and on the wire ben accepts.
    ana.call("POST", f"/channels/{ROOM}/invites", {"users": ["ben"]})
    assert same((ROOM, "member", "ben", "invited")) == [("ben", "member", "ben", "invited")]
    assert ben.view()["members"] == {"ana": "joined", "ben": "invited"}
    ben.set_own()
    assert same((ROOM, "member", "ben", "joined")) == [("ben", "member", "ben", "joined")]

    # Each types, and stops. ana's own devices do not hear that she does.
    ben.signal({"type": "typing", "value": True})
    assert same((ROOM, "typing", "ben")) == []
    ana.call("PUT", f"/channels/{ROOM}/typing/ana")
    assert same((ROOM, "typing", "ana", "ben"), natively=[]) == []
    ben.signal({"type": "typing", "value": False})
    assert same((ROOM, "typing", "ana")) == []
    ana.call("DELETE", f"/channels/{ROOM}/typing/ana")
    assert same((ROOM, "typing"), natively=[]) == []

    # Natively ana writes and mentions ben.
    said = ana.call("POST", f"/channels/{ROOM}/messages", {"text": "hello @ben", "mentions": ["ben"]})["timetoken"]
    assert same((ROOM, "message", said, "ana", "hello @ben")) == [("ben", "mention", said, "ana")]
    assert ben.view()["unread"] == {"ana": 0, "ben": 1}

    # ben reads, as a Chat SDK does: the membership, then the signal.
    ben.set_own(custom={"lastReadMessageTimetoken": said})
    ben.signal({"type": "receipt", "messageTimetoken": said})
    assert same((ROOM, "read", "ben", said)) == []
    assert (ben.view()["marks"], ben.view()["unread"]) == ({"ben": said}, {"ana": 0, "ben": 0})

    # ben writes and mentions ana, as a Chat SDK does: the text, then the mention.
    answer = str(publish(ben.sdk, ROOM, {"type": "text", "text": "hi @ana", "files": []}))
    publish(ben.sdk, "ana", {"type": "mention", "messageTimetoken": answer, "channel": ROOM})
    assert same((ROOM, "message", answer, "ben", "hi @ana")) == [("ana", "mention", answer, "ben")]
    assert ben.view()["unread"] == {"ana": 1, "ben": 0}

    # Natively ana reads.
    ana.call("PUT", f"/channels/{ROOM}/members/ana/read", {"timetoken": answer})
    assert same((ROOM, "read", "ana", answer)) == []
    assert ben.view()["marks"] == {"ana": answer, "ben": said}

    # ben begins a thread, as a Chat SDK does, and ana begins one natively.
    first, second = (f"PUBNUB_INTERNAL_THREAD_{ROOM}_{root}" for root in (said, answer))
    ben.sdk.set_channel_metadata().channel(first).description("Thread").sync()
    ben.react(said, "threadRootId", first)
    reply_1 = str(publish(ben.sdk, first, {"type": "text", "text": "one", "files": []}))
    assert same((ROOM, "thread", said, first), (ROOM, "message", reply_1, "ben", "one")) == [(first, "channel")]
    reply_2 = ana.call("POST", f"/channels/{ROOM}/messages", {"text": "two", "thread_of": answer})["timetoken"]
    reply_3 = ana.call("POST", f"/channels/{ROOM}/messages", {"text": "three", "thread_of": said})["timetoken"]
    assert same((ROOM, "message", reply_2, "ana", "two"), (ROOM, "thread", answer, second),
                (ROOM, "message", reply_3, "ana", "three")) == []
    assert ben.view()["replies"] == {first: {reply_1: "one", reply_3: "three"}, second: {reply_2: "two"}}

    # Both react, to messages and to replies.
    ben.react(said, "reactions", "+1")
    ana.call("PUT", f"/channels/{ROOM}/messages/{answer}/reactions/heart")
    ben.react(reply_2, "reactions", "-1", channel=second)
    ana.call("PUT", f"/channels/{ROOM}/messages/{reply_1}/reactions/wow")
    given = [(said, "+1", "ben"), (answer, "heart", "ana"), (reply_2, "-1", "ben"), (reply_1, "wow", "ana")]
    assert same(*((ROOM, "reaction.added", *reaction) for reaction in given)) == []
    assert ben.view()["reactions"] == set(given)

    # Both edit.
    ana.call("PATCH", f"/channels/{ROOM}/messages/{said}", {"text": "hello, ben"})
    ben.react(answer, "edited", "hi, ana")
    assert same((ROOM, "edit", said, "hello, ben"), (ROOM, "edit", answer, "hi, ana")) == []
    assert ben.view()["texts"] == {said: ("ana", "hello, ben"), answer: ("ben", "hi, ana")}

    # Both delete a message and leave a mark, and ben takes the first reply out of history, which has no event on the wire.
    wrong = str(publish(ben.sdk, ROOM, {"type": "text", "text": "wrong", "files": []}))
    worse = ana.call("POST", f"/channels/{ROOM}/messages", {"text": "worse"})["timetoken"]
    assert same((ROOM, "message", wrong, "ben", "wrong"), (ROOM, "message", worse, "ana", "worse")) == []
    ben.react(wrong, "deleted", "deleted")
    ana.call("DELETE", f"/channels/{ROOM}/messages/{worse}")
    assert same((ROOM, "deletion", wrong), (ROOM, "deletion", worse)) == []
    ben.sdk.delete_messages().channel(first).start(int(reply_1) - 1).end(int(reply_1)).sync()
    assert same(natively=[(ROOM, "deletion", reply_1)]) == []
    assert ben.view()["replies"] == {first: {reply_3: "three"}, second: {reply_2: "two"}}
    assert set(ben.view()["texts"]) == {said, answer}

    # ben is muted natively, which is lifted on the wire; ana on the wire, which is lifted natively.
    gateway.call("PUT", f"/v1/channels/{ROOM}/restrictions/ben", {"mute": True, "reason": "loud"})
    assert same() == 2 * [("ben", "restriction", ROOM, "muted", "loud")]
    assert ben.view()["restrictions"] == {"ben": (False, True, "loud")}
    with pytest.raises(PubNubException) as refused:
        publish(ben.sdk, ROOM, {"type": "text", "text": "while muted"})
    assert refused.value.get_status_code() == 403
    ben.restrict("ben")
    assert same() == 2 * [("ben", "restriction", ROOM, "lifted", None)]
    ben.restrict("ana", ban=False, mute=True, reason="rude")
    assert same() == [("ana", "restriction", ROOM, "muted", "rude")]
    ana.call("POST", f"/channels/{ROOM}/messages", {"text": "while muted"}, status=(403,))
    gateway.call("DELETE", f"/v1/channels/{ROOM}/restrictions/ana")
    assert same() == [("ana", "restriction", ROOM, "lifted", None)]

    # The channel is frozen natively.
    for method in ("PUT", "DELETE"):
        assert gateway.call(method, f"/v1/channels/{ROOM}/freeze").status_code in (200, 204)
        assert same((ROOM, "channel")) == []

    # ben is banned natively, which ends the membership and closes the room to his subscription, and is invited again.
    gateway.call("PUT", f"/v1/channels/{ROOM}/restrictions/ben", {"ban": True, "reason": "spam"})
    banned = same(natively=[(ROOM, "member", "ben", None)])
    assert sorted(banned) == [("ben", "member", "ben", None)] + 2 * [("ben", "restriction", ROOM, "banned", "spam")]
    with pytest.raises(PubNubException):
        publish(ben.sdk, ROOM, {"type": "text", "text": "while banned"})
    ben.restrict("ben")
    assert same() == 2 * [("ben", "restriction", ROOM, "lifted", None)]
    ana.call("POST", f"/channels/{ROOM}/invites", {"users": ["ben"]})
    assert same((ROOM, "member", "ben", "invited")) == [("ben", "member", "ben", "invited")]
    # As a Chat SDK does, which marks as read what was written before.
    ben.set_own()
    ben.set_own(custom={"lastReadMessageTimetoken": worse})
    joined = (ROOM, "member", "ben", "joined")
    assert same(joined, natively=[joined, (ROOM, "read", "ben", worse)]) == [("ben", *joined[1:])]
    assert ben.view()["unread"] == {"ana": 0, "ben": 0}

    # ben takes a name on the wire and ana natively: the wire has it once, on the user's own channel or on the room.
    ben.sdk.set_uuid_metadata().uuid("ben").set_name("Ben").sync()
    assert same() == [("ben", "uuid")]
    assert gateway.call("PATCH", "/v1/users/ana", {"name": "Ana of the room"}).status_code == 200
    assert same((ROOM, "uuid"), natively=[]) == [("ana", "user.updated")]
    assert ben.view()["users"] == {"ana": "Ana of the room", "ben": "Ben"}

    # ben leaves, on the wire.
    ben.sdk.remove_memberships().uuid("ben").channel_memberships([PNChannelMembership.channel(ROOM)]).sync()
    assert same((ROOM, "member", "ben", None)) == [("ben", "member", "ben", None)]
    assert ben.view()["members"] == {"ana": "joined"}


def test_who_vanishes_while_typing_on_the_wire_has_stopped(gateway, two):
    ana, ben = two
    gateway.call("PUT", f"/v1/channels/{ROOM}/members/ben", {})
    ana.news()
    ben.news()
    ben.signal({"type": "typing", "value": True})
    assert ana.heard() == ben.heard() == [(ROOM, "typing", "ben")]
    end, heard = time.monotonic() + 20, []
    while not heard and time.monotonic() < end:
        heard = ana.heard()
    assert heard == ben.heard() == [(ROOM, "typing")]


def test_an_invitation_of_a_chat_sdk_is_one_natively(gateway, two):
    ana, ben = two
    gateway.call("PUT", f"/v1/channels/{ROOM}/members/ben", {})
    cy = Native(gateway, "cy")
    # The calls of the SDK's `invite`.
    ben.sdk.set_memberships().uuid("cy").channel_memberships([PNChannelMembership(ROOM, status="pending")]).sync()
    now = str(ben.sdk.time().sync().result)
    ben.sdk.set_memberships().uuid("cy").channel_memberships(
        [PNChannelMembership(ROOM, custom={"lastReadMessageTimetoken": now})]).sync()
    publish(ben.sdk, "cy", {"type": "invite", "channelType": "group", "channelId": ROOM})
    assert sorted(cy.heard()) == [("cy", "member", "cy", "invited"), (ROOM, "member", "cy", "invited")]
    assert cy.member("cy")["state"] == "invited" and cy.member("cy")["inviter"] == "ben"
    assert ben.members()["cy"]["status"] == "pending"
    cy.call("POST", f"/channels/{ROOM}/invites/cy/accept")
    assert ben.members()["cy"]["status"] is None
    assert ben.heard()[-1] == (ROOM, "member", "cy", "joined")
    assert ana.view() == ben.view()

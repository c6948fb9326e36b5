"""Facts that are changed natively and read by a PubNub SDK, and the other way round: restrictions, edits, threads, users."""

import pytest
from pubnub.models.consumer.message_actions import PNMessageAction
from pubnub.models.consumer.objects_v2.channel_members import PNUUID
from pubnub.pubnub import PubNub

from test_pubnub import fetch, publish, settings
from test_pubnub_chat import listen


@pytest.fixture
def ana(gateway):
    client = PubNub(settings(gateway, "ana", secret_key="demo-secret"))
    yield client
    client.stop()


@pytest.fixture
def bob(gateway):
    client = PubNub(settings(gateway, "bob"))
    yield client
    client.unsubscribe_all()
    client.stop()


def native(gateway, channel, types):
    """What a native reader finds on a channel."""
    page = gateway.call("GET", f"/v1/channels/{channel}/events?limit=100").json()
    return [event for event in page["data"] if event["type"] in types]


def act(client, channel, place, kind, value):
    action = PNMessageAction({
        "type": kind, "value": value, "messageTimetoken": str(place), "uuid": client.uuid, "actionTimetoken": "0"})
    return client.add_message_action().channel(channel).message_action(action).sync().result.action_timetoken


def test_a_native_restriction_reaches_the_user(gateway, bob):
    own = "PUBNUB_INTERNAL_MODERATION.bob"
    listener = listen(bob, [own])
    gateway.call("PUT", "/v1/channels/room/restrictions/bob", {"ban": True, "reason": "spam"})
    told = listener.messages.get(timeout=20)
    assert told.message == {
        "type": "moderation", "channelId": "PUBNUB_INTERNAL_MODERATION_room", "restriction": "banned", "reason": "spam"}
    gateway.call("DELETE", "/v1/channels/room/restrictions/bob")
    assert listener.messages.get(timeout=20).message["restriction"] == "lifted"
    assert native(gateway, own, {"user.banned", "user.unbanned"}) == []


def test_a_restriction_of_an_sdk_is_told_natively_once(gateway, ana):
    beside, own = "PUBNUB_INTERNAL_MODERATION_room", "PUBNUB_INTERNAL_MODERATION.bob"
    ana.set_channel_members().channel(beside).uuids(
        [PNUUID.uuid_with_custom("bob", {"ban": False, "mute": True, "reason": "loud"})]).sync()
    publish(ana, own, {"type": "moderation", "channelId": beside, "restriction": "muted", "reason": "loud"})
    (event,) = native(gateway, "room", {"user.muted"})
    assert (event["data"]["restriction"]["user"], event["data"]["moderator"]["id"]) == ("bob", "ana")
    assert native(gateway, own, {"user.muted"}) == []


def test_edits_of_both_sides_are_listed_in_order(gateway, ana):
    place = publish(ana, "room", {"type": "text", "text": "one"})
    act(ana, "room", place, "edited", "two")
    gateway.call("PATCH", f"/v1/channels/room/messages/{place}", {"text": "three", "by": "ana"})
    act(ana, "room", place, "edited", "four")
    listed = ana.get_message_actions().channel("room").sync().result.actions
    assert [action.value for action in listed] == ["two", "three", "four"]
    (item,) = fetch(ana, "room", include_message_actions=True)["room"]
    assert set(item.actions["edited"]) == {"two", "three", "four"}
    assert gateway.call("GET", f"/v1/channels/room/messages/{place}").json()["data"]["text"] == "four"


def test_a_native_report_names_the_rule(gateway, bob):
    listener = listen(bob, ["PUBNUB_INTERNAL_MODERATION_room"])
    place = gateway.call("POST", "/v1/channels/room/messages", {"text": "buy", "user": "ana"}).json()["timetoken"]
    report = {"reason": "advertising", "auto_moderation_id": "links"}
    assert gateway.call("POST", f"/v1/channels/room/messages/{place}/report", report).status_code == 201
    told = listener.messages.get(timeout=20).message
    assert (told["reportedMessageTimetoken"], told["autoModerationId"]) == (place, "links")


def thread_of(root):
    return f"PUBNUB_INTERNAL_THREAD_room_{root}"


def messages_of(gateway, root):
    """A thread as native readers have it."""
    page = gateway.call("GET", f"/v1/channels/room/messages/{root}/thread").json()
    return [message["data"]["text"] for message in page["data"]]


def test_a_thread_of_an_sdk_is_a_native_one(gateway, ana, bob):
    root = publish(ana, "room", {"type": "text", "text": "hi"})
    # An SDK of a chat does these two before the first reply. The thread of this SDK ends with the first object it is given,
    # so nothing is subscribed to before.
    ana.set_channel_metadata().channel(thread_of(root)).description("Thread").sync()
    act(ana, "room", root, "threadRootId", thread_of(root))
    listener = listen(bob, ["room", thread_of(root)])
    reply = publish(ana, thread_of(root), {"type": "text", "text": "one"})
    told = listener.messages.get(timeout=20)
    assert (told.channel, told.message["text"]) == (thread_of(root), "one")
    assert messages_of(gateway, root) == ["one"]
    native_root = gateway.call("GET", f"/v1/channels/room/messages/{root}").json()
    assert native_root["thread"]["reply_count"] == 1
    assert gateway.call("GET", f"/v1/channels/room/messages/{reply}").json()["thread_of"] == str(root)


def test_a_native_thread_is_one_of_an_sdk(gateway, ana, bob):
    root = publish(ana, "room", {"type": "text", "text": "hi"})
    listener = listen(bob, ["room", thread_of(root)])
    answer = gateway.call("POST", "/v1/channels/room/messages", {"text": "one", "user": "ben", "thread_of": str(root)})
    assert answer.status_code == 201, answer.text
    told = listener.messages.get(timeout=20)
    assert (told.channel, told.publisher, told.message["text"]) == (thread_of(root), "ben", "one")
    named = listener.actions.get(timeout=20)
    assert (named.type, named.value, int(named.message_timetoken)) == ("threadRootId", thread_of(root), root)
    assert [item.message["text"] for item in fetch(ana, "room")["room"]] == ["hi"]
    assert [item.message["text"] for item in fetch(ana, thread_of(root))[thread_of(root)]] == ["one"]
    counts = ana.message_counts().channel(["room", thread_of(root)]).channel_timetokens([1, 1]).sync().result.channels
    assert counts == {"room": 1, thread_of(root): 1}


def test_a_native_change_of_a_user_reaches_the_users_channels(gateway, ana):
    gateway.call("PUT", "/v1/users/ben", {"name": "Ben"})
    ana.set_channel_members().channel("room").uuids([PNUUID.uuid("ben")]).sync()
    for channel in ("room", "ben"):
        # The SDK's thread ends with the first object it is given, so each client waits for one.
        client = PubNub(settings(gateway, f"reader-{channel}"))
        listener = listen(client, [channel])
        gateway.call("PATCH", "/v1/users/ben", {"name": f"Ben of {channel}"})
        told = listener.objects.get(timeout=20)
        assert (told.event, told.data["id"], told.data["name"]) == ("set", "ben", f"Ben of {channel}")
        client.unsubscribe_all()
        client.stop()

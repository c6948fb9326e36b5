"""Facts that are changed natively and read by a PubNub SDK, and the other way round: restrictions, edits, threads, users."""

import pytest
from pubnub.models.consumer.message_actions import PNMessageAction
from pubnub.models.consumer.objects_v2.channel_members import PNUUID
from pubnub.pubnub import PubNub

from test_pubnub import fetch, listen, publish, settings


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
    assert (event["data"]["user_id"], event["data"]["agent"]["user_id"]) == ("bob", "ana")
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

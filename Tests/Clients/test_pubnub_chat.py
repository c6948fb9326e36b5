"""PubNub's own SDK against the gateway: who is there, groups of channels, message actions, and objects."""

from queue import Queue

import pytest
from pubnub.exceptions import PubNubException
from pubnub.models.consumer.v3.channel import Channel
from pubnub.models.consumer.message_actions import PNMessageAction
from pubnub.models.consumer.objects_v2.channel_members import PNUUID
from pubnub.models.consumer.objects_v2.memberships import PNChannelMembership
from pubnub.pubnub import PubNub

from test_pubnub import Listener, fetch, publish, settings


class ChatListener(Listener):
    def __init__(self):
        super().__init__()
        self.presences, self.actions, self.objects = Queue(), Queue(), Queue()

    def presence(self, pubnub, presence):
        self.presences.put(presence)

    def message_action(self, pubnub, action):
        self.actions.put(action)

    def channel(self, pubnub, channel):
        self.objects.put(channel)

    def uuid(self, pubnub, uuid):
        self.objects.put(uuid)

    def membership(self, pubnub, membership):
        self.objects.put(membership)


@pytest.fixture
def ana(gateway):
    return PubNub(settings(gateway, "ana"))


@pytest.fixture
def bob(gateway):
    client = PubNub(settings(gateway, "bob"))
    yield client
    client.unsubscribe_all()
    client.stop()


def listen(client, channels=(), groups=(), presence=False):
    listener = ChatListener()
    client.add_listener(listener)
    call = client.subscribe().channels(list(channels)).channel_groups(list(groups))
    (call.with_presence() if presence else call).execute()
    assert listener.connected.wait(20), "it never connected"
    return listener


def test_presence_is_where_subscribers_are(gateway, ana, bob):
    listener = listen(bob, ["room"], presence=True)
    own = listener.presences.get(timeout=20)
    assert (own.event, own.uuid, own.occupancy, own.channel) == ("join", "bob", 1, "room")
    other = PubNub(settings(gateway, "cy"))
    listen(other, ["room"])
    came = listener.presences.get(timeout=20)
    assert (came.event, came.uuid, came.occupancy) == ("join", "cy", 2)
    here = ana.here_now().channels("room").include_uuids(True).sync().result
    assert [occupant.uuid for occupant in here.channels[0].occupants] == ["bob", "cy"]
    several = ana.here_now().channels(["room", "empty"]).sync().result
    assert (several.total_channels, several.total_occupancy) == (1, 2)
    assert ana.where_now().uuid("cy").sync().result.channels == ["room"]
    other.set_state().channels("room").state({"mood": "busy"}).sync()
    change = listener.presences.get(timeout=20)
    assert (change.event, change.uuid, change.state) == ("state-change", "cy", {"mood": "busy"})
    assert ana.get_state().channels("room").uuid("cy").sync().result.channels == {"room": {"mood": "busy"}}
    other.unsubscribe_all()
    gone = listener.presences.get(timeout=20)
    other.stop()  # not before: what it has not sent by then it never will
    assert (gone.event, gone.uuid, gone.occupancy) == ("leave", "cy", 1)


def test_groups_of_channels_are_followed(ana, bob):
    ana.add_channel_to_channel_group().channel_group("g").channels(["a", "b"]).sync()
    listener = listen(bob, groups=["g"])
    publish(ana, "b", 1)
    message = listener.messages.get(timeout=20)
    assert (message.message, message.channel, message.subscription) == (1, "b", "g")
    ana.add_channel_to_channel_group().channel_group("g").channels(["c"]).sync()
    publish(ana, "c", 2)
    assert listener.messages.get(timeout=20).message == 2
    assert ana.list_channels_in_channel_group().channel_group("g").sync().result.channels == ["a", "b", "c"]
    ana.remove_channel_from_channel_group().channel_group("g").channels(["a"]).sync()
    assert ana.list_channels_in_channel_group().channel_group("g").sync().result.channels == ["b", "c"]
    ana.remove_channel_group().channel_group("g").sync()
    assert ana.list_channels_in_channel_group().channel_group("g").sync().result.channels == []


def test_actions_are_added_listed_and_removed(ana, bob):
    listener = listen(bob, ["room"])
    place = int(publish(ana, "room", {"type": "text", "text": "hi"}))
    action = PNMessageAction({
        "type": "reactions", "value": "smile", "messageTimetoken": str(place), "uuid": "ana", "actionTimetoken": "0"})
    added = ana.add_message_action().channel("room").message_action(action).sync().result
    live = listener.actions.get(timeout=20)
    assert (live.type, live.value, live.action_timetoken) == ("reactions", "smile", added.action_timetoken)
    with pytest.raises(PubNubException) as refusal:
        ana.add_message_action().channel("room").message_action(action).sync()
    assert refusal.value._status_code == 409
    listed = ana.get_message_actions().channel("room").sync().result.actions
    assert [(item.uuid, item.type, item.value) for item in listed] == [("ana", "reactions", "smile")]
    (item,) = fetch(ana, "room", include_message_actions=True)["room"]
    assert item.actions["reactions"]["smile"][0]["uuid"] == "ana"
    ana.remove_message_action().channel("room").message_timetoken(place) \
        .action_timetoken(int(added.action_timetoken)).sync()
    assert listener.actions.get(timeout=20).action_timetoken == added.action_timetoken
    assert ana.get_message_actions().channel("room").sync().result.actions == []


def test_older_history(ana):
    places = [int(publish(ana, "room", number)) for number in range(3)]
    result = ana.history().channel("room").count(2).include_timetoken(True).sync().result
    assert [(item.entry, item.timetoken) for item in result.messages] == [(1, places[1]), (2, places[2])]
    assert (result.start_timetoken, result.end_timetoken) == (places[1], places[2])


def test_users_and_channels_are_objects(gateway, ana, bob):
    # The SDK's thread ends with the first object it tells of, so each listener waits for one.
    listener = listen(bob, ["ana"])
    cy = PubNub(settings(gateway, "cy"))
    other = listen(cy, ["room"])
    made = ana.set_uuid_metadata().uuid("ana").set_name("Ana").email("a@b.c").custom({"n": 1}).include_custom(True).sync()
    assert made.result.data["custom"] == {"n": 1}
    told = listener.objects.get(timeout=20)
    assert (told.event, told.data["name"], told.data["eTag"]) == ("set", "Ana", made.result.data["eTag"])
    ana.set_channel_metadata().channel("room").set_name("Room").description("d").sync()
    assert other.objects.get(timeout=20).data["name"] == "Room"
    cy.unsubscribe_all()
    cy.stop()
    assert ana.get_uuid_metadata().uuid("ana").sync().result.data["email"] == "a@b.c"
    with pytest.raises(PubNubException) as refusal:
        ana.get_uuid_metadata().uuid("nobody").sync()
    assert refusal.value._status_code == 404
    for name in ("b", "c"):
        ana.set_channel_metadata().channel(name).set_name(name).sync()
    page = ana.get_all_channel_metadata().limit(2).include_total_count(True).filter("name LIKE '*'").sync().result
    assert ([item["id"] for item in page.data], page.total_count) == (["b", "c"], 3)
    ana.remove_channel_metadata().channel("b").sync()
    assert [item["id"] for item in ana.get_all_channel_metadata().sync().result.data] == ["c", "room"]


def test_memberships_are_seen_from_both_sides(ana, bob):
    ana.set_channel_metadata().channel("room").set_name("Room").sync()
    ana.set_uuid_metadata().uuid("ana").set_name("Ana").sync()
    listener = listen(bob, ["room"])
    joined = ana.set_memberships().uuid("ana").channel_memberships([PNChannelMembership.channel("room")]).sync().result
    assert [item["channel"]["id"] for item in joined.data] == ["room"]
    told = listener.objects.get(timeout=20)
    assert (told.event, told.data["channel"]["id"], told.data["uuid"]["id"]) == ("set", "room", "ana")
    ana.set_channel_members().channel("room").uuids([PNUUID.uuid("bob")]).sync()
    members = ana.get_channel_members().channel("room").filter("uuid.name LIKE 'a*'").sync().result
    assert [item["uuid"]["id"] for item in members.data] == ["ana"]
    left = ana.remove_memberships().uuid("ana").channel_memberships([PNChannelMembership.channel("room")]).sync().result
    assert left.data == []
    assert [item["uuid"]["id"] for item in ana.get_channel_members().channel("room").sync().result.data] == ["bob"]


def test_tokens_open_what_they_grant(gateway):
    app = gateway.call("GET", "/v1/apps").json()["data"][0]["id"]
    assert gateway.call("PATCH", f"/v1/apps/{app}", {"demand_tokens": True}).status_code == 200
    server = PubNub(settings(gateway, "server", secret_key="demo-secret"))
    publish(server, "room", "signed")
    token = server.grant_token().ttl(15).authorized_uuid("ana").channels([Channel.id("room").read().write()]).sync() \
        .result.token
    parsed = server.parse_token(token)
    assert parsed["authorized_uuid"] == "ana" and parsed["resources"]["channels"]["room"]["write"]
    client = PubNub(settings(gateway, "ana"))
    with pytest.raises(PubNubException) as refusal:
        publish(client, "room", 1)
    assert refusal.value._status_code == 403
    client.set_token(token)
    publish(client, "room", 1)
    assert [item.message for item in fetch(client, "room")["room"]] == ["signed", 1]
    with pytest.raises(PubNubException):
        publish(client, "other", 1)
    server.revoke_token(token).sync()
    gateway.wait_for_all("GET", f"/publish/demo/demo/0/room/0/1?uuid=ana&auth={token}",
                         lambda answer: answer.status_code == 403)
    with pytest.raises(PubNubException) as refusal:
        publish(client, "room", 2)
    assert "revoked" in str(refusal.value)


def test_what_a_moderator_restricts_is_enforced_and_seen(gateway, bob):
    moderator = PubNub(settings(gateway, "ana", secret_key="demo-secret"))
    beside = "PUBNUB_INTERNAL_MODERATION_room"
    listener = listen(bob, ["room", "hall"])
    publish(bob, "room", "before")
    assert listener.messages.get(timeout=20).message == "before"
    # The SDK of a chat does just this, and refuses to without the secret key.
    moderator.set_channel_metadata().channel(beside).sync()
    moderator.set_channel_members().channel(beside).uuids(
        [PNUUID.uuid_with_custom("bob", {"ban": True, "mute": False, "reason": "spam"})]).sync()
    with pytest.raises(PubNubException) as refused:
        publish(bob, "room", "while banned")
    assert refused.value.get_status_code() == 403
    publish(moderator, "room", "unheard")
    publish(moderator, "hall", "heard")
    assert listener.messages.get(timeout=20).message == "heard"
    native = gateway.call("GET", "/v1/channels/room/restrictions/bob").json()
    assert (native["ban"], native["mute"], native["reason"]) == (True, False, "spam")

    gateway.call("PUT", "/v1/channels/room/restrictions/eve", {"mute": True})
    seen = moderator.get_channel_members().channel(beside).include_custom(True).sync().result.data
    assert [(member["uuid"]["id"], member["custom"]["mute"]) for member in seen] == [("bob", False), ("eve", True)]
    own = bob.get_memberships().uuid("eve").include_custom(True).filter(
        "channel.id LIKE 'PUBNUB_INTERNAL_MODERATION_*'").sync().result.data
    assert [membership["channel"]["id"] for membership in own] == [beside]
    moderator.remove_channel_members().channel(beside).uuids([PNUUID.uuid("bob")]).sync()
    publish(bob, "room", "again")

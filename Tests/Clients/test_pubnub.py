"""PubNub's own SDK against the gateway: what it publishes arrives, in order and once, live and from history."""

import asyncio
import json
import threading
from collections import defaultdict
from queue import Queue

import pytest
import requests
from pubnub.callbacks import SubscribeCallback
from pubnub.enums import PNReconnectionPolicy, PNStatusCategory
from pubnub.exceptions import PubNubException
from pubnub.pnconfiguration import PNConfiguration
from pubnub.pubnub import PubNub
from pubnub.pubnub_asyncio import PubNubAsyncio

from conftest import Gateway


def settings(gateway, user, **changes):
    configuration = PNConfiguration()
    configuration.publish_key = "demo"
    configuration.subscribe_key = "demo"
    configuration.user_id = user
    configuration.origin = gateway.address
    configuration.ssl = False
    configuration.reconnect_policy = PNReconnectionPolicy.LINEAR
    configuration.reconnection_interval = 1
    for name, value in changes.items():
        setattr(configuration, name, value)
    return configuration


class Listener(SubscribeCallback):
    """Keeps what it is told."""

    def __init__(self):
        self.messages = Queue()
        self.signals = Queue()
        self.connected = threading.Event()
        self.statuses = Queue()

    def status(self, pubnub, status):
        self.statuses.put(status)
        if status.category in (PNStatusCategory.PNConnectedCategory, PNStatusCategory.PNReconnectedCategory):
            self.connected.set()

    def message(self, pubnub, message):
        self.messages.put(message)

    def signal(self, pubnub, signal):
        self.signals.put(signal)

    def presence(self, pubnub, presence):
        pass


@pytest.fixture
def subscriber(gateway):
    client = PubNub(settings(gateway, "bob"))
    yield client
    client.unsubscribe_all()
    client.stop()


def listen(client, channels):
    listener = Listener()
    client.add_listener(listener)
    client.subscribe().channels(channels).execute()
    assert listener.connected.wait(20), "it never connected"
    return listener


def publish(client, channel, message, **options):
    call = client.publish().channel(channel).message(message)
    for name, value in options.items():
        call = getattr(call, name)(value)
    return call.sync().result.timetoken


def fetch(client, channels, **options):
    call = client.fetch_messages().channels(channels).count(100)
    for name, value in options.items():
        call = getattr(call, name)(value)
    return call.sync().result.channels


PAYLOADS = ["text", 7, 1.5, True, [1, [2]], {"text": "hi", "ä/ö": ["%2F", "+ &?#"]}, {"n": 12345678901234567}]


def test_every_payload_comes_as_it_was_sent(gateway, subscriber):
    listener = listen(subscriber, ["room.1"])
    client = PubNub(settings(gateway, "ana"))
    for number, payload in enumerate(PAYLOADS):
        timetoken = publish(client, "room.1", payload, use_post=number % 2 == 1, meta={"number": number})
        message = listener.messages.get(timeout=20)
        assert message.message == payload
        assert message.timetoken == int(timetoken)
        assert message.publisher == "ana"
        assert message.channel == "room.1"
        assert message.user_metadata == {"number": number}
    items = fetch(client, "room.1", include_meta=True, include_uuid=True, include_message_type=True)["room.1"]
    assert [item.message for item in items] == PAYLOADS
    assert [item.meta for item in items] == [{"number": number} for number in range(len(PAYLOADS))]
    assert {item.uuid for item in items} == {"ana"}


def test_compressed_publishes_arrive(gateway):
    client = PubNub(settings(gateway, "ana"))
    message = {"text": "hello " * 100}
    client.publish().channel("a").message(message).use_post(True).use_compression().sync()
    assert [item.message for item in fetch(client, "a")["a"]] == [message]


def test_threads_publish_and_nothing_is_lost_or_out_of_order(gateway, subscriber):
    listener = listen(subscriber, ["crowd.*"])

    def write(author):
        client = PubNub(settings(gateway, f"user-{author}"))
        for number in range(40):
            publish(client, f"crowd.{author % 3}", {"author": author, "number": number})

    threads = [threading.Thread(target=write, args=(author,)) for author in range(6)]
    for thread in threads:
        thread.start()
    seen, places = defaultdict(list), []
    for _ in range(240):
        message = listener.messages.get(timeout=60)
        seen[message.message["author"]].append(message.message["number"])
        places.append(message.timetoken)
        assert message.subscription == "crowd.*"
    for thread in threads:
        thread.join()
    assert all(numbers == list(range(40)) for numbers in seen.values())
    assert places == sorted(set(places))
    stored = [item.timetoken for items in fetch(subscriber, ["crowd.0", "crowd.1", "crowd.2"]).values() for item in items]
    assert set(map(int, stored)) <= set(places)


def test_signals_fires_and_labels(gateway, subscriber):
    listener = listen(subscriber, ["a"])
    client = PubNub(settings(gateway, "ana"))
    client.fire().channel("a").message("nobody sees it").sync()
    client.signal().channel("a").message({"type": "typing", "value": True}).sync()
    publish(client, "a", {"total": 7}, custom_message_type="order-paid")
    assert listener.signals.get(timeout=20).message == {"type": "typing", "value": True}
    message = listener.messages.get(timeout=20)
    assert message.message == {"total": 7}
    assert message.custom_message_type == "order-paid"
    assert [item.message for item in fetch(client, "a")["a"]] == [{"total": 7}]


def test_a_signal_of_a_chat_sdk_is_a_signal_natively(gateway):
    cursor = gateway.call("GET", "/v1/poll?channel=a").json()["cursor"]
    PubNub(settings(gateway, "ana")).signal().channel("a").message({"type": "custom", "n": 1}).sync()
    (event,) = gateway.call("GET", f"/v1/poll?channel=a&type=signal.sent&cursor={cursor}").json()["data"]
    assert (event["type"], event["ephemeral"], event["data"]) == ("signal.sent", True, {"type": "custom", "n": 1})


def test_a_native_type_is_the_label(gateway, subscriber):
    listener = listen(subscriber, ["a"])
    gateway.emit("a", {"total": 7}, type="order.paid")
    gateway.call("POST", "/v1/channels/a/messages", {"data": {"n": 1}, "custom_type": "a b!"})
    labels = [listener.messages.get(timeout=20).custom_message_type for _ in range(2)]
    assert labels == ["order.paid", "a b!"]


def test_an_app_may_store_on_request_alone(gateway):
    client = PubNub(settings(gateway, "ana"))
    app = gateway.call("PATCH", "/v1/apps/demo", {"store_by_default": False}).json()
    assert app["store_by_default"] is False
    gateway.wait_for_all("GET", "/v1/apps/demo", lambda answer: not answer.json()["store_by_default"])
    publish(client, "a", "passes")
    publish(client, "a", "stays", should_store=True)
    assert [item.message for item in fetch(client, "a")["a"]] == ["stays"]
    gateway.call("POST", "/v1/channels/a/messages", {"text": "native"})
    assert len(fetch(client, "a")["a"]) == 2
    gateway.call("PATCH", "/v1/apps/demo", {"store_by_default": True})
    gateway.wait_for_all("GET", "/v1/apps/demo", lambda answer: answer.json()["store_by_default"])
    publish(client, "a", "stays too")
    assert len(fetch(client, "a")["a"]) == 3


def test_filters_select(gateway):
    client = PubNub(settings(gateway, "bob", filter_expression="lang == 'fr'"))
    try:
        listener = listen(client, ["a"])
        writer = PubNub(settings(gateway, "ana"))
        publish(writer, "a", 1, meta={"lang": "en"})
        publish(writer, "a", 2)
        publish(writer, "a", 3, meta={"lang": "fr"})
        assert listener.messages.get(timeout=20).message == 3
    finally:
        client.unsubscribe_all()
        client.stop()


def test_history_counts_and_deletion(gateway):
    client = PubNub(settings(gateway, "ana"))
    places = [publish(client, "a b", number) for number in range(5)]
    (items,) = fetch(client, "a b").values()
    assert [item.message for item in items] == [0, 1, 2, 3, 4]
    assert [int(item.timetoken) for item in items] == [int(place) for place in places]
    page = fetch(client, "a b", start=int(places[3]), maximum_per_channel=2)
    assert [item.message for items in page.values() for item in items] == [1, 2]
    counts = client.message_counts().channel("a b").channel_timetokens([int(places[1])]).sync().result.channels
    assert counts == {"a b": 3}
    client.delete_messages().channel("a b").start(int(places[1]) - 1).end(int(places[1])).sync()
    (items,) = fetch(client, "a b").values()
    assert [item.message for item in items] == [0, 2, 3, 4]


def test_refusals_are_told_in_words_the_sdk_shows(gateway):
    client = PubNub(settings(gateway, "ana"))
    with pytest.raises(PubNubException) as refusal:
        publish(client, "a*", 1)
    assert refusal.value._status_code == 400 and "Invalid Channel" in str(refusal.value)
    client = PubNub(settings(gateway, "ana", publish_key="another"))
    with pytest.raises(PubNubException) as refusal:
        publish(client, "a", 1)
    assert "Invalid Key" in str(refusal.value)
    client = PubNub(settings(gateway, "ana", subscribe_key="another"))
    with pytest.raises(PubNubException) as refusal:
        publish(client, "a", 1)
    assert "Invalid Subscribe Key" in str(refusal.value)


def test_others_see_what_it_publishes_as_typed_events(gateway, receiver):
    gateway.call("PUT", "/v1/event-types/order-paid", {})
    schema = {"type": "object", "required": ["total"]}
    answer = gateway.call("POST", "/v1/event-types/order-paid/versions", {"schema": schema})
    assert answer.status_code == 201, answer.text
    hook = gateway.call("POST", "/v1/webhooks", {"url": receiver.url, "types": ["order-paid", "typing.started"]})
    assert hook.status_code == 201, hook.text
    stream = requests.get(
        gateway.url + "/v1/stream?channel=a", stream=True, timeout=20,
        headers={"Authorization": "Bearer dev", "Accept": "application/x-ndjson"})
    lines = stream.iter_lines()
    next(lines)
    client = PubNub(settings(gateway, "ana"))
    with pytest.raises(PubNubException) as refusal:
        publish(client, "a", {"amount": 1}, custom_message_type="order-paid")
    assert "Schema violation: #" in str(refusal.value)
    publish(client, "a", {"total": 7}, custom_message_type="order-paid")
    client.signal().channel("a").message({"type": "typing", "value": True}).sync()
    events = []
    while len(events) < 2:
        line = json.loads(next(lines))
        if line.get("type"):
            events.append(line)
    stream.close()
    assert [event["type"] for event in events] == ["order-paid", "typing.started"]
    assert events[0]["schema"] == {"type": "order-paid", "version": 1}
    assert events[1]["data"] == {"user": {"id": "ana"}, "typing_users": [{"id": "ana"}]}
    posts = [json.loads(receiver.requests.get(timeout=20)[1]) for _ in range(2)]
    assert {post["type"] for post in posts} == {"order-paid", "typing.started"}


def test_a_subscriber_misses_nothing_across_a_restart(tmp_path):
    gateway = Gateway(tmp_path / "data").start()
    subscriber = PubNub(settings(gateway, "bob"))
    try:
        listener = listen(subscriber, ["a"])
        writer = PubNub(settings(gateway, "ana"))
        publish(writer, "a", 1)
        assert listener.messages.get(timeout=20).message == 1
        gateway.stop()
        gateway.start()
        for number in (2, 3):
            publish(writer, "a", number)
        assert [listener.messages.get(timeout=60).message for _ in range(2)] == [2, 3]
    finally:
        subscriber.unsubscribe_all()
        subscriber.stop()
        gateway.stop()


def test_asyncio_publishes_and_subscribes(gateway):
    async def talk():
        reader, writer = PubNubAsyncio(settings(gateway, "bob")), PubNubAsyncio(settings(gateway, "ana"))
        connected, messages = asyncio.Event(), asyncio.Queue()

        class AsyncListener(SubscribeCallback):
            def status(self, pubnub, status):
                if status.category == PNStatusCategory.PNConnectedCategory:
                    connected.set()

            def message(self, pubnub, message):
                messages.put_nowait(message.message)

            def presence(self, pubnub, presence):
                pass

        reader.add_listener(AsyncListener())
        reader.subscribe().channels(["a"]).execute()
        await asyncio.wait_for(connected.wait(), 20)
        for number in range(30):
            await writer.publish().channel("a").message(number).future()
        seen = [await asyncio.wait_for(messages.get(), 20) for _ in range(30)]
        items = (await writer.fetch_messages().channels("a").count(100).future()).result.channels["a"]
        reader.unsubscribe_all()
        await asyncio.sleep(0)
        await reader.stop()
        await writer.stop()
        return seen, [item.message for item in items]

    assert asyncio.run(talk()) == (list(range(30)), list(range(30)))

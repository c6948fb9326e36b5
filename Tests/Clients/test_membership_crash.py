"""Members, counts and what is told of them agree after a kill, wherever among its steps it came.

PARLEY_CRASH_ROUNDS: how often the gateway is killed (5). PARLEY_CRASH_SEED: repeats the choices of a run that failed.
"""

import os
import random
import threading

import requests

from conftest import Gateway
from test_restart import pages

ROUNDS = int(os.environ.get("PARLEY_CRASH_ROUNDS", "5"))
SEED = int(os.environ.get("PARLEY_CRASH_SEED") or random.SystemRandom().randrange(1 << 32))
CHANNELS = [f"crew.{n}" for n in range(3)]
USERS = [f"user{n}" for n in range(40)]
WORKERS = 6


def step(gateway, session, choice):
    """One call of many kinds: mostly comings and goings, now and then the end of a channel with all its members."""
    channel, user = choice.choice(CHANNELS), choice.choice(USERS)
    path = f"/v1/channels/{channel}"
    verb = choice.choices(["join", "leave", "ban", "lift", "delete", "make"], [40, 20, 8, 8, 2, 6])[0]
    method, path, body = {
        "join": ("PUT", f"{path}/members/{user}", {}),
        "leave": ("DELETE", f"{path}/members/{user}", None),
        "ban": ("PUT", f"{path}/restrictions/{user}", {"ban": True}),
        "lift": ("DELETE", f"{path}/restrictions/{user}", None),
        "delete": ("DELETE", path, None),
        "make": ("POST", "/v1/channels", {"kind": "public", "id": channel, "users": choice.sample(USERS, 20)}),
    }[verb]
    answer = session.request(method, gateway.url + path, json=body, timeout=20,
                             headers={"Authorization": f"Bearer {gateway.key}"})
    # Refused for what is there (banned, no record, made already), and never for want of strength.
    assert answer.status_code in (200, 201, 204, 403, 404, 409), answer.text
    return verb, answer.ok


def work(gateway, seed, done, steps):
    choice = random.Random(seed)
    with requests.Session() as session:
        while True:
            try:
                verb, isDone = step(gateway, session, choice)
            except requests.RequestException:
                return
            if isDone:
                done.append(verb)
                steps.release()


def told(gateway, channel):
    """Who is a member and who is banned, by what was told in its order; None without a record."""
    members, banned = None, set()
    for event in pages(gateway, f"/v1/channels/{channel}/events"):
        data = event["data"]
        match event["type"]:
            case "channel.created":
                assert members is None, "made twice"
                members = set()
            case "channel.deleted":
                assert data["channel"]["member_count"] == len(members), "counted wrongly at its end"
                members, banned = None, set()
            case "member.joined":
                members.add(data["user"]["id"])
            case "member.left":
                members.remove(data["user"]["id"])
            case "user.banned":
                banned.add(data["restriction"]["user"])
            case "user.unbanned":
                banned.remove(data["restriction"]["user"])
    return members, banned


def check(gateway, channel):
    members, banned = told(gateway, channel)
    record = gateway.call("GET", f"/v1/channels/{channel}")
    listed = {member["user"] for member in pages(gateway, f"/v1/channels/{channel}/members")}
    restricted = {restriction["user"] for restriction in pages(gateway, f"/v1/channels/{channel}/restrictions")}
    assert record.status_code == (404 if members is None else 200), record.text
    assert listed == (members or set()), "members differ from what was told"
    assert restricted == banned, "restrictions differ from what was told"
    assert not listed & restricted, "a member is banned"
    if members is not None:
        assert record.json()["member_count"] == record.json()["joined_member_count"] == len(listed), "counted wrongly"


def test_members_survive_kills(tmp_path):
    print(f"\nPARLEY_CRASH_ROUNDS={ROUNDS} PARLEY_CRASH_SEED={SEED}")
    choice = random.Random(SEED)
    gateway = Gateway(tmp_path / "data").start()
    done = []
    for round in range(ROUNDS):
        steps = threading.Semaphore(0)
        workers = [threading.Thread(target=work, args=(gateway, choice.random(), done, steps)) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        for _ in range(choice.randrange(50, 400)):
            assert steps.acquire(timeout=20), "the workers have given up"
        gateway.kill()
        for worker in workers:
            worker.join()
        gateway.start()
        for channel in CHANNELS:
            check(gateway, channel)
        print(f"kill {round + 1}: {len(done)} changes, {done.count('delete')} channels deleted")
    assert gateway.stop() == 0

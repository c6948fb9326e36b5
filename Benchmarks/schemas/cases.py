"""Schemas as services declare them, and documents for each from a seed: most valid, some with one fault."""

import copy
import json
import random

DIALECT = "https://json-schema.org/draft/2020-12/schema"
WORDS = ("a quick brown fox jumps over the lazy dog while seven wizards pack my box with five dozen jugs of "
         "café naïve Grüße 你好 🎉 ok thanks see you tomorrow maybe later").split()


def identifier(draw, prefix, digits=12):
    return prefix + "".join(draw.choice("0123456789abcdefghijklmnopqrstuvwxyz") for _ in range(digits))


def sentence(draw, low=3, high=20):
    return " ".join(draw.choice(WORDS) for _ in range(draw.randint(low, high)))


def moment(draw):
    return "20%02d-%02d-%02dT%02d:%02d:%02d.%03dZ" % (
        draw.randint(20, 29), draw.randint(1, 12), draw.randint(1, 28), draw.randint(0, 23), draw.randint(0, 59),
        draw.randint(0, 59), draw.randint(0, 999))


def some(draw, **members):
    """Each member with a chance of two thirds."""
    return {name: value for name, value in members.items() if draw.random() < 0.67}


TEXT = {"type": "string", "minLength": 1, "maxLength": 200}

chat_message = {
    "type": "object",
    "required": ["id", "channel", "user", "text", "sent_at"],
    "properties": {
        "id": {"type": "string", "pattern": "^msg_[0-9a-z]{12}$"},
        "channel": {"type": "string", "minLength": 1, "maxLength": 92},
        "user": {"type": "object", "required": ["id"], "properties": {
            "id": TEXT, "name": TEXT, "avatar": {"type": "string", "format": "uri"}}},
        "text": {"type": "string", "minLength": 1, "maxLength": 4000},
        "sent_at": {"type": "string", "format": "date-time"},
        "edited": {"type": "boolean"},
        "thread_of": {"type": ["string", "null"]},
        "mentions": {"type": "array", "items": TEXT, "maxItems": 50, "uniqueItems": True},
        "attachments": {"type": "array", "maxItems": 10, "items": {
            "type": "object", "required": ["type", "url", "size"], "additionalProperties": False, "properties": {
                "type": {"enum": ["image", "file", "audio", "video"]}, "url": {"type": "string"},
                "size": {"type": "integer", "minimum": 0, "maximum": 52428800}, "name": TEXT}}},
        "reactions": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
    },
}


def make_chat_message(draw):
    return {"id": identifier(draw, "msg_"), "channel": "room." + identifier(draw, "", 5),
            "user": {"id": identifier(draw, "u_", 6), "name": "Ana Müller", **some(
                draw, avatar="https://cdn.example.com/" + identifier(draw, "", 8) + ".png")},
            "text": sentence(draw), "sent_at": moment(draw), **some(
                draw, edited=draw.random() < 0.5, thread_of=draw.choice([None, identifier(draw, "msg_")]),
                mentions=[identifier(draw, "u_", 6) for _ in range(draw.randint(0, 4))],
                attachments=[{"type": draw.choice(["image", "file"]), "url": "https://cdn.example.com/x/" + identifier(draw, ""),
                              "size": draw.randint(10, 10**6)} for _ in range(draw.randint(0, 2))],
                reactions={emoji: draw.randint(1, 9) for emoji in draw.sample(["👍", "🎉", "heart", "eyes"], 2)})}


typing = {
    "type": "object", "required": ["user", "is_typing"], "additionalProperties": False,
    "properties": {"user": {"type": "string", "minLength": 1}, "is_typing": {"type": "boolean"},
                   "device": {"type": "string"}},
}


def make_typing(draw):
    return {"user": identifier(draw, "u_", 6), "is_typing": draw.random() < 0.5,
            **some(draw, device=draw.choice(["web", "ios", "android"]))}


custom_event = {
    "type": "object", "required": ["order", "amount", "currency", "status"], "additionalProperties": False,
    "properties": {
        "order": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{6,10}$"},
        "amount": {"type": "integer", "minimum": 0, "maximum": 100000000},
        "currency": {"enum": ["EUR", "USD", "GBP", "JPY", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK"]},
        "status": {"enum": ["created", "paid", "refused", "refunded", "cancelled"]},
        "tax": {"type": "number", "minimum": 0, "multipleOf": 0.01},
        "note": {"type": "string", "maxLength": 500},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 16},
    },
}


def make_custom_event(draw):
    return {"order": "EU-%07d" % draw.randint(0, 9999999), "amount": draw.randint(0, 1000000),
            "currency": draw.choice(custom_event["properties"]["currency"]["enum"]),
            "status": draw.choice(custom_event["properties"]["status"]["enum"]), **some(
                draw, tax=draw.randint(0, 100000) / 100, note=sentence(draw, 1, 10),
                tags=[draw.choice(WORDS) for _ in range(draw.randint(0, 5))])}


PERSON = {"type": "object", "required": ["name", "email"], "properties": {
    "name": {"type": "string"}, "email": {"type": "string"}, "username": {"type": "string"}}}
ACCOUNT = {"type": "object", "required": ["login", "id", "type"], "properties": {
    "login": {"type": "string"}, "id": {"type": "integer"}, "node_id": {"type": "string"}, "type": {"enum": ["User", "Organization", "Bot"]},
    "site_admin": {"type": "boolean"}, "url": {"type": "string", "format": "uri"}}}
SHA = {"type": "string", "pattern": "^[0-9a-f]{40}$"}

webhook_push = {
    "type": "object", "required": ["ref", "before", "after", "repository", "pusher", "commits"],
    "properties": {
        "ref": {"type": "string", "pattern": "^refs/(heads|tags)/.+$"},
        "before": {"$ref": "#/$defs/sha"}, "after": {"$ref": "#/$defs/sha"},
        "created": {"type": "boolean"}, "deleted": {"type": "boolean"}, "forced": {"type": "boolean"},
        "compare": {"type": "string", "format": "uri"},
        "repository": {"type": "object", "required": ["id", "name", "full_name", "private", "owner"], "properties": {
            "id": {"type": "integer"}, "name": {"type": "string"}, "full_name": {"type": "string"},
            "private": {"type": "boolean"}, "owner": {"$ref": "#/$defs/account"}, "html_url": {"type": "string"},
            "description": {"type": ["string", "null"]}, "fork": {"type": "boolean"},
            "stargazers_count": {"type": "integer", "minimum": 0}, "language": {"type": ["string", "null"]},
            "topics": {"type": "array", "items": {"type": "string"}}}},
        "pusher": {"$ref": "#/$defs/person"}, "sender": {"$ref": "#/$defs/account"},
        "commits": {"type": "array", "items": {"$ref": "#/$defs/commit"}},
        "head_commit": {"anyOf": [{"$ref": "#/$defs/commit"}, {"type": "null"}]},
    },
    "$defs": {
        "sha": SHA, "person": PERSON, "account": ACCOUNT,
        "paths": {"type": "array", "items": {"type": "string"}},
        "commit": {"type": "object", "required": ["id", "message", "timestamp", "author", "added", "removed", "modified"], "properties": {
            "id": {"$ref": "#/$defs/sha"}, "tree_id": {"$ref": "#/$defs/sha"}, "distinct": {"type": "boolean"},
            "message": {"type": "string"}, "timestamp": {"type": "string", "format": "date-time"},
            "url": {"type": "string", "format": "uri"}, "author": {"$ref": "#/$defs/person"},
            "committer": {"$ref": "#/$defs/person"}, "added": {"$ref": "#/$defs/paths"},
            "removed": {"$ref": "#/$defs/paths"}, "modified": {"$ref": "#/$defs/paths"}}},
    },
}


def make_webhook_push(draw):
    def sha():
        return "%040x" % draw.getrandbits(160)

    def person():
        return {"name": "Ana Müller", "email": "ana@example.com", "username": identifier(draw, "", 7)}

    def account():
        return {"login": identifier(draw, "", 8), "id": draw.randint(1, 10**8), "node_id": identifier(draw, "MDQ6", 16),
                "type": draw.choice(["User", "Organization", "Bot"]), "site_admin": False, "url": "https://api.example.com/users/x"}

    def commit():
        return {"id": sha(), "tree_id": sha(), "distinct": True, "message": sentence(draw), "timestamp": moment(draw),
                "url": "https://git.example.com/commit/x", "author": person(), "committer": person(),
                **{kind: ["Sources/" + identifier(draw, "", 9) for _ in range(draw.randint(0, 3))] for kind in ("added", "removed", "modified")}}

    commits = [commit() for _ in range(draw.randint(1, 5))]
    return {"ref": "refs/heads/" + draw.choice(["main", "feature/x"]), "before": sha(), "after": sha(), "created": False,
            "deleted": False, "forced": draw.random() < 0.1, "compare": "https://git.example.com/compare/x",
            "repository": {"id": draw.randint(1, 10**9), "name": "parley", "full_name": "acme/parley", "private": False, "owner": account(),
                           "html_url": "https://git.example.com/acme/parley", "description": draw.choice([None, sentence(draw)]), "fork": False,
                           "stargazers_count": draw.randint(0, 9999), "language": "Swift", "topics": ["chat", "events"]},
            "pusher": person(), "sender": account(), "commits": commits, "head_commit": draw.choice([None, commits[-1]])}


order = {
    "type": "object", "required": ["id", "customer", "lines", "total", "placed_at"], "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "format": "uuid", "minLength": 36, "maxLength": 36},
        "customer": {"type": "object", "required": ["id", "email"], "additionalProperties": False, "properties": {
            "id": {"type": "integer", "minimum": 1}, "email": {"type": "string", "format": "email", "minLength": 3},
            "vat": {"type": "string", "pattern": "^(DE|FR|NL|AT)[0-9A-Z]{8,12}$"}}},
        "billing": {"$ref": "#/$defs/address"}, "shipping": {"$ref": "#/$defs/address"},
        "lines": {"type": "array", "minItems": 1, "maxItems": 200, "items": {
            "type": "object", "required": ["sku", "quantity", "price"], "additionalProperties": False, "properties": {
                "sku": {"type": "string", "pattern": "^[A-Z0-9-]{4,20}$"}, "quantity": {"type": "integer", "minimum": 1, "maximum": 999},
                "price": {"$ref": "#/$defs/money"}, "options": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 8}}}},
        "total": {"$ref": "#/$defs/money"}, "placed_at": {"type": "string", "format": "date-time"},
        "payment": {"enum": ["card", "transfer", "invoice"]}, "iban": {"type": "string"},
    },
    "if": {"properties": {"payment": {"const": "transfer"}}, "required": ["payment"]}, "then": {"required": ["iban"]},
    "$defs": {
        "money": {"type": "object", "required": ["amount", "currency"], "additionalProperties": False, "properties": {
            "amount": {"type": "integer", "minimum": 0}, "currency": {"type": "string", "minLength": 3, "maxLength": 3}}},
        "address": {"type": "object", "required": ["street", "city", "country"], "properties": {
            "street": TEXT, "city": TEXT, "postcode": {"type": "string", "maxLength": 12}, "country": {"type": "string", "pattern": "^[A-Z]{2}$"}}},
    },
}


def make_order(draw):
    def money():
        return {"amount": draw.randint(1, 10**6), "currency": draw.choice(["EUR", "USD"])}

    def address():
        return {"street": "Große Straße " + str(draw.randint(1, 99)), "city": "Köln", "postcode": "50667", "country": "DE"}

    digits = "%032x" % draw.getrandbits(128)
    payment = some(draw, payment=draw.choice(["card", "transfer", "invoice"]))
    return {"id": "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]]),
            "customer": {"id": draw.randint(1, 10**6), "email": identifier(draw, "", 6) + "@example.com", **some(draw, vat="DE123456789")},
            **some(draw, billing=address(), shipping=address()),
            "lines": [{"sku": identifier(draw, "", 8).upper(), "quantity": draw.randint(1, 9), "price": money(),
                       **some(draw, options={"size": "L", "colour": "blue"})} for _ in range(draw.randint(1, 8))],
            "total": money(), "placed_at": moment(draw), **payment,
            **({"iban": "DE89370400440532013000"} if payment.get("payment") == "transfer" else {})}


batch = {
    "type": "array", "minItems": 1, "maxItems": 1000,
    "items": {
        "type": "object", "required": ["channel", "type", "data"],
        "properties": {"channel": {"type": "string", "minLength": 1, "maxLength": 92}, "type": {"type": "string", "minLength": 1},
                       "user": {"type": "string"}, "data": {"type": "object"}, "store": {"type": "boolean"}}},
}


def make_batch(draw):
    return [{"channel": "orders.eu", "type": "order.paid", **some(draw, user=identifier(draw, "u_", 6), store=True),
             "data": {"n": n, "amount": draw.randint(0, 9999)}} for n in range(1000)]


def shape(kind, **properties):
    return {"type": "object", "required": ["type", *properties], "properties": {"type": {"const": kind}, **properties}}


NUMBER, INTEGER, STRING = {"type": "number"}, {"type": "integer"}, {"type": "string"}
discriminated_union = {"oneOf": [
    shape("message.created", text=TEXT, user=STRING), shape("message.edited", message=STRING, text=TEXT),
    shape("message.deleted", message=STRING, by=STRING), shape("reaction.added", message=STRING, value=STRING, user=STRING),
    shape("member.joined", user=STRING, at=INTEGER), shape("member.left", user=STRING, at=INTEGER),
    shape("typing.started", user=STRING), shape("call.ended", seconds=NUMBER, participants={"type": "array", "items": STRING}),
]}


def make_discriminated_union(draw):
    branch = draw.choice(discriminated_union["oneOf"])
    values = {"text": sentence(draw, 1, 8), "user": identifier(draw, "u_", 6), "message": identifier(draw, "msg_"),
              "by": "moderator", "value": "👍", "at": draw.randint(1, 10**9), "seconds": draw.random() * 100, "participants": ["a", "b"]}
    return {"type": branch["properties"]["type"]["const"], **{name: values[name] for name in branch["required"][1:]}}


unevaluated = {
    "allOf": [{"$ref": "#/$defs/base"}], "type": "object", "required": ["kind"],
    "properties": {"kind": {"enum": ["person", "company"]}},
    "if": {"properties": {"kind": {"const": "company"}}},
    "then": {"properties": {"vat": {"type": "string", "minLength": 8}, "employees": {"type": "integer", "minimum": 1}}, "required": ["vat"]},
    "else": {"properties": {"first": TEXT, "last": TEXT}, "required": ["last"]},
    "unevaluatedProperties": False,
    "$defs": {"base": {"type": "object", "required": ["id"], "properties": {
        "id": {"type": "string"}, "email": {"type": "string"}, "created": {"type": "integer"}, "labels": {"type": "array", "items": STRING}}}},
}


def make_unevaluated(draw):
    common = {"id": identifier(draw, "c_"), **some(draw, email="a@example.com", created=draw.randint(1, 10**9), labels=["vip", "eu"])}
    if draw.random() < 0.5:
        return {**common, "kind": "company", "vat": "DE123456789", **some(draw, employees=draw.randint(1, 5000))}
    return {**common, "kind": "person", "last": "Müller", **some(draw, first="Ana")}


cloudevent = {
    "type": "object", "required": ["specversion", "id", "source", "type"],
    "properties": {
        "specversion": {"const": "1.0"}, "id": {"type": "string", "minLength": 1}, "source": {"type": "string", "format": "uri-reference", "minLength": 1},
        "type": {"type": "string", "minLength": 1}, "subject": {"type": "string", "minLength": 1}, "time": {"type": "string", "format": "date-time"},
        "datacontenttype": {"type": "string", "minLength": 1}, "dataschema": {"type": "string", "format": "uri", "minLength": 1},
        "data": {"type": ["object", "string", "number", "array", "boolean", "null"]}, "data_base64": {"type": ["string", "null"]}},
    "patternProperties": {"^[a-z0-9]{1,20}$": {"type": ["string", "integer", "boolean", "object", "null", "array", "number"]}},
    "not": {"required": ["data", "data_base64"]},
}


def make_cloudevent(draw):
    return {"specversion": "1.0", "id": identifier(draw, "", 16), "source": "/orders/eu", "type": "com.example.order.paid",
            **some(draw, subject="order/1", time=moment(draw), datacontenttype="application/json", traceparent=identifier(draw, "00-", 32)),
            "data": {"amount": draw.randint(0, 9999), "currency": "EUR"}}


# name: schema, generator, documents
CASES = {
    "typing": (typing, make_typing, 200),
    "chat message": (chat_message, make_chat_message, 200),
    "custom event": (custom_event, make_custom_event, 200),
    "discriminated union": (discriminated_union, make_discriminated_union, 200),
    "unevaluatedProperties": (unevaluated, make_unevaluated, 200),
    "CloudEvent": (cloudevent, make_cloudevent, 200),
    "order": (order, make_order, 200),
    "webhook push": (webhook_push, make_webhook_push, 100),
    "batch of 1000": (batch, make_batch, 4),
}
INVALID_SHARE = 0.1


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], path + (name,))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from places(value[index], path + (index,))


def spoil(document, draw):
    """One change somewhere; whether it makes the document invalid is for the validators to say."""
    document = copy.deepcopy(document)
    path = draw.choice([path for path in places(document) if path])
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    kind = draw.randrange(3)
    if kind == 0:
        del holder[path[-1]]
    elif kind == 1 and isinstance(holder, dict):
        holder["x-unknown"] = 1
    else:
        holder[path[-1]] = draw.choice([None, True, -1, 1.5, "", "x", [], {}, [1], {"a": 1}])
    return document


def documents(name, seed):
    _, make, count = CASES[name]
    draw = random.Random(f"{seed} {name}")
    for _ in range(count):
        document = make(draw)
        yield spoil(document, draw) if draw.random() < INVALID_SHARE else document


def write(folder, seed):
    """Writes each case as NAME.json and NAME.jsonl; gives back (name, schema file, instances file)."""
    for name, (schema, _, _) in CASES.items():
        stem = folder / name.replace(" ", "-")
        stem.with_suffix(".json").write_text(json.dumps({"$schema": DIALECT, **schema}, ensure_ascii=False))
        lines = [json.dumps(d, ensure_ascii=False, separators=(",", ":")) + "\n" for d in documents(name, seed)]
        stem.with_suffix(".jsonl").write_text("".join(lines))
        yield name, stem.with_suffix(".json"), stem.with_suffix(".jsonl")

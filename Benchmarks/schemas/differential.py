#!/usr/bin/env python3
"""Holds parley against jsonschema-rs on generated schemas and documents.

usage: Benchmarks/schemas/differential.py PATH-OF-PARLEY [--schemas N] [--seed S] [--shrink N]

Each schema gets about 20 documents, most of them made to fit it and then changed somewhere. Every pair on which the two
disagree is printed, made as small as it goes; the exit code is 1 when there are any.

Doubles beyond 64-bit integers are left out, because there the two differ and both can say why: 1e300 is an integer of draft-04
for parley and not for jsonschema-rs, and a multiple of 1.5 as the double that it is, but not as the decimal that was written.
So is `contains` beside `unevaluatedItems` in 2019-09, where parley takes no item for evaluated because it was contained:
2019-09 names only `items` and `additionalItems` there (core 9.3.1.3).
"""

import argparse
import copy
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

URIS = {"2020-12": "https://json-schema.org/draft/2020-12/schema", "2019-09": "https://json-schema.org/draft/2019-09/schema",
        "07": "http://json-schema.org/draft-07/schema#", "06": "http://json-schema.org/draft-06/schema#",
        "04": "http://json-schema.org/draft-04/schema#"}
ORDER = ["04", "06", "07", "2019-09", "2020-12"]
NAMES = ["a", "b", "c", "id", "kind", "x-1", "", "é", "a/b"]
STRINGS = ["", "a", "b", "ab", "abc", "aaaa", "é", "é", "👍", "👍👍", "2024-01-01", "A1", "person", "company", "a b", "1"]
NUMBERS = [0, 1, 2, 3, 5, -1, -3, 10, 12, 100, 0.5, 1.0, 1.5, 2.0, -0.0, 1.1, 19.99, 0.01, 1e2, 2**53, 2**53 + 1, float(2**53),
           2**63 - 1, -2**63, 1e15, 1e-9]
PATTERNS = ["^a", "b$", "^[a-z]+$", "a|b", "^x-", "^.$", "\\d", "^\\w*$", "[^a]", "^(a|ab)(c|bcd)?$", "^a{2,3}$", "\\s", "^$", "^\\p{L}"]
DIVISORS = [1, 2, 3, 0.5, 0.01, 1.5, 10, 0.1]
TYPES = ["null", "boolean", "object", "array", "number", "integer", "string"]


class Maker:
    """Schemas of one dialect."""

    def __init__(self, draw, dialect):
        self.draw = draw
        self.age = ORDER.index(dialect)
        self.dialect = dialect
        self.definitions = draw.randint(0, 3)
        # Not both in a schema of 2019-09.
        self.contains = dialect != "2019-09" or draw.random() < 0.5
        self.unevaluated_items = dialect != "2019-09" or not self.contains
        # Set while a definition is made: it may name only later ones in place, or there would be no end.
        self.current = -1

    def since(self, dialect):
        return self.age >= ORDER.index(dialect)

    def document(self):
        schema = self.schema(3)
        if not isinstance(schema, dict):
            schema = {"allOf": [schema]}
        holder = "$defs" if self.since("2019-09") else "definitions"
        if self.definitions:
            schema[holder] = {}
            for number in range(self.definitions):
                self.current = number
                schema[holder][f"d{number}"] = self.schema(2)
        if self.dialect == "2020-12" and self.draw.random() < 0.2:
            schema["$dynamicAnchor"] = "node"
        elif self.dialect == "2019-09" and self.draw.random() < 0.2:
            schema["$recursiveAnchor"] = True
        return {"$schema": URIS[self.dialect], **schema}

    def reference(self, in_place):
        first = self.current + 1 if in_place else 0
        if first >= self.definitions:
            return None if in_place else self.to_root()
        holder = "$defs" if self.since("2019-09") else "definitions"
        return {"$ref": f"#/{holder}/d{self.draw.randrange(first, self.definitions)}"}

    def to_root(self):
        if self.dialect == "2020-12" and self.draw.random() < 0.3:
            return {"$dynamicRef": "#"}
        if self.dialect == "2019-09" and self.draw.random() < 0.3:
            return {"$recursiveRef": "#"}
        return {"$ref": "#"}

    def schema(self, depth, in_place=True):
        draw = self.draw
        if self.since("06") and draw.random() < 0.06:
            return draw.random() < 0.7
        if draw.random() < 0.15 and (found := self.reference(in_place)):
            return found
        schema = {}
        if draw.random() < 0.6:
            schema["type"] = draw.choice(TYPES) if draw.random() < 0.8 else draw.sample(TYPES, draw.randint(1, 3))
        makers = [self.numbers, self.strings, self.values]
        if depth > 0:
            makers += [self.objects, self.arrays, self.branches] * 2
        for make in draw.sample(makers, draw.randint(1, 3)):
            make(schema, depth - 1)
        # A reference hides what stands beside it in the older dialects, which is worth a try too.
        if draw.random() < 0.08 and (found := self.reference(in_place)):
            schema.update(found)
        return schema

    def numbers(self, schema, depth):
        draw = self.draw
        for bound in draw.sample(["minimum", "maximum"], draw.randint(1, 2)):
            schema[bound] = draw.choice(NUMBERS)
            exclusive = "exclusive" + bound.capitalize()
            if draw.random() < 0.4:
                schema[exclusive] = draw.choice(NUMBERS) if self.since("06") else draw.random() < 0.5
        if draw.random() < 0.3:
            schema["multipleOf"] = draw.choice(DIVISORS)

    def strings(self, schema, depth):
        draw = self.draw
        if draw.random() < 0.5:
            schema["minLength"] = draw.randint(0, 3)
        if draw.random() < 0.5:
            schema["maxLength"] = draw.randint(0, 4)
        if draw.random() < 0.5:
            schema["pattern"] = draw.choice(PATTERNS)

    def values(self, schema, depth):
        draw = self.draw
        if self.since("06") and draw.random() < 0.5:
            schema["const"] = value(draw, 2)
        else:
            found = []
            for _ in range(draw.randint(1, 4)):
                one = value(draw, 1)
                # The older metaschemas want them all different, and 1 is 1.0.
                if not any(same(one, other) for other in found):
                    found.append(one)
            schema["enum"] = found

    def objects(self, schema, depth):
        draw = self.draw

        def some(names, low=0, high=3):
            return draw.sample(names, draw.randint(low, high))

        below = max(depth, 0)
        if draw.random() < 0.8:
            schema["properties"] = {name: self.schema(below, False) for name in some(NAMES)}
        if draw.random() < 0.5:
            names = some(NAMES, 0 if self.since("06") else 1)
            schema["required"] = names
        if draw.random() < 0.2:
            schema["patternProperties"] = {pattern: self.schema(below, False) for pattern in some(PATTERNS, 1, 2)}
        if draw.random() < 0.3:
            schema["additionalProperties"] = draw.random() < 0.3 if draw.random() < 0.6 else self.schema(below, False)
        if draw.random() < 0.15:
            schema[draw.choice(["minProperties", "maxProperties"])] = draw.randint(0, 3)
        if self.since("06") and draw.random() < 0.1:
            schema["propertyNames"] = self.schema(0, False)
        if draw.random() < 0.1:
            name = draw.choice(NAMES)
            if not self.since("2019-09"):
                schema["dependencies"] = {name: some(NAMES, 1) if draw.random() < 0.5 else self.schema(below)}
            elif draw.random() < 0.5:
                schema["dependentRequired"] = {name: some(NAMES)}
            else:
                schema["dependentSchemas"] = {name: self.schema(below)}
        if self.since("2019-09") and draw.random() < 0.2:
            schema["unevaluatedProperties"] = draw.random() < 0.2 if draw.random() < 0.7 else self.schema(below, False)

    def arrays(self, schema, depth):
        draw = self.draw
        below = max(depth, 0)
        tuple_ = [self.schema(below, False) for _ in range(draw.randint(1, 3))]
        kind = draw.random()
        if kind < 0.4:
            schema["items"] = self.schema(below, False)
        elif kind < 0.7:
            if self.since("2020-12"):
                schema["prefixItems"] = tuple_
                rest = "items"
            else:
                schema["items"] = tuple_
                rest = "additionalItems"
            if draw.random() < 0.5:
                schema[rest] = self.schema(below, False) if self.since("06") else draw.random() < 0.5
        for bound in draw.sample(["minItems", "maxItems"], draw.randint(0, 1)):
            schema[bound] = draw.randint(0, 3)
        if draw.random() < 0.2:
            schema["uniqueItems"] = draw.random() < 0.9
        if self.since("06") and self.contains and draw.random() < 0.25:
            schema["contains"] = self.schema(below, False)
            if self.since("2019-09") and draw.random() < 0.5:
                schema[draw.choice(["minContains", "maxContains"])] = draw.randint(0, 3)
        if self.since("2019-09") and self.unevaluated_items and draw.random() < 0.2:
            schema["unevaluatedItems"] = draw.random() < 0.2 if draw.random() < 0.7 else self.schema(below, False)

    def branches(self, schema, depth):
        draw = self.draw
        kind = draw.choice(["allOf", "anyOf", "oneOf", "not"] + (["if"] * 2 if self.since("07") else []))
        if kind == "not":
            schema["not"] = self.schema(depth)
        elif kind == "if":
            schema["if"] = self.schema(depth)
            for word in draw.sample(["then", "else"], draw.randint(0, 2)):
                schema[word] = self.schema(depth)
        else:
            schema[kind] = [self.schema(depth) for _ in range(draw.randint(1, 3))]


def value(draw, depth):
    """Any document."""
    kind = draw.randrange(7 if depth > 0 else 5)
    if kind == 5:
        return [value(draw, depth - 1) for _ in range(draw.randint(0, 3))]
    if kind == 6:
        return {name: value(draw, depth - 1) for name in draw.sample(NAMES, draw.randint(0, 3))}
    return [None, draw.random() < 0.5, draw.choice(NUMBERS), draw.choice(NUMBERS), draw.choice(STRINGS)][kind]


def fitting(schema, root, draw, depth):
    """A document that has a fair chance to satisfy the schema."""
    if not isinstance(schema, dict) or depth <= 0:
        return value(draw, 1)
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].split("/")[1:]:
            target = target[step]
        return fitting(target, root, draw, depth - 1)
    if "const" in schema:
        return copy.deepcopy(schema["const"])
    if "enum" in schema:
        return copy.deepcopy(draw.choice(schema["enum"]))
    for word in ("allOf", "anyOf", "oneOf"):
        if word in schema and draw.random() < 0.4:
            return fitting(draw.choice(schema[word]), root, draw, depth - 1)
    kinds = schema.get("type", TYPES)
    kind = draw.choice(kinds) if isinstance(kinds, list) else kinds
    if "type" not in schema:
        kind = ("object" if {"properties", "required", "unevaluatedProperties"} & set(schema) else
                "array" if {"items", "prefixItems", "contains"} & set(schema) else kind)
    return {"null": lambda: None, "boolean": lambda: draw.random() < 0.5, "string": lambda: draw.choice(STRINGS),
            "number": lambda: draw.choice(NUMBERS), "integer": lambda: draw.choice([n for n in NUMBERS if n == int(n)]),
            "object": lambda: fitting_object(schema, root, draw, depth), "array": lambda: fitting_array(schema, root, draw, depth)}[kind]()


def fitting_object(schema, root, draw, depth):
    properties = schema.get("properties", {})
    names = [name for name in properties if draw.random() < 0.7] + list(schema.get("required", []))
    if draw.random() < 0.3:
        names.append(draw.choice(NAMES))
    return {name: fitting(properties.get(name, schema.get("additionalProperties", True)), root, draw, depth - 1) for name in names}


def fitting_array(schema, root, draw, depth):
    items = schema.get("items", True)
    front = items if isinstance(items, list) else schema.get("prefixItems", [])
    rest = schema.get("additionalItems", True) if isinstance(items, list) else items
    parts = list(front) + [draw.choice([rest, schema.get("contains", rest)]) for _ in range(draw.randint(0, 3))]
    return [fitting(part, root, draw, depth - 1) for part in parts]


def same(left, right):
    """Equal as JSON: true is not 1."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True) or (
        left == right and "true" not in json.dumps([left, right]) and "false" not in json.dumps([left, right]))


def spoiled(document, draw):
    """The document with another value somewhere in it."""
    document = copy.deepcopy(document)
    if not document or not isinstance(document, (list, dict)):
        return value(draw, 2)
    where = draw.choice(list(document) if isinstance(document, dict) else range(len(document)))
    if draw.random() < 0.2:
        del document[where]
    else:
        document[where] = spoiled(document[where], draw)
    return document


def generate(seed, count):
    """`count` cases in the shape of the official test suite, without verdicts."""
    draw = random.Random(str(seed))
    for number in range(count):
        maker = Maker(draw, draw.choice(ORDER + ["2020-12", "2020-12"]))
        schema = maker.document()
        seen = {}
        for _ in range(40):
            document = fitting(schema, schema, draw, 5) if draw.random() < 0.8 else value(draw, 3)
            if draw.random() < 0.4:
                document = spoiled(document, draw)
            seen.setdefault(json.dumps(document), document)
        yield {"description": str(number), "schema": schema, "tests": [
            {"description": str(place), "data": document} for place, document in enumerate(list(seen.values())[:24])]}


class Peer:
    def __init__(self):
        import jsonschema_rs
        self.module = jsonschema_rs

    def judge(self, cases):
        """Adds verdicts; gives back the cases, and those whose schema the peer refuses."""
        judged, refused = [], []
        for case in cases:
            try:
                validator = self.module.validator_for(case["schema"], validate_formats=False, offline=True)
            except Exception as error:  # its errors have no common class
                refused.append((case, str(error)))
                continue
            for test in case["tests"]:
                test["valid"] = validator.is_valid(test["data"])
            judged.append(case)
        return judged, refused


def disagreements(parley, cases):
    """What parley says otherwise, as the `suite` command reports it."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(cases, file)
        file.flush()
        out = subprocess.run([parley, "schema", "suite", "--tests", file.name, "--formats", "annotate", "--json"],
                             capture_output=True, text=True)
    if out.returncode not in (0, 4):
        raise RuntimeError(f"parley ended with {out.returncode}: {out.stderr}")
    report = json.loads(out.stdout)
    assert report["tests"] == sum(len(case["tests"]) for case in cases), "parley has run other tests than it was given"
    return report["failures"]


def smaller(part):
    """The same with one piece less, piece by piece."""
    if isinstance(part, dict):
        for name in part:
            if name != "$schema":
                yield {other: part[other] for other in part if other != name}
        for name in part:
            for less in smaller(part[name]):
                yield {**part, name: less}
    elif isinstance(part, list):
        for place in range(len(part)):
            yield part[:place] + part[place + 1:]
        for place in range(len(part)):
            for less in smaller(part[place]):
                yield part[:place] + [less] + part[place + 1:]


def shrunk(parley, peer, case, test):
    """The smallest schema and document found that are still judged differently."""
    def differ(schema, document):
        judged, _ = peer.judge([{"description": "", "schema": schema, "tests": [{"description": "", "data": document}]}])
        return bool(judged) and any(f["sort"] != "schemaRefused" for f in disagreements(parley, judged))

    schema, document = case["schema"], test["data"]
    while True:
        for less in smaller(schema):
            if differ(less, document):
                schema = less
                break
        else:
            for less in smaller(document):
                if differ(schema, less):
                    document = less
                    break
            else:
                return schema, document


def compare(parley, seed, count, chunk=500):
    """Runs it; gives back how many pairs were compared and what was found."""
    peer = Peer()
    cases = list(generate(seed, count))
    judged, refused = peer.judge(cases)
    by_name = {case["description"]: case for case in judged}
    failures = []
    for start in range(0, len(judged), chunk):
        failures += disagreements(parley, judged[start:start + chunk])
    # What the peer refuses parley must refuse as well, or there is something to explain.
    for case, _ in refused:
        for test in case["tests"]:
            test["valid"] = True
    accepted = []
    if refused:
        found = disagreements(parley, [case for case, _ in refused])
        named = {failure["case"] for failure in found if failure["sort"] == "schemaRefused"}
        accepted = [(case, error) for case, error in refused if case["description"] not in named]
    pairs = sum(len(case["tests"]) for case in judged)
    valid = sum(test["valid"] for case in judged for test in case["tests"])
    return {"schemas": len(judged), "pairs": pairs, "valid": valid, "failures": failures, "refused": refused,
            "accepted": accepted, "cases": by_name, "peer": peer}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("parley")
    arguments.add_argument("--schemas", type=int, default=6000)
    arguments.add_argument("--seed", default="1")
    arguments.add_argument("--shrink", type=int, default=10, help="disagreements to make smaller; one for each schema")
    options = arguments.parse_args()
    try:
        import jsonschema_rs  # noqa: F401
    except ImportError:
        import peers
        peers.install()
        os.execv(peers.PYTHON, [str(peers.PYTHON), *sys.argv])
    found = compare(options.parley, options.seed, options.schemas)
    print(f"seed {options.seed}: {found['pairs']} pairs of {found['schemas']} schemas, {found['valid']} valid; "
          f"{len(found['refused'])} schemas refused by jsonschema-rs, {len(found['accepted'])} of them accepted by parley; "
          f"{len(found['failures'])} disagreements")
    for case, error in found["accepted"]:
        print(f"refused by jsonschema-rs only: {json.dumps(case['schema'])}\n  {error}")
    shown = set()
    for failure in found["failures"]:
        if failure["case"] in shown or len(shown) >= options.shrink:
            continue
        shown.add(failure["case"])
        case = found["cases"][failure["case"]]
        if failure["sort"] == "schemaRefused":
            print(f"refused by parley only: {json.dumps(case['schema'])}\n  {failure['got']}")
            continue
        schema, document = shrunk(options.parley, found["peer"], case, case["tests"][int(failure["test"])])
        print(f"jsonschema-rs says {failure['expected']}, parley {failure['got']} ({failure['sort']}):\n  "
              f"{json.dumps(schema, ensure_ascii=False)}\n  {json.dumps(document, ensure_ascii=False)}")
    sys.exit(1 if found["failures"] or found["accepted"] else 0)


if __name__ == "__main__":
    main()

"""Sends the examples of openapi.yaml to a gateway, in the order of description_examples.txt."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import yaml
from openapi_schema_validator import OAS31Validator
from pages import ROOT

STORY = Path(__file__).with_suffix(".txt")
METHODS = {"get", "put", "post", "patch", "delete", "head", "options"}

# Texts that differ between two runs, whole or inside another text. What follows a prefix may be shortened to `…`.
KINDS = {
    "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z",
    "audit id": r"\b00\d{17}-[0-9a-z]+(?:-[0-9a-z]+)*",
    "id": r"\b(?:app|dlv|job|key|req|ses|str|sub|wh)_[A-Za-z0-9_-]{8,}",
    "timetoken": r"(?<!\d)\d{17}(?!\d)",
    "key": r"\b(?:parley_|whsec_|whpk_|pub-c-|sub-c-|sec-c-)(?:[A-Za-z0-9+/=_-]{16,}|…)",
    "acknowledgement": r"\b[0-9a-z]{9,12}-[0-9a-z]{6,10}-[0-9a-z]{9,12}\b",
    "trace": r"\b00-[0-9a-f]{32}-[0-9a-f]{16}-00\b",
    "hash": r"^[0-9a-f]{8,16}$|^[A-Za-z0-9_-]{43}$",
    "unix time": r"^\d{10}$",
    "address": r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?",
}
KIND = re.compile("|".join(f"({pattern})" for pattern in KINDS.values()))

# Members whose values no two runs share: figures of the machine, and texts that only the gateway can read.
VARYING = {
    "token", "ticket",
    "next_cursor", "prev_cursor", "remote", "bytes_sent", "lag_bytes", "duration_ms", "p50_ms", "p95_ms", "p99_ms",
    "timings_us", "request_headers", "response_headers", "examined", "done",
}


def is_excerpt(operation):
    """Whether the example shows some elements and members of the answer only."""
    return operation in {"getProblems", "getAsyncAPI"}


def kinds(text):
    """The text with the name of its kind in place of each part that differs, and those parts."""
    parts = []

    def name(match):
        parts.append(match[0])
        return f"<{list(KINDS)[match.lastindex - 1]}>"
    return KIND.sub(name, text), parts


class Description:
    def __init__(self, text):
        # Through JSON, so that dates are texts.
        self.root = json.loads(json.dumps(yaml.load(text, yaml.CSafeLoader), default=str))
        self.operations = {}
        for path, item in self.root["paths"].items():
            for method, operation in item.items():
                if method in METHODS:
                    parameters = [self.resolved(each) for each in
                                  item.get("parameters", []) + operation.get("parameters", [])]
                    self.operations[operation["operationId"]] = (method.upper(), path, parameters, operation)

    def resolved(self, node):
        while "$ref" in node:
            at = self.root
            for name in node["$ref"].removeprefix("#/").split("/"):
                at = at[name]
            node = at
        return node

    def request(self, name):
        """The media type and the content of a request body that is sent as JSON."""
        content = self.resolved(self.operations[name][3].get("requestBody", {})).get("content", {})
        media = next((each for each in ("application/json", "*/*") if each in content), None)
        return media, content.get(media, {})

    def answers(self, name):
        """The contents of the JSON answers of success, by status."""
        answers = {}
        for status, answer in self.operations[name][3]["responses"].items():
            content = self.resolved(answer).get("content", {})
            if status.startswith("2") and "application/json" in content:
                answers[int(status)] = content["application/json"]
        return answers

    def faults(self, content, value):
        """How a value differs from what its schema declares."""
        if "schema" not in content:
            return []
        schema = {**content["schema"], "components": self.root["components"]}
        return [f"{fault.json_path}: {fault.message}" for fault in OAS31Validator(
            schema, format_checker=OAS31Validator.FORMAT_CHECKER).iter_errors(value)]


def examples(content):
    if "example" in content:
        return [content["example"]]
    return [each["value"] for each in content.get("examples", {}).values()]


class Run:
    """One telling of the story. `real` has, for ids and times of the examples, those of the running gateway."""

    def __init__(self, description, gateway, known, steps):
        self.description, self.gateway, self.steps = description, gateway, steps
        self.real = dict(known)
        self.values = {}
        self.seen = set()

    def to_real(self, value):
        return self.exchanged(value, self.real)

    def to_shown(self, value):
        return self.exchanged(value, {there: here for here, there in self.real.items() if len(there) > 8})

    def exchanged(self, value, table):
        if isinstance(value, dict):
            return {self.exchanged(name, table): self.exchanged(inner, table) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.exchanged(inner, table) for inner in value]
        if isinstance(value, str) and table:
            pattern = "|".join(re.escape(each) for each in sorted(table, key=len, reverse=True))
            return re.sub(pattern, lambda match: table[match[0]], value)
        return value

    def differences(self, example, answer, learned, place="#", excerpt=False):
        """In what the answer is not the example, beyond what differs by nature."""
        if type(example) is not type(answer):
            yield f"{place}: the example has {example!r}, the answer {answer!r}"
        elif isinstance(example, dict):
            if not (example.keys() <= answer.keys() if excerpt else example.keys() == answer.keys()):
                yield f"{place}: other members than {sorted(example)}: {sorted(answer)}"
            for name in example.keys() & answer.keys():
                if name in VARYING:
                    if type(example[name]) is not type(answer[name]):
                        yield f"{place}/{name}: the example has {example[name]!r}, the answer {answer[name]!r}"
                else:
                    yield from self.differences(example[name], answer[name], learned, f"{place}/{name}", excerpt)
        elif isinstance(example, list):
            if excerpt:
                for one in example:
                    if all(any(self.differences(one, each, {}, place, excerpt)) for each in answer):
                        yield f"{place}: none of the answer's elements is {one!r}"
            elif len(example) != len(answer):
                yield f"{place}: the example has {len(example)} elements, the answer {len(answer)}"
            else:
                for index, (one, other) in enumerate(zip(example, answer)):
                    yield from self.differences(one, other, learned, f"{place}/{index}")
        elif isinstance(example, str):
            (shape, here), (other, there) = kinds(example), kinds(answer)
            if shape != other and example != self.to_shown(answer):
                yield f"{place}: the example has {example!r}, the answer {answer!r}"
            elif shape == other:
                learned.update((one, another) for one, another in zip(here, there) if "…" not in one)
        elif example != answer:
            yield f"{place}: the example has {example!r}, the answer {answer!r}"

    def tell(self):
        """Yields what is wrong with each line, with the operation and the answer."""
        for number, line in enumerate(STORY.read_text().splitlines(), 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("~"):
                self.prepare(number, line[1:].split(maxsplit=2))
            else:
                yield number, *self.send(line)

    def prepare(self, number, words):
        """A request that is no example, `METHOD path [body]`, or a step of the test by its name."""
        if len(words) == 1:
            self.steps[words[0]](self)
            return
        answer = self.gateway.call(
            words[0], self.filled(words[1]), json=self.to_real(json.loads(words[2])) if len(words) > 2 else None)
        assert answer.ok, f"line {number}: {answer.status_code} {answer.text}"

    def filled(self, path):
        return re.sub(r"{(\w+)}", lambda match: quote(self.values[match[1]], safe=""), path)

    def send(self, line):
        """Sends a line that names an operation; that name, the answer and what is wrong with it."""
        words, _, body = line.partition(" {")
        name, *words = words.split()
        method, path, parameters, operation = self.description.operations[name]
        values = {each["name"]: each["example"] for each in parameters if each["in"] == "path" and "example" in each}
        values |= self.values
        query, taken, options, headers = [], {}, {}, {}
        if operation.get("security") == []:
            headers["Authorization"] = None
        for word in words:
            if "<-" in word:
                member, source = word.split("<-")
                taken[member] = source
            elif word.startswith("@"):
                options["key"] = self.values[word[1:]]
            elif word.startswith("+"):
                headers.update([word[1:].split("=", 1)])
            elif word.startswith("?"):
                query.append(tuple(word[1:].split("=", 1)))
            else:
                key, value = word.split("=", 1)
                values[key] = value.format_map(self.values)
        path = re.sub(r"{(\w+)}", lambda match: quote(self.to_real(values[match[1]]), safe=""), path)
        _, content = self.description.request(name)
        faults = []
        if body or examples(content):
            sent = json.loads("{" + body) if body else examples(content)[0]
            faults += [f"the request is not as declared: {each}" for each in self.description.faults(content, sent)]
            options["data"] = json.dumps(self.to_real(sent)).encode()
            headers["Content-Type"] = "application/json"
        answer = self.gateway.call(
            method, path, params=[(key, self.to_real(value)) for key, value in query], headers=headers, **options)
        answers = self.description.answers(name)
        if not 200 <= answer.status_code < 300:
            faults.append(f"refused: {answer.status_code} {answer.text}")
        elif answer.status_code in answers:
            faults += self.compared(name, answers[answer.status_code], answer.json())
        elif str(answer.status_code) not in operation["responses"]:
            faults.append(f"answered {answer.status_code}, which is not declared")
        for member, source in taken.items():
            at = answer.json()
            for step in source.split("."):
                at = at[int(step)] if isinstance(at, list) else at[step]
            self.values[member] = at
        return name, answer, faults

    def compared(self, name, content, answer):
        faults = [f"the answer is not as declared: {each}" for each in self.description.faults(content, answer)]
        best = None
        for example in examples(content):
            learned = {}
            found = list(self.differences(example, answer, learned, excerpt=is_excerpt(name)))
            if not found:
                self.real |= learned
                self.shown(content, example)
                return faults
            best = min(best or found, found, key=len)
        return faults + (best or ["no example of the answer"])

    def shown(self, content, example):
        """Notes an example that an answer was like."""
        self.seen.add(json.dumps(example, sort_keys=True))

    def unseen(self):
        """Response examples that no answer was like."""
        return [f"{name} {status}: {example}" for name in self.description.operations
                for status, content in self.description.answers(name).items()
                for example in examples(content) if json.dumps(example, sort_keys=True) not in self.seen]

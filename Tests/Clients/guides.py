"""Runs a page of the guides as a reader would: every block of shell in its order, in one shell, against a gateway.

The language of a block says what it is:

- `sh` is run. What never ends by itself (`curl -N` without `-m`, `parley listen`, `subscriptions pull --follow`) is ended
  after a moment in which it has to go on; `parley serve` runs already, so its arguments are checked. `wh_…` and its like
  stand for the newest of their kind that the gateway has. No answer may be a problem, unless it is shown to be one.
- `json` after `sh` is what that block answers last; `…` in it stands for anything. Elsewhere it has to be JSON.
- `yaml`, `python`, `js`, `go`, `java`, `php`, `ruby` have to be well-formed; `swift` is for those who compile it.
- `text` is shown only; `html` is opened by a test of its own.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

HOUSE = Path(__file__).parents[2]
PAGES = [HOUSE / "README.md", *sorted((HOUSE / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\S*)\n(.*?)^```$", re.M | re.S)
SHOWN = {"text", "swift", "html"}
# What is run, and what tells that it was well-formed.
CHECKS = {
    "js": ["node", "--input-type=module", "--check"],
    "go": ["gofmt", "-e"],
    "php": ["php", "-l"],
    "ruby": ["ruby", "-c"],
}
PRELUDE = r"""
endless() { local code=0; timeout -k 5 1 "$@" || code=$?; [ "$code" = 124 ]; }
curl() {
    case " $* " in
    *" -m "*) command curl "$@" || [ $? = 28 ] ;;
    *" -N "* | *" -sN "*) endless curl "$@" ;;
    *) command curl "$@" ;;
    esac
}
parley() {
    case " $* " in
    " serve "*) shift; command parley config check "$@" ;;
    *" listen "* | *" --follow "*) endless parley "$@" ;;
    *) command parley "$@" ;;
    esac
}
set -e
"""
# Where the newest of a kind is found.
KINDS = {
    "wh": "/v1/webhooks", "dlv": "/v1/deliveries", "job": "/v1/jobs", "sub": "/v1/subscriptions", "key": "/v1/keys",
    "evt": "/v1/channels/orders.eu/events?order=desc", "str": "/v1/streams",
}


class Page:
    def __init__(self, path):
        self.path = path
        self.blocks = BLOCK.findall(path.read_text())

    def run(self, gateway, folder, receiver="http://127.0.0.1:3000/hook"):
        """Runs the page; returns what each of its blocks of shell has printed."""
        shell = Shell(gateway, folder, receiver)
        answers = []
        try:
            for number, (language, text) in enumerate(self.blocks):
                if language != "sh":
                    continue
                answers.append(shell.run(text))
                following = self.blocks[number + 1] if number + 1 < len(self.blocks) else ("", "")
                compare(text, answers[-1], following[1] if self.answers(number) else None)
        finally:
            shell.close()
        return answers

    def answers(self, number):
        """Whether the next block is right below this one, with nothing said in between."""
        ends = [match.end() for match in BLOCK.finditer(self.path.read_text())]
        starts = [match.start() for match in BLOCK.finditer(self.path.read_text())]
        return (number + 1 < len(starts) and self.blocks[number + 1][0] == "json"
                and not self.path.read_text()[ends[number]:starts[number + 1]].strip())

    def check(self, folder):
        """Everything that is not shell is what it says it is."""
        for language, text in self.blocks:
            if language == "json":
                json.loads(text)
            elif language == "yaml":
                import yaml
                list(yaml.safe_load_all(text))
            elif language == "python":
                compile(text, str(self.path), "exec")
            elif language in CHECKS:
                done = subprocess.run(CHECKS[language], input=wrapped(language, text), capture_output=True, text=True)
                assert done.returncode == 0, (self.path, text, done.stderr)
            else:
                assert language in SHOWN | {"sh", "java"}, f"{self.path}: what is a block of {language!r}?"


def wrapped(language, text):
    if language == "go" and "package " not in text:
        return "package guide\n\n" + text
    return "<?php\n" + text if language == "php" and "<?php" not in text else text


class Shell:
    """One shell for a page, so that what a block defines is there in the next."""

    def __init__(self, gateway, folder, receiver):
        self.gateway, self.receiver, self.folder = gateway, receiver, folder
        tools = folder / "tools"
        tools.mkdir()
        (tools / "parley").symlink_to(os.environ["PARLEY_BINARY"])
        work = folder / "work"
        work.mkdir(exist_ok=True)
        # The program's own variables alone: `config check` refuses others.
        inherited = {name: value for name, value in os.environ.items() if name not in ("PARLEY_BINARY", "PARLEY_CLUSTER")}
        environment = {**inherited, "PATH": f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}",
                       "PARLEY_URL": gateway.url, "PARLEY_KEY": gateway.key}
        self.errors = (folder / "errors").open("w+")
        self.process = subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, cwd=work,
            env=environment)
        self.process.stdin.write(PRELUDE)

    def run(self, block):
        text = block.replace("http://127.0.0.1:8080", self.gateway.url).replace(
            "http://127.0.0.1:3000/hook", self.receiver)
        text = re.sub(r"\b([a-z]+)_…", self.newest, text)
        # From a file, or what a block of commands reads from its standard input would be the next block.
        (self.folder / "block").write_text(text)
        self.process.stdin.write(f". '{self.folder}/block' </dev/null\necho\necho '=== done'\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line == "=== done\n":
                return "".join(lines).strip()
            lines.append(line)
        self.errors.seek(0)
        raise AssertionError(f"{block}\nprinted\n{''.join(lines)}\nand failed:\n{self.errors.read()[-2000:]}")

    def newest(self, placeholder):
        listed = self.gateway.call("GET", KINDS[placeholder[1]]).json()["data"]
        return max((item["id"] for item in listed), key=lambda id: (len(id), id), default=placeholder[0])

    def close(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def values(text):
    """The JSON documents of an output, with whatever else is between them left out."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while (start := re.search(r"^[{\[]", text[at:], re.M)) is not None:
        try:
            value, length = decoder.raw_decode(text[at + start.start():])
            found.append(value)
            at += start.start() + length
        except json.JSONDecodeError:
            at += start.start() + 1
    return found


def compare(block, output, shown):
    answers = values(output)
    if shown is not None:
        assert answers and differences(json.loads(shown), answers[-1]) == [], (block, output)
        answers.pop()
    problems = [a for a in answers if isinstance(a, dict) and isinstance(a.get("status"), int) and "code" in a]
    assert not problems, (block, problems)


def differences(shown, answer, place="#"):
    """What an answer has otherwise than shown; `…` stands for anything."""
    if isinstance(shown, str) and "…" in shown:
        pattern = ".*".join(map(re.escape, shown.split("…")))
        return [] if shown == "…" or re.fullmatch(pattern, str(answer), re.S) else [f"{place}: {answer}"]
    if isinstance(shown, dict) and isinstance(answer, dict):
        names = [] if shown.get("…") == "…" else [f"{place}/{name}" for name in shown.keys() ^ answer.keys()]
        return names + [d for name in shown.keys() & answer.keys()
                        for d in differences(shown[name], answer[name], f"{place}/{name}")]
    if isinstance(shown, list) and isinstance(answer, list) and len(shown) == len(answer):
        return [d for i, pair in enumerate(zip(shown, answer)) for d in differences(*pair, f"{place}/{i}")]
    return [] if shown == answer else [f"{place}: {answer}"]

"""The guide's functions, each in its language, accept what the gateway signs and refuse everything else."""

import base64
import hashlib
import hmac
import json
import subprocess
import sys
import time

import pytest
from guides import HOUSE, Page

PAGE = Page(HOUSE / "docs/webhooks.md")


def block(language, containing="verify"):
    return next(text for kind, text in PAGE.blocks if kind == language and containing in text)


# Each makes a program of the guide's block. It gets secret, id, timestamp and signatures as arguments and the body on its
# standard input, and ends with 0 where the block accepts them.

def with_python(containing):
    def make(folder):
        call = "verify" if "def verify" in block("python", containing) else "event_of"
        program = folder / "receive.py"
        program.write_text(block("python", containing) + f'''
import sys
secret, id, moment, signatures = sys.argv[1:]
{call}(secret, {{"webhook-id": id, "webhook-timestamp": moment, "webhook-signature": signatures}}, sys.stdin.buffer.read())
''')
        return [sys.executable, program]
    return make


def with_node(folder):
    (folder / "verify.mjs").write_text(block("js"))
    program = folder / "receive.mjs"
    program.write_text('''
import { readFileSync } from "node:fs";
import { verify } from "./verify.mjs";
const [secret, id, moment, signatures] = process.argv.slice(2);
verify(secret, { "webhook-id": id, "webhook-timestamp": moment, "webhook-signature": signatures }, readFileSync(0));
''')
    return ["node", program]


def with_go(folder):
    imports, code = block("go").split(")\n", 1)
    (folder / "main.go").write_text(f'''package main

{imports}	"io"
	"os"
)
{code}
func main() {{
	h := http.Header{{}}
	h.Set("webhook-id", os.Args[2])
	h.Set("webhook-timestamp", os.Args[3])
	h.Set("webhook-signature", os.Args[4])
	body, _ := io.ReadAll(os.Stdin)
	if verify(os.Args[1], h, body) != nil {{
		os.Exit(1)
	}}
}}
''')
    subprocess.run(["go", "build", "-o", "receive", "main.go"], cwd=folder, check=True, timeout=300)
    return [folder / "receive"]


def with_java(folder):
    program = folder / "Receive.java"
    imports, code = block("java").split("\n\n", 1)
    program.write_text(imports + '''

class Receive {
    public static void main(String[] a) throws Exception {
        Webhook.verify(a[0], a[1], a[2], a[3], System.in.readAllBytes());
    }
}
''' + code)
    return ["java", program]


def with_php(folder):
    program = folder / "receive.php"
    program.write_text("<?php\n" + block("php") + '\nverify(...[...array_slice($argv, 1), file_get_contents("php://stdin")]);\n')
    return ["php", program]


def with_ruby(folder):
    program = folder / "receive.rb"
    program.write_text(block("ruby") + "\nverify(*ARGV, $stdin.read)\n")
    return ["ruby", program]


def with_shell(folder):
    return ["bash", "-c", block("sh", "verify()") + 'cat >"$0/body"; verify "$@" "$0/body"', folder]


RECEIVERS = {
    "python": with_python("hmac.new"), "standardwebhooks": with_python("standardwebhooks"), "node": with_node,
    "go": with_go, "java": with_java, "php": with_php, "ruby": with_ruby, "openssl": with_shell,
}


@pytest.fixture
def delivery(gateway, receiver):
    """What the gateway sends: the secret, the headers, the body."""
    webhook = gateway.call("POST", "/v1/webhooks", {"url": receiver.url, "types": ["order.*"]}).json()
    gateway.emit("orders.eu", {"text": "héllo", "amount": 4200}, user="shop-7")
    headers, body = receiver.requests.get(timeout=20)
    return webhook["secret"], {name.lower(): value for name, value in headers.items()}, body


@pytest.mark.parametrize("language", RECEIVERS)
def test_it_tells_ours_from_others(language, delivery, tmp_path):
    command = RECEIVERS[language](tmp_path)
    secret, headers, body = delivery

    def accepts(secret=secret, id=headers["webhook-id"], moment=headers["webhook-timestamp"],
                signatures=headers["webhook-signature"], body=body):
        return subprocess.run(
            [*command, secret, id, moment, signatures], input=body, capture_output=True, timeout=60).returncode == 0

    assert accepts()
    assert accepts(signatures="v1,AAAA " + headers["webhook-signature"] + " v1a,BBBB"), "another secret's beside it"
    assert not accepts(body=body + b" ")
    assert not accepts(id="evt_1")
    assert not accepts(secret="whsec_" + base64.b64encode(b"another key, of 24 bytes").decode())
    assert not accepts(signatures="v1,AAAA")
    # Signed by us, but recorded by somebody and sent again later.
    old = str(int(time.time()) - 301)
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = hmac.new(key, f"{headers['webhook-id']}.{old}.".encode() + body, hashlib.sha256).digest()
    assert not accepts(moment=old, signatures="v1," + base64.b64encode(signed).decode())


def test_what_arrives_is_what_the_guide_shows(delivery):
    _, headers, body = delivery
    shown = json.loads(block("json", "timetoken"))
    assert list(json.loads(body)) == list(shown)
    assert {"webhook-id", "webhook-timestamp", "webhook-signature", "webhook-attempt", "webhook-event-type",
            "webhook-channel"} <= set(headers)

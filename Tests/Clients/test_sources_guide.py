"""The guide to sources: its lines work as they stand, its examples are sources, and filters are as their guide says."""

import json
import re
import subprocess
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "sources.md").read_text()


def test_every_line_of_the_guide_works(gateway):
    steps = re.findall(r"```sh\n(.*?)```", GUIDE, re.S)
    assert len(steps) >= 6
    define, steps = steps[0], steps[1:]
    script = "\n".join([define, *(f"{step}\necho\necho ==" for step in steps)]).replace(
        "http://127.0.0.1:8080", gateway.url)
    done = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    answers = [json.loads(text) for text in done.stdout.split("\n==\n")[:-1]]
    source, trial, receipt, rejected, again = answers
    assert source["path"] == "/in/github-main" and source["mapping_version"] == 1
    assert trial["verified"] is False and trial["events"][0]["channel"] == "repos.parley"
    assert receipt["accepted"] == 1 and receipt["events"][0]["duplicate"] is False
    assert rejected["data"] == []
    assert again["verified"] is True and again["events"][0]["type"] == "github.push"

    requests = gateway.call("GET", "/v1/sources/github-main/requests").json()["data"]
    assert [request["outcome"] for request in requests] == ["accepted"]
    replay = gateway.call("POST", f"/v1/sources/github-main/requests/{requests[0]['id']}/replay", None)
    assert (replay.status_code, replay.json()["events"][0]["duplicate"]) == (202, True)


def test_every_provider_of_the_guide_is_a_source(gateway):
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", GUIDE, re.S)]
    sources = [block for block in blocks if "scheme" in block]
    assert len(sources) >= 7
    for number, source in enumerate(sources):
        answer = gateway.call("PUT", f"/v1/sources/guide-{number}", source)
        assert answer.status_code == 201, (source, answer.text)


def test_every_filter_of_the_guide_is_one(gateway):
    filters = re.findall(r"^\| `(.*?)` \| ", (DOCS / "filters.md").read_text().split("## Examples")[1], re.M)
    assert len(filters) >= 8
    for text in filters:
        answer = gateway.call(
            "POST", "/v1/webhooks", {"url": "https://example.com/hook", "types": ["x.y"], "filter": text})
        assert answer.status_code == 201, (text, answer.text)

"""The guide to sources: its lines answer what it says, its examples are sources, and filters are as their guide says."""

import json
import re

from guides import HOUSE, Page

PAGE = Page(HOUSE / "docs/sources.md")


def test_the_lines_of_the_guide_answer_what_it_says(gateway, tmp_path):
    answers = [json.loads(answer) for answer in PAGE.run(gateway, tmp_path) if answer]
    source, trial, receipt, changed, rejected, again = answers
    assert source["path"] == "/in/github-main" and source["mapping_version"] == 1
    assert trial["verified"] is False and trial["events"][0]["channel"] == "repos.parley"
    assert receipt["accepted"] == 1 and receipt["events"][0]["duplicate"] is False
    assert changed["secret_count"] == 2 and changed["mapping"] == source["mapping"]
    assert rejected["data"] == []
    assert again["verified"] is True and again["events"][0]["type"] == "github.push"

    requests = gateway.call("GET", "/v1/sources/github-main/requests").json()["data"]
    assert [request["outcome"] for request in requests] == ["accepted"]
    replay = gateway.call("POST", f"/v1/sources/github-main/requests/{requests[0]['id']}/replay", None)
    assert (replay.status_code, replay.json()["events"][0]["duplicate"]) == (202, True)


def test_every_provider_of_the_guide_is_a_source(gateway):
    blocks = [json.loads(text) for language, text in PAGE.blocks if language == "json"]
    sources = [block for block in blocks if "scheme" in block]
    assert len(sources) >= 7
    for number, source in enumerate(sources):
        answer = gateway.call("PUT", f"/v1/sources/guide-{number}", source)
        assert answer.status_code == 201, (source, answer.text)


def test_every_filter_of_the_guide_is_one(gateway):
    examples = (HOUSE / "docs/filters.md").read_text().split("## Examples")[1].split("## Lists")[0]
    filters, of_records = (re.findall(r"^\| `(.*?)` \| ", part, re.M) for part in examples.split("Filters over records:"))
    assert len(filters) >= 8 and len(of_records) >= 4
    lists = ("/v1/users", "/v1/channels", "/v1/users/guide/memberships")
    for text in of_records:
        assert 200 in [gateway.call("GET", path, params={"filter": text}).status_code for path in lists], text
    for text in filters:
        answer = gateway.call(
            "POST", "/v1/webhooks", {"url": "https://example.com/hook", "types": ["x.y"], "filter": text})
        assert answer.status_code == 201, (text, answer.text)

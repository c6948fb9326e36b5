"""The dashboard and the alerts ask for what the gateway shows, in PromQL that parses."""

import json
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path

import promql_parser
import pytest
import yaml

HOUSE = Path(__file__).parents[2]
DASHBOARD = json.loads((HOUSE / "packaging/grafana/parley.json").read_text())
ALERTS = yaml.safe_load((HOUSE / "packaging/prometheus/alerts.yaml").read_text())
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


@pytest.fixture(scope="module")
def shown(url):
    """The names at /metrics, those of histograms with their endings, and what docs/metrics.md says may be there."""
    text = urllib.request.urlopen(url + "/metrics", timeout=10).read().decode()
    names = set()
    for name, kind in re.findall(r"^\| `(\w+)` \| (\w+) \|", (HOUSE / "docs/metrics.md").read_text(), re.M):
        names |= {name + ending for ending in ("_sum", "_count")} if kind == "summary" else {name}
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M):
        names |= {name + ending for ending in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    return names


def asked(expression):
    """The names of metrics in an expression, after it was parsed."""
    expression = expression.replace("$__rate_interval", "5m")
    promql_parser.parse(expression)
    return set(re.findall(r"\b(?:parley|process)_[a-z_]+", expression))


def test_the_dashboard_asks_for_what_there_is(shown):
    expressions = [target["expr"] for panel in PANELS for target in panel["targets"]]
    assert len(expressions) > 20
    for expression in expressions:
        assert asked(expression) <= shown, expression


def test_the_dashboard_can_be_imported():
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    taken = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        assert place["x"] + place["w"] <= 24 and not cells & taken, panel["title"]
        taken |= cells
    # Any Prometheus that is chosen at the top, none of somebody's.
    assert {panel["datasource"]["uid"] for panel in PANELS} == {"${source}"}


def test_the_alerts_ask_for_what_there_is(shown):
    assert len(RULES) >= 10
    for rule in RULES:
        assert asked(rule["expr"]) <= shown, rule["alert"]
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert set(rule["annotations"]) == {"summary", "description"}


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed (Debian: prometheus)")
def test_the_alerts_fire_when_they_should():
    folder = HOUSE / "packaging/prometheus"
    for check in (["check", "rules", "alerts.yaml"], ["test", "rules", "alerts_test.yaml"]):
        done = subprocess.run(["promtool", *check], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

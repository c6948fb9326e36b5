"""What the README's first screen promises; that all its lines work is test_guides.py's."""

import json
import re
import subprocess
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text()
BLOCKS = [block for block in re.findall(r"```sh\n(.*?)```", README, re.S) if block.startswith("curl")]


def run(block, gateway):
    script = block.replace("http://127.0.0.1:8080", gateway.url)
    return subprocess.run(["bash", "-ec", script], capture_output=True, text=True, timeout=60)


def test_what_is_said_is_seen_by_who_watches(gateway):
    watch, say = BLOCKS[0], BLOCKS[1]
    watching = subprocess.Popen(
        ["bash", "-ec", "exec " + watch.replace("http://127.0.0.1:8080", gateway.url)], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    lines = iter(watching.stdout.readline, "")
    assert any(line.startswith("event: stream.ready") for line in lines)
    said = run(say, gateway)
    assert said.returncode == 0 and json.loads(said.stdout)["type"] == "message.created", said
    data = next(line for line in lines if line.startswith("data: ") and '"hello"' in line)
    assert json.loads(data.removeprefix("data: "))["data"] == {"text": "hello"}
    watching.kill()
    watching.wait()


def test_the_greeting_says_what_the_readme_says(gateway):
    greeting = (Path(__file__).parents[2] / "Sources/App/Gateway/GatewayProcess.swift").read_text()
    for block in BLOCKS[:2]:
        path = block.split("http://127.0.0.1:8080")[1].split("'")[0].strip()
        assert path in greeting


def test_the_page_shows_what_is_said(gateway, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(gateway.url + "/")
    wait = WebDriverWait(browser, 20)
    wait.until(lambda page: page.find_element(By.ID, "state").text == "live")
    browser.find_element(By.CSS_SELECTOR, "#emit button").click()
    item = wait.until(lambda page: page.find_element(By.CSS_SELECTOR, "#events li"))
    assert "message.created" in item.text and "hello" in item.text
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []

"""The guide's own lines work as they stand, in their order, and answer what it says."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

GUIDE = (Path(__file__).parents[2] / "docs/schemas.md").read_text()
# Each block of shell, with the answer that follows it if one does.
STEPS = re.findall(r"```sh\n(.*?)```(?:\n\n```json\n(.*?)```)?", GUIDE, re.S)


def differences(shown, answer, place="#"):
    """What an answer has otherwise than shown; `…` stands for anything."""
    if shown == "…":
        return []
    if isinstance(shown, dict) and isinstance(answer, dict):
        names = [f"{place}/{name}" for name in shown.keys() ^ answer.keys()]
        return names + [d for name in shown.keys() & answer.keys()
                        for d in differences(shown[name], answer[name], f"{place}/{name}")]
    if isinstance(shown, list) and isinstance(answer, list) and len(shown) == len(answer):
        return [d for i, pair in enumerate(zip(shown, answer)) for d in differences(*pair, f"{place}/{i}")]
    return [] if shown == answer else [f"{place}: {answer}"]


def test_every_line_of_the_guide_works(gateway, tmp_path):
    assert len(STEPS) >= 12
    program = Path(os.environ["PARLEY_BINARY"])
    (tmp_path / "parley").symlink_to(program)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    definition = STEPS[0][0].replace("http://127.0.0.1:8080", gateway.url)
    for lines, shown in STEPS[1:]:
        done = subprocess.run(
            ["bash", "-ec", definition + lines], capture_output=True, text=True, timeout=60, cwd=tmp_path,
            env=environment)
        assert done.returncode == 0, (lines, done)
        if shown:
            assert differences(json.loads(shown), json.loads(done.stdout)) == [], (lines, done.stdout)
        elif done.stdout.startswith("{"):
            answer = json.JSONDecoder().raw_decode(done.stdout)[0]
            assert "status" not in answer, (lines, answer)

    # What the guide says in words.
    deadline = time.monotonic() + 20
    while (report := gateway.call("GET", "/v1/event-types/order.paid/candidate").json())["refused"] == 0:
        assert time.monotonic() < deadline, report
    assert (report["accepted"], report["refused"], len(report["samples"])) == (0, 1, 1)
    refused = gateway.call("POST", "/v1/channels/shop/events", {"type": "odrer.paid", "data": 1})
    assert (refused.status_code, refused.json()["code"]) == (422, "undeclared_type")
    assert gateway.call("POST", "/v1/channels/shop/messages", {"text": "hi"}).status_code == 201


def test_the_file_of_the_guide_is_read(tmp_path):
    from conftest import Gateway

    block = next(b for b in re.findall(r"```json\n(.*?)```", GUIDE, re.S) if '"owner"' in b)
    folder = tmp_path / "types"
    folder.mkdir()
    (folder / "order.paid.json").write_text(block)
    os.environ["PARLEY_SCHEMAS"] = str(folder)
    gateway = Gateway(tmp_path / "data")
    try:
        gateway.start()
        declared = gateway.call("GET", "/v1/event-types/order.paid").json()
        assert (declared["origin"], declared["owner"], declared["latest_version"]) == ("file", "payments", 1)
    finally:
        del os.environ["PARLEY_SCHEMAS"]
        gateway.stop()

"""What the guide to schemas says in words; that its lines work, and answer what it shows, is test_guides.py's."""

import os
import time

from guides import HOUSE, Page

PAGE = Page(HOUSE / "docs/schemas.md")


def test_what_the_guide_says_is_so(gateway, tmp_path):
    PAGE.run(gateway, tmp_path)
    deadline = time.monotonic() + 20
    while (report := gateway.call("GET", "/v1/event-types/order.paid/candidate").json())["refused"] == 0:
        assert time.monotonic() < deadline, report
    assert (report["accepted"], report["refused"], len(report["samples"])) == (0, 1, 1)
    refused = gateway.call("POST", "/v1/channels/shop/events", {"type": "odrer.paid", "data": 1})
    assert (refused.status_code, refused.json()["code"]) == (422, "undeclared_type")
    assert gateway.call("POST", "/v1/channels/shop/messages", {"text": "hi"}).status_code == 201


def test_the_file_of_the_guide_is_read(tmp_path):
    from conftest import Gateway

    block = next(text for language, text in PAGE.blocks if language == "json" and '"owner"' in text)
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

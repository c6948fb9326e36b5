"""The quick start ends as it says: its own receiver finds the signature to be ours."""

import os
import socket
import subprocess
import sys
import threading
from queue import Queue

import pytest
from guides import HOUSE, Page

PAGE = Page(HOUSE / "docs/quick-start.md")


@pytest.fixture
def printed(tmp_path):
    """What the guide's receiver prints, and the address it listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path / "work"
    folder.mkdir()
    program = folder / "receive.py"
    program.write_text(next(text for language, text in PAGE.blocks if language == "python"))
    process = subprocess.Popen(
        [sys.executable, program], cwd=folder, env={**os.environ, "PORT": str(port)}, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    lines = Queue()
    reader = threading.Thread(target=lambda: [lines.put(line) for line in process.stdout])
    reader.start()
    yield lines, f"http://127.0.0.1:{port}/hook"
    process.kill()
    process.wait()
    reader.join()
    process.stdout.close()


def test_a_delivery_arrives_and_is_ours(gateway, printed, tmp_path):
    lines, url = printed
    PAGE.run(gateway, tmp_path, url)
    # The last event of the page, the only one that was emitted after the webhook was there.
    line = lines.get(timeout=30)
    assert line.startswith("ours: ") and '"amount": 4200' in line


def test_a_second_gateway_at_the_same_address_says_what_to_do(gateway, tmp_path):
    done = subprocess.run(
        [os.environ["PARLEY_BINARY"], "serve", "--dev", "--listen", gateway.address, "--data", tmp_path / "other"],
        capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert f"another program listens on {gateway.address} already" in done.stderr.splitlines()[-1]

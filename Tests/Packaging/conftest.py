import os
import re
import subprocess

import pytest


@pytest.fixture(scope="session")
def parley():
    """The program that is packaged."""
    return os.environ["PARLEY_BINARY"]


@pytest.fixture(scope="session")
def url(parley, tmp_path_factory):
    """The address of a running gateway."""
    data = tmp_path_factory.mktemp("data")
    log = data / "log"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [parley, "serve", "--dev", "--listen", "127.0.0.1:0", "--data", str(data)], stderr=stderr)
    try:
        while not (listening := re.search(r"listening on (http://\S+)", log.read_text())):
            assert process.poll() is None, log.read_text()
        yield listening[1]
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0

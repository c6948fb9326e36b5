"""Every command of the operator's guide is run, in its order, and answers what the guide says."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

from conftest import BINARY, needs_sqlite

GUIDE = (Path(__file__).parents[2] / "docs/operation.md").read_text()
# Each block of shell, with the output that follows it if one does; `…` stands for anything within a line.
STEPS = re.findall(r"```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?", GUIDE, re.S)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def plain(line):
    """Without the widths of columns."""
    return " ".join(line.split())


def pattern(shown):
    return ".*".join(re.escape(part) for part in plain(shown).split("…"))


@needs_sqlite
def test_every_command_of_the_guide_works(tmp_path):
    assert len(STEPS) >= 14
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/parley").symlink_to(BINARY)
    ports = {"8090": free_port(), "8091": free_port()}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
    environment["PATH"] = f"{tmp_path}/bin:{environment['PATH']}"
    exports = ""
    try:
        for lines, shown in STEPS:
            for port, free in ports.items():
                lines, shown = (text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free}") for text in (lines, shown))
            done = subprocess.run(
                ["bash", "-euc", exports + lines], capture_output=True, text=True, timeout=60, cwd=tmp_path,
                env=environment)
            assert done.returncode == 0, (lines, done)
            # As in the reader's shell, where they stay.
            exports += "".join(line + "\n" for line in lines.splitlines() if line.startswith("export "))
            if shown:
                said, expected = done.stdout.strip().splitlines(), shown.strip().splitlines()
                assert len(said) == len(expected), (lines, done.stdout)
                for line, like in zip(said, expected):
                    assert re.fullmatch(pattern(like), plain(line)), (like, line)
    finally:
        for file in tmp_path.glob("*.pid"):
            try:
                os.kill(int(file.read_text()), signal.SIGKILL)
            except ProcessLookupError:
                pass

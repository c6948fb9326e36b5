"""Every command of the guide about clusters is run, in its order, with PostgreSQL, NATS and HAProxy."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import requests
from conftest import BINARY
from test_operation_guide import free_port, pattern, plain

GUIDE = (Path(__file__).parents[2] / "docs/cluster.md").read_text()
# Each block of shell, with the output that follows it if one does; `…` stands for anything within a line.
STEPS = re.findall(r"^```sh\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", GUIDE, re.S | re.M)
NGINX = re.search(r"^```text\n(upstream .*?)^```", GUIDE, re.S | re.M)[1]
# Debian keeps the programs of administrators in the last folder.
PATH = f"{os.environ['PATH']}:/usr/sbin"

# The commands that would change the machine: packages must be installed already, and PostgreSQL keeps its files in a
# folder of the test.
COMMANDS = {
    "sudo": """
        if [ "$1" != -u ]; then exec "$@"; fi
        account=$2; shift 2
        # The account cannot read the commands of this test.
        export PGHOST="$STAGE" PATH="${PATH#*:}"
        if [ "$(id -u)" != 0 ]; then PGDATABASE=postgres exec "$@"; fi
        exec setpriv --reuid "$account" --regid "$account" --init-groups "$@"
        """,
    "apt-get": """
        shift 2
        dpkg-query --show "$@" > /dev/null
        """,
    "pg_createcluster": """
        version=$1 name=$2; shift 2
        exec /usr/bin/pg_createcluster "$version" "$name" --datadir "$STAGE/data" --logfile "$STAGE/log" \
            --socketdir "$STAGE" "$@" -- --no-sync
        """,
    "pg_ctlcluster": """
        exec /usr/bin/pg_ctlcluster --skip-systemctl-redirect "$@"
        """,
}
# Programs whose arguments are recorded, and the files with secrets, which must not be among these.
RECORDED = ["psql", "pg_dump", "curl"]
SECRETS = ["password", "owner-password", "nats-password", "secrets-key", "admin-key"]


def needs(*programs):
    missing = [name for name in programs if not shutil.which(name, path=PATH)]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {' '.join(missing)}")


@pytest.fixture
def stage():
    """A folder that the account of PostgreSQL can use, with a short path, because sockets are in it."""
    folder = Path(subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip())
    (folder / "etc").mkdir()
    if os.getuid() == 0:
        for path in [folder, folder / "etc"]:
            shutil.chown(path, "postgres", "postgres")
    yield folder
    server = folder / "data/postmaster.pid"
    if server.exists():
        os.kill(int(server.read_text().split()[0]), signal.SIGQUIT)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def reader(tmp_path, stage):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/parley").symlink_to(BINARY)
    recorded = {
        name: f"""echo "$0 $*" >> '{tmp_path}/arguments'\nexec {shutil.which(name)} "$@"\n""" for name in RECORDED}
    for name, text in (COMMANDS | recorded).items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\nset -e\n{text}")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PARLEY_", "PG"))}
    environment |= {
        "PATH": f"{tmp_path}/bin:{PATH}", "STAGE": str(stage), "PG_CLUSTER_CONF_ROOT": str(stage / "etc"),
        "LC_ALL": "C.UTF-8"}
    (tmp_path / "work").mkdir()
    yield Reader(tmp_path / "work", environment)
    for file in (tmp_path / "work").glob("*.pid"):
        try:
            os.kill(int(file.read_text()), signal.SIGKILL)
        except ProcessLookupError:
            pass


class Reader:
    """Runs the commands as a reader of the guide does in one shell."""

    def __init__(self, folder, environment):
        self.folder, self.environment, self.exports = folder, environment, ""
        self.ports = {port: free_port() for port in ["8080", "8081", "8082", "8083", "5433", "4223"]}

    def own(self, text):
        """The text with free ports in the place of the guide's."""
        return re.sub(r"\b(808[0-3]|5433|4223)\b", lambda match: self.ports[match[0]], text)

    def run(self, lines, shown=""):
        lines, shown = self.own(lines), self.own(shown)
        output, errors = self.folder.parent / "output", self.folder.parent / "errors"
        # Into files, because servers in the background keep them open.
        with output.open("w") as stdout, errors.open("w") as stderr:
            done = subprocess.run(
                ["bash", "-euc", f"umask 077\n{self.exports}{lines}"], stdout=stdout, stderr=stderr, timeout=90,
                cwd=self.folder, env=self.environment)
        logs = {file.name: file.read_text()[-2000:] for file in [errors, *self.folder.glob("*.log")]}
        assert done.returncode == 0, (lines, output.read_text(), logs)
        # As in the reader's shell, where they stay.
        self.exports += "".join(line + "\n" for line in lines.splitlines() if line.startswith("export "))
        if shown:
            said, expected = output.read_text().strip().splitlines(), shown.strip().splitlines()
            assert len(said) == len(expected), (lines, said, logs)
            for line, like in zip(said, expected):
                assert re.fullmatch(pattern(like), plain(line)), (like, line, logs)


def fastest_event(url, key):
    """The seconds from an emit to the arrival of its event at a stream: the best of 20 events, one after another."""
    headers = {"Authorization": f"Bearer {key}"}
    seconds = []
    with requests.get(f"{url}/v1/stream?channel=latency", headers=headers, stream=True, timeout=20) as stream:
        lines = stream.iter_lines(chunk_size=1)
        while b"stream.ready" not in next(lines):
            pass
        for n in range(20):
            start = time.monotonic()
            body = {"data": {"n": f"event {n};"}}
            sent = requests.post(f"{url}/v1/channels/latency/events", headers=headers, json=body, timeout=20)
            assert sent.status_code == 201
            while f"event {n};".encode() not in next(lines):
                pass
            seconds.append(time.monotonic() - start)
    return min(seconds)


@needs("pg_createcluster", "nats-server", "haproxy", "psql", "pg_dump")
def test_every_command_of_the_guide_works(reader):
    assert len(STEPS) >= 20
    balanced = []
    for lines, shown in STEPS:
        reader.run(lines, shown)
        if "haproxy -D" in lines:
            key = (reader.folder / "admin-key").read_text().strip()
            balanced.append(fastest_event(f"http://127.0.0.1:{reader.ports['8080']}", key))
    arguments = (reader.folder.parent / "arguments").read_text()
    assert all(f"/{name} " in arguments for name in RECORDED)
    assert [name for name in SECRETS if (reader.folder / name).read_text().strip() in arguments] == []
    # A balancer that holds small pieces of a response back delays each event.
    assert len(balanced) == 1 and balanced[0] < 0.1


@needs("nginx")
def test_the_nginx_of_the_guide_does_not_buffer(reader, gateway):
    """With one gateway in the place of both nodes, and with none: nginx then has to say so."""
    reader.ports |= dict.fromkeys(["8081", "8082"], gateway.address.rpartition(":")[2])
    (reader.folder / "nginx.conf").write_text(
        f"pid {reader.folder}/nginx.pid; error_log {reader.folder}/nginx.log; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {reader.folder}/body; proxy_temp_path {reader.folder}/proxy;\n"
        f"fastcgi_temp_path {reader.folder}/fastcgi; uwsgi_temp_path {reader.folder}/uwsgi;\n"
        f"scgi_temp_path {reader.folder}/scgi; {reader.own(NGINX)} }}\n")
    reader.run(f"nginx -c '{reader.folder}/nginx.conf'")
    try:
        url = f"http://127.0.0.1:{reader.ports['8080']}"
        assert fastest_event(url, gateway.key) < 0.1
    finally:
        reader.run(f"nginx -c '{reader.folder}/nginx.conf' -s quit")

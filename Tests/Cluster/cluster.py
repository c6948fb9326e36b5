"""A cluster of real processes on loopback: PostgreSQL, NATS and nodes of `parley serve`."""

import glob
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

BINARY = os.environ.get("PARLEY_BINARY", "")
PROGRAMS = max(glob.glob("/usr/lib/postgresql/*/bin"), default="", key=lambda path: int(path.split("/")[4]))
# PostgreSQL refuses to run as root.
ACCOUNT = "postgres" if os.getuid() == 0 else None
BEARER = {"Authorization": "Bearer dev"}
STORE_SECONDS = 5  # the default of limits.store_seconds


def free_port():
    """A free port that the system does not give to a connection before the server has taken it: Linux takes those from
    32768 on (ip_local_port_range)."""
    for port in random.sample(range(20_000, 32_000), 100):
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("0.0.0.0", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")


def wait_until(condition, seconds, what):
    """The first true value of the condition."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, what() if callable(what) else what
        time.sleep(0.02)
    return value


class Program:
    """A process that the test starts, and can kill, pause and start again."""

    def __init__(self, log):
        self.process = None
        self.log = log

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def launch(self, command, **options):
        with self.log.open("a") as output:
            # A session of its own, so that the program's children can be killed with it.
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, **options)

    def send(self, number):
        if self.is_running:
            self.process.send_signal(number)

    def kill(self):
        """Kills the process and its children, which cannot clean up."""
        if self.is_running:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def pause(self):
        self.send(signal.SIGSTOP)

    def resume(self):
        self.send(signal.SIGCONT)

    def stop(self, how=signal.SIGTERM, seconds=30):
        if not self.is_running:
            return None
        self.resume()
        self.send(how)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return "killed"


class Postgres(Program):
    """A PostgreSQL server that waits for the disk at each commit."""

    def __init__(self, folder, name="pg", data=None, settings=()):
        super().__init__(folder / f"{name}.log")
        self.data = data or folder / name
        self.sockets = folder
        self.port = free_port()
        # The addresses 127.0.1.N let a rule of the firewall tell the nodes' connections apart.
        self.settings = [f"listen_addresses={','.join(['127.0.0.1'] + [f'127.0.1.{n}' for n in range(1, 4)])}",
                         "max_connections=100", "shared_buffers=32MB", *settings]

    def run(self, name, *arguments):
        subprocess.run([f"{PROGRAMS}/{name}", *map(str, arguments)], user=ACCOUNT, group=ACCOUNT, check=True, cwd="/",
                       extra_groups=[] if ACCOUNT else None, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def create(self):
        self.data.mkdir(exist_ok=True)
        shutil.chown(self.data, ACCOUNT or os.getuid(), ACCOUNT or os.getgid())
        self.data.chmod(0o700)
        self.run("initdb", "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8", "--no-sync", "-D", self.data)
        self.start()
        self.query("CREATE DATABASE parley", database="postgres")
        return self

    def start(self):
        command = [f"{PROGRAMS}/postgres", "-D", str(self.data), "-p", str(self.port), "-k", str(self.sockets)]
        for setting in self.settings:
            command += ["-c", setting]

        def is_up():
            # A killed session may still hold the shared memory. The new server then ends, and is started again.
            if not self.is_running:
                self.launch(command, cwd="/", user=ACCOUNT, group=ACCOUNT, extra_groups=[] if ACCOUNT else None)
            return self.try_query("SELECT 1", database="postgres") is not None

        wait_until(is_up, 60, lambda: "PostgreSQL did not start:\n" + self.log.read_text()[-4000:])
        return self

    def family(self):
        """The process ids of the postmaster and its children, each of which is a session of its own."""
        pid = self.process.pid
        return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]

    def kill(self):
        if self.is_running:
            for pid in self.family():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.wait()

    def stop(self, how=signal.SIGINT, seconds=30):
        return super().stop(how, seconds)

    def command(self, database):
        return [f"{PROGRAMS}/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p",
                str(self.port), "-U", "postgres", "-d", database]

    def try_query(self, text, database="parley"):
        """The lines of the result; None if the server does not answer."""
        found = subprocess.run(self.command(database) + ["-c", text], capture_output=True, text=True, timeout=30)
        return found.stdout.split("\n")[:-1] if found.returncode == 0 else None

    def query(self, text, database="parley"):
        found = self.try_query(text, database)
        assert found is not None, f"PostgreSQL did not answer: {text}"
        return found

    def sessions(self, name, condition="true"):
        """The process ids of the sessions of a node."""
        return [int(pid) for pid in self.query(
            f"SELECT pid FROM pg_stat_activity WHERE application_name = '{name}' AND {condition}")]


class HeadLock:
    """The lock of the head, held by a session of the test. Commits of the cluster wait for it."""

    def __init__(self, postgres):
        self.process = subprocess.Popen(
            postgres.command("parley"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.process.stdin.write("BEGIN; SELECT commit FROM head FOR UPDATE;\n")
        self.process.stdin.flush()
        self.process.stdout.readline()
        return self

    def __exit__(self, *_):
        self.process.communicate("ROLLBACK;\n", timeout=30)


class NATS(Program):
    """A NATS server."""

    def __init__(self, folder):
        super().__init__(folder / "nats.log")
        self.port = free_port()

    def start(self):
        # On every address of loopback, because each node has its own: 127.0.2.N.
        self.launch(["nats-server", "-a", "0.0.0.0", "-p", str(self.port)])

        def is_up():
            with closing(socket.socket()) as probe:
                return self.is_running and probe.connect_ex(("127.0.0.1", self.port)) == 0

        wait_until(is_up, 30, lambda: "NATS did not start:\n" + self.log.read_text()[-2000:])
        return self


class Node(Program):
    """A running `parley serve --engine … --bus …`. It can be started again on its port."""

    def __init__(self, folder, name, engine, bus, options=(), environment=None):
        super().__init__(folder / f"{name}.log")
        self.name, self.engine, self.bus, self.options = name, engine, bus, options
        self.environment = environment or {}
        self.folder = folder / name
        self.folder.mkdir()
        self.port = free_port()

    def start(self, awaits=True):
        offset = self.log.stat().st_size if self.log.exists() else 0
        command = [BINARY, "serve", "--dev", "--listen", f"127.0.0.1:{self.port}", "--engine", self.engine]
        if self.bus:
            command += ["--bus", self.bus]
        self.launch(command + list(self.options), cwd=self.folder, env={**os.environ, **self.environment})

        def is_up():
            text = self.log.read_text()[offset:]
            assert self.is_running, f"{self.name} did not start:\n{text}"
            return re.search(r"listening on http://", text)

        if awaits:
            wait_until(is_up, 60, lambda: f"{self.name} did not start:\n{self.log.read_text()[offset:]}")
        return self

    def call(self, method, path, body=None, headers={}, seconds=20):
        """The status, the headers and the decoded body of a response. Throws OSError or HTTPException without one."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)) as connection:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json", **BEARER, **headers})
            answer = connection.getresponse()
            data = answer.read()
            is_json = "json" in answer.headers.get("Content-Type", "")
            return answer.status, answer.headers, json.loads(data) if is_json else data

    def readiness(self):
        """The status of /readyz; None if the node does not answer."""
        try:
            return self.call("GET", "/readyz")[0]
        except (OSError, http.client.HTTPException):
            return None

    def wait_until_ready(self, seconds=30):
        wait_until(lambda: self.readiness() == 200, seconds,
                   lambda: f"{self.name} is not ready:\n{self.log.read_text()[-4000:]}")


class Cluster:
    """Three nodes with their servers. `with` ends all processes and removes the folder."""

    def __init__(self, nodes=3, postgres=None, settings=(), bus=None, environments={}, hosts=None, options=(),
                 data=None):
        self.folder = Path(tempfile.mkdtemp(prefix="parley-cluster-"))
        self.folder.chmod(0o755)
        # The sockets of PostgreSQL are in the folder of its account.
        sockets = self.folder / "servers"
        sockets.mkdir()
        shutil.chown(sockets, ACCOUNT or os.getuid(), ACCOUNT or os.getgid())
        self.servers = sockets
        self.postgres = Postgres(sockets, data=data, settings=settings)
        self.nats = NATS(self.folder)
        self.others = []  # further programs that end with the cluster
        self.count, self.environments, self.bus, self.hosts, self.options = nodes, environments, bus, hosts, options
        self.nodes = []

    def __enter__(self):
        try:
            self.postgres.create()
            self.nats.start()
            for number in range(1, self.count + 1):
                self.add_node(number)
        except BaseException:
            self.__exit__()
            raise
        return self

    def add_node(self, number):
        name = f"node{number}"
        hosts = self.hosts(number) if self.hosts else f"127.0.1.{number}:{self.postgres.port}"
        bus = self.bus(number) if self.bus else f"nats://127.0.2.{number}:{self.nats.port}"
        node = Node(self.folder, name, f"postgres://postgres@{hosts}/parley?application_name={name}", bus,
                    self.options, self.environments.get(number))
        self.nodes.append(node)
        return node.start()

    def __exit__(self, *_):
        for program in [*self.nodes, *self.others, self.nats, self.postgres]:
            program.resume()
            program.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

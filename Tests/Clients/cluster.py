"""What the nodes of a cluster share in tests: a PostgreSQL server, a NATS server and a proxy that alternates between the
nodes. One of each serves all clusters of a test session. They start with the first cluster and end with the session."""

import atexit
import functools
import itertools
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Whether each gateway of the tests is a cluster (scripts/client-tests --cluster).
IS_WANTED = os.environ.get("PARLEY_CLUSTER") == "1"
ACCOUNT = "postgres"
NODES = 2


def wait_for(condition, what, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited for {what}"
        time.sleep(0.02)
    return found


class Servers:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="parley-cluster-"))
        self.programs = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        self.started = []
        self.numbers = itertools.count(1)
        # The socket of PostgreSQL is in it.
        self.folder.chmod(0o711)
        if os.geteuid() == 0:
            account = pwd.getpwnam(ACCOUNT)
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        atexit.register(self.stop)
        initialized = self.run(
            self.programs / "initdb", "--username=postgres", "--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8",
            self.data)
        assert initialized.wait(timeout=120) == 0, self.log
        self.run(
            self.programs / "postgres", "-D", self.data, "-k", self.folder, "-c", "listen_addresses=",
            "-c", "max_connections=300", "-c", "fsync=off", "-c", "full_page_writes=off")
        # It writes its port to a file in this folder.
        self.run(shutil.which("nats-server", path=f"{os.environ['PATH']}:/usr/sbin"), "-a", "127.0.0.1", "-p", "-1",
                 "--ports_file_dir", self.folder)
        self.proxy = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("alternating_proxy.py")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.started.append(self.proxy)
        wait_for(lambda: self.query("SELECT 1").returncode == 0, f"PostgreSQL: {self.log}")
        self.worker = ThreadPoolExecutor(1)
        self.spare = self.worker.submit(self.create_database)
        [ports] = wait_for(lambda: list(self.folder.glob("*.ports")), f"NATS: {self.log}")
        self.bus = wait_for(lambda: next(iter(ports.read_text().split('"')[3:4]), None), f"NATS: {self.log}")

    @property
    def data(self):
        return self.folder / "data"

    @property
    def log(self):
        return self.folder / "log"

    def run(self, *command):
        """Starts a program as an unprivileged user."""
        privileges = [f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups"] if os.geteuid() == 0 else []
        with self.log.open("a") as log:
            process = subprocess.Popen(
                ["setpriv", *privileges, "--pdeathsig=QUIT", *map(str, command)], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, cwd=self.folder)
        self.started.append(process)
        return process

    def query(self, text):
        return subprocess.run(
            [self.programs / "psql", "-X", "-q", "-h", self.folder, "-U", "postgres", "-d", "postgres", "-c", text],
            capture_output=True, text=True, timeout=120)

    def make_database(self):
        """An empty database. The next one is made meanwhile, and old ones are dropped."""
        name = self.spare.result()
        self.spare = self.worker.submit(self.create_database)
        return name

    def create_database(self):
        name = f"test{next(self.numbers)}"
        made = self.query(f"CREATE DATABASE {name}")
        assert made.returncode == 0, made.stderr
        return name

    def drop_database(self, name):
        self.worker.submit(self.query, f"DROP DATABASE {name} WITH (FORCE)")

    def url(self, database):
        return f"postgres:///{database}?host={self.folder}&user=postgres"

    def ask_proxy(self, *words):
        self.proxy.stdin.write(" ".join(map(str, words)) + "\n")
        self.proxy.stdin.flush()
        return self.proxy.stdout.readline().strip()

    def stop(self):
        for process in reversed(self.started):
            if process.poll() is None:
                process.terminate() if process is self.proxy else process.send_signal(3)
        for process in self.started:
            process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


@functools.cache
def servers():
    return Servers()


class Cluster:
    """A database, and a port in front of the nodes that use it."""

    def __init__(self):
        self.database = servers().make_database()
        self.port = int(servers().ask_proxy("open"))

    @property
    def options(self):
        return ["--engine", servers().url(self.database), "--bus", servers().bus]

    def set_nodes(self, addresses):
        servers().ask_proxy("nodes", self.port, *addresses)

    def stored(self):
        """The bytes of the database's files and of PostgreSQL's log of changes."""
        return b"".join(path.read_bytes() for path in servers().data.rglob("*") if path.is_file())

    def close(self):
        servers().ask_proxy("close", self.port)
        servers().drop_database(self.database)

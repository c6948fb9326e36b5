"""The programs of compose-cluster.yaml, as processes of this machine with the settings of the file."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml

HOUSE = Path(__file__).parents[2]
COMPOSE = HOUSE / "packaging/compose-cluster.yaml"
SECRETS = {"PARLEY_DATABASE_PASSWORD": "database-password", "PARLEY_ADMIN_KEY": "admin-key-of-the-test",
           "PARLEY_SECRETS_KEY": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}
PATH = f"{os.environ['PATH']}:/usr/sbin:{max(Path('/usr/lib/postgresql').glob('*/bin'), default='')}"
MISSING = [name for name in ("initdb", "nats-server", "haproxy") if not shutil.which(name, path=PATH)]


@pytest.fixture(scope="module")
def services():
    done = subprocess.run(
        [Path(sys.executable).parent / "docker-compose", "-f", str(COMPOSE), "config", "--format", "json"],
        capture_output=True, text=True, env={**os.environ, **SECRETS})
    assert done.returncode == 0, done
    return json.loads(done.stdout)["services"]


def test_the_file_names_no_secret_and_opens_only_the_balancer(services):
    done = subprocess.run(
        [Path(sys.executable).parent / "docker-compose", "-f", str(COMPOSE), "config"], capture_output=True, text=True,
        env={name: value for name, value in os.environ.items() if name not in SECRETS})
    assert done.returncode != 0 and "PARLEY_" in done.stderr, done
    assert [name for name, service in services.items() if service.get("ports")] == ["balancer"]
    assert [port["host_ip"] for port in services["balancer"]["ports"]] == ["127.0.0.1"]
    assert services["parley1"] == services["parley2"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Machine:
    """One machine in the place of the network of the containers."""

    def __init__(self, services, folder, stack):
        self.services, self.folder, self.stack = services, folder, stack
        self.ports = {name: free_port() for name in services}

    def own(self, text):
        """The text with addresses of this machine in the place of the names of the containers."""
        return re.sub(rf"\b({'|'.join(self.ports)}):\d+", lambda match: f"127.0.0.1:{self.ports[match[1]]}", text)

    @contextmanager
    def running(self, *command, stop=signal.SIGTERM, **options):
        process = subprocess.Popen(command, **options)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(stop)
                process.wait(timeout=60)

    def log(self, name):
        return self.stack.enter_context((self.folder / f"{name}.log").open("w"))

    def start_postgres(self):
        settings = self.services["postgres"]["environment"]
        data = self.folder / "data"
        account = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.getuid() == 0 else []
        if account:
            shutil.chown(self.folder, "postgres", "postgres")
        environment = {**os.environ, "PATH": PATH}
        password = self.folder / "password"
        password.write_text(settings["POSTGRES_PASSWORD"])
        run = [*account, "initdb", "--pgdata", data, "--no-sync", "--username", settings["POSTGRES_USER"],
               "--pwfile", password, "--auth-local=trust", *settings["POSTGRES_INITDB_ARGS"].split()]
        subprocess.run(run, check=True, capture_output=True, env=environment)
        self.stack.enter_context(self.running(
            *account, "postgres", "-D", data, "-p", str(self.ports["postgres"]), "-k", self.folder, "-c",
            "listen_addresses=127.0.0.1", stop=signal.SIGQUIT, stderr=self.log("postgres"), env=environment))
        create = ["psql", "-qh", self.folder, "-p", str(self.ports["postgres"]), "-U", settings["POSTGRES_USER"], "-c",
                  f"CREATE DATABASE {settings['POSTGRES_DB']}", "postgres"]
        wait_until(lambda: subprocess.run(create, capture_output=True, env=environment).returncode == 0)

    def start_nats(self):
        command = ["127.0.0.1" if each == "0.0.0.0" else each for each in self.services["nats"]["command"]]
        command[command.index("--port") + 1] = str(self.ports["nats"])
        self.stack.enter_context(self.running(
            "nats-server", *command, stderr=self.log("nats"), env={**os.environ, "PATH": PATH}))

    def start_node(self, name, parley):
        settings = {key: self.own(value) for key, value in self.services[name]["environment"].items()}
        # The image sets the address; a container may not write where it runs.
        place = self.folder / name
        place.mkdir()
        return self.stack.enter_context(self.running(
            parley, "serve", cwd=place, stderr=self.log(name),
            env={"PATH": PATH, **settings, "PARLEY_LISTEN": f"127.0.0.1:{self.ports[name]}", "PARLEY_DATA": str(place)}))

    def start_balancer(self):
        source = self.services["balancer"]["volumes"][0]["source"]
        text = self.own(Path(source).read_text()).replace("bind :8080", f"bind 127.0.0.1:{self.ports['balancer']}")
        (self.folder / "haproxy.cfg").write_text(text)
        self.stack.enter_context(self.running(
            "haproxy", "-db", "-f", self.folder / "haproxy.cfg", stderr=self.log("balancer"),
            env={**os.environ, "PATH": PATH}))

    def call(self, path, body=None, service="balancer"):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.ports[service]}{path}", data=body and json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {SECRETS['PARLEY_ADMIN_KEY']}", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""
        except OSError:
            return 0, ""


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the condition does not come true"
        time.sleep(0.1)


@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {' '.join(MISSING)}")
def test_events_pass_through_the_balancer_while_one_node_ends(services, parley):
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        machine = Machine(services, Path(folder), stack)
        machine.start_postgres()
        machine.start_nats()
        nodes = [machine.start_node(name, parley) for name in ("parley1", "parley2")]
        machine.start_balancer()
        wait_until(lambda: all(machine.call("/readyz", service=name)[0] == 200 for name in ("parley1", "parley2")))
        wait_until(lambda: machine.call("/v1/channels/orders/events", {"data": {"n": 1}})[0] == 201)
        # Nothing was written where a container may not write.
        assert [path for name in ("parley1", "parley2") for path in (Path(folder) / name).iterdir()] == []
        nodes[0].kill()
        wait_until(lambda: machine.call("/v1/channels/orders/events", {"data": {"n": 2}})[0] == 201)
        status, text = machine.call("/v1/channels/orders/events", service="parley2")
        assert status == 200 and [event["data"]["n"] for event in json.loads(text)["data"]][-1] == 2, text


def test_a_node_takes_the_settings_of_the_chart(parley, tmp_path):
    """`config check` reads the file that the chart makes for a cluster, with the URL where the pod has it."""
    from test_chart import CLUSTER, rendered
    settings = yaml.safe_load(rendered(CLUSTER)["ConfigMap"]["data"]["parley.yaml"])
    assert settings == {
        "listen": "0.0.0.0:8080", "data": "/var/lib/parley/data", "engine_file": "/etc/parley-engine/url",
        "bus": CLUSTER["cluster"]["bus"], **CLUSTER["config"]}
    (tmp_path / "url").write_text("postgres://parley:secret@db1,db2/parley\n")
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump({**settings, "engine_file": str(tmp_path / "url")}))
    done = subprocess.run(
        [parley, "config", "check", "--config", tmp_path / "parley.yaml"], capture_output=True, text=True, env={})
    assert done.returncode == 0, done

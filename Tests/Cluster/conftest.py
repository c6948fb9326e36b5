"""The conditions of the fault tests: the programs that they need, and a network and mounts of their own."""

import os
import shutil

import pytest

import cluster


def pytest_configure(config):
    config.addinivalue_line("markers", "isolated: needs a network namespace and mounts of its own, so root")
    config.addinivalue_line("markers", "long: runs only in the full form (make chaos)")


def pytest_collection_modifyitems(items):
    missing = [name for name, is_there in (
        ("postgresql-15", cluster.PROGRAMS), ("nats-server", shutil.which("nats-server"))) if not is_there]
    for item in items:
        if missing:
            item.add_marker(pytest.mark.skip(reason=f"NOT TESTED: {', '.join(missing)} is not installed"))
        if item.get_closest_marker("long") and not os.environ.get("PARLEY_CLUSTER_FAULTS"):
            item.add_marker(pytest.mark.skip(reason="part of make chaos"))
        elif item.get_closest_marker("isolated") and not os.environ.get("PARLEY_ISOLATED"):
            item.add_marker(pytest.mark.skip(reason="NOT TESTED: a network namespace needs root and nftables"))

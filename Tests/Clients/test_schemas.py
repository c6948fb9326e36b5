"""Schemas on the command line: no network, and the same verdicts as another implementation."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PARLEY = os.environ["PARLEY_BINARY"]
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Benchmarks" / "schemas"))

REMOTE = '{"$id":"https://schemas.example.com/id.json","type":"integer"}'


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed: nobody sees whether a compile opens the network")
@pytest.mark.parametrize("reference, code", [("https://schemas.example.com/id.json", 0), ("https://elsewhere.example.com/x.json", 2)])
def test_compiling_a_schema_opens_no_socket(tmp_path, reference, code):
    (tmp_path / "remotes").mkdir()
    (tmp_path / "remotes" / "id.json").write_text(REMOTE)
    # The branch that names the other document is never taken, and still it must be there.
    (tmp_path / "schema.json").write_text(
        '{"$schema":"https://json-schema.org/draft/2020-12/schema","anyOf":[true,{"$ref":"%s"}]}' % reference)
    (tmp_path / "documents.jsonl").write_text("1\n")
    trace = tmp_path / "trace"
    done = subprocess.run(
        ["strace", "-f", "-e", "trace=openat,socket,connect,sendto,sendmsg", "-o", trace, PARLEY, "schema", "validate", "--schema",
         tmp_path / "schema.json", "--instances", tmp_path / "documents.jsonl", "--remotes",
         f"{tmp_path / 'remotes'}=https://schemas.example.com/"], capture_output=True, text=True)
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here: " + done.stderr.strip())
    assert done.returncode == code, done.stderr
    lines = trace.read_text().splitlines()
    # The trace is one: it shows the schema being read.
    assert any("schema.json" in line for line in lines)
    assert [line for line in lines if re.search(r"\b(socket|connect|sendto|sendmsg)\(", line)] == []


def test_verdicts_agree_with_another_implementation():
    import differential

    found = differential.compare(PARLEY, seed="ci", count=400)
    assert found["pairs"] > 5000
    assert found["valid"] > 1000
    assert found["failures"] == []
    assert found["accepted"] == []

"""The validators parley is compared with: PyPI packages in an environment of their own."""

import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE.parent.parent / ".build" / "bench-schemas"
PYTHON = ENVIRONMENT / "bin" / "python"


def install():
    """Makes the environment when it is not there, or not as requirements.txt says."""
    wanted = (HERE / "requirements.txt").read_text()
    mark = ENVIRONMENT / "requirements.txt"
    if mark.exists() and mark.read_text() == wanted:
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
    subprocess.run([ENVIRONMENT / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "-r",
                    HERE / "requirements.txt"], check=True)
    mark.write_text(wanted)


def blaze():
    """The program inside the package; its Python wrapper would only start it."""
    machine = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
    found = list(ENVIRONMENT.glob("lib/python*/site-packages/sourcemeta_jsonschema/jsonschema-linux-" + machine))
    if not found:
        sys.exit("the package sourcemeta-jsonschema has no program for this machine")
    found[0].chmod(0o755)
    return found[0]

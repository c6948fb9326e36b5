"""The manual, the completions and the scripts that make packages."""

import re
import subprocess
from pathlib import Path

HOUSE = Path(__file__).parents[2]


def test_the_manual_is_sound(parley, tmp_path):
    subprocess.run([HOUSE / "packaging/manual", parley, tmp_path], check=True)
    pages = sorted(tmp_path.iterdir())
    assert {"parley.1", "parley-emit.1", "parley-serve.1", "parley.yaml.5"} <= {page.name for page in pages}
    for page in pages:
        done = subprocess.run(
            ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), page
        assert done.stdout


def test_each_option_is_in_the_manual(parley, tmp_path):
    subprocess.run([HOUSE / "packaging/manual", parley, tmp_path], check=True)
    for command in ("emit", "webhooks", "subscriptions"):
        page = (tmp_path / f"parley-{command}.1").read_text().replace("\\-", "-")
        said = subprocess.run([parley, command, "--help"], capture_output=True, text=True).stdout
        nested = re.findall(r"^  ([a-z-]+)  +[A-Z]", said.split("SUBCOMMANDS:")[1], re.M) if "SUBCOMMANDS:" in said else []
        helps = [subprocess.run([parley, command, name, "--help"], capture_output=True, text=True).stdout
                 for name in nested] or [said]
        for option in set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", "".join(helps), re.M)) - {"--help", "--version"}:
            assert f"\\fB{option}\\fR" in page, (command, option)


def test_completions_are_shell(parley, tmp_path):
    script = tmp_path / "parley"
    script.write_text(subprocess.run(
        [parley, "--generate-completion-script", "bash"], check=True, capture_output=True, text=True).stdout)
    subprocess.run(["bash", "-n", script], check=True)
    done = subprocess.run(
        ["bash", "-ec", f". {script}; COMP_WORDS=(parley web); COMP_CWORD=1; COMP_LINE='parley web' COMP_POINT=10; "
         "$(complete -p parley | sed -E 's/.*-F ([^ ]+) .*/\\1/') parley web parley; echo \"${COMPREPLY[@]}\""],
        capture_output=True, text=True)
    assert done.stdout.split() == ["webhooks"], done


def test_scripts_have_no_traps_of_the_shell():
    scripts = [path for folder in ("packaging", "scripts", "Examples/shell", ".ci") for path in (HOUSE / folder).iterdir()
               if path.is_file() and b"bash" in path.read_bytes().split(b"\n")[0]]
    assert len(scripts) > 10
    subprocess.run(["shellcheck", "-x", *scripts], check=True, cwd=HOUSE)

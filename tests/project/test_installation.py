"""How the packages are installed: from a checkout until there is a release, and one constant says so."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from each import each
from places import ROOT

from layoutalg import installation

#: What would take the distribution of that name from a package index, where anybody could register it.
FROM_AN_INDEX = re.compile(
    r"""\b(?:pip3?|pipx|uvx?)\b                                  # an installer,
        (?:\s+(?:install|add|run|tool|pip|-[-\w]+(?:=\S+)?))*   # its verbs and options,
        \s+['"]?layoutalg                                        # the name, and no path, URL or file of a wheel,
        (?=$|[\s'"`,;:)\]\[=<>~!])(?!(?:\[\w+\])?['"]?\s*@)       # with an extra or a version, but no address
      | pypi\.org/project/layoutalg
      | "--from",\s*"layoutalg\b(?![^"]*@) """,
    re.VERBOSE,
)
#: The page on how a release is made, and this test.
ABOUT_RELEASES = {"docs/publishing.md", "tests/project/test_installation.py"}
#: What the constant decides, and records of texts that others wrote.
APART = ("layoutalg/installation.py", "tests/vectors/")


def texts() -> list[Path]:
    """The tracked files that are text."""
    done = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True
    )
    if done.returncode != 0:
        pytest.skip("this tree is no checkout")
    return [ROOT / name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def found_in(text: str) -> list[str]:
    """The commands of a text that install from an index."""
    return [one.group(0) for line in text.splitlines() for one in FROM_AN_INDEX.finditer(line)]


@each(
    "text",
    [
        "pip install layoutalg",
        "python -m pip install --quiet 'layoutalg[mcp]'",
        'pip install "layoutalg==0.1.0"',
        "uvx --from layoutalg descriptors derive",
        "uv tool install layoutalg",
        "run it by `uvx --from 'layoutalg[mcp]' layoutalg mcp`",
        "pipx run --spec layoutalg descriptors",
        '{"command": "uvx", "args": ["--from", "layoutalg[mcp]", "layoutalg", "mcp"]}',
        "[layoutalg](https://pypi.org/project/layoutalg/)",
    ],
)
def test_an_installation_from_an_index_is_found(text: str) -> None:
    assert found_in(text)


@each(
    "text",
    [
        "pip install . in a checkout of layoutalg",
        "pip install '.[mcp]' in a checkout of layoutalg",
        "pip install ./layoutalg",
        "pip install layoutalg-0.1.0-py3-none-any.whl",
        "pip install 'layoutalg @ git+https://example.org/layoutalg'",
        "claude mcp add layoutalg -- /path/to/layoutalg mcp",
    ],
)
def test_an_installation_from_a_place_is_not(text: str) -> None:
    assert not found_in(text)


def test_nothing_installs_from_an_index_before_a_release() -> None:
    if installation.REQUIREMENT == "layoutalg":
        return
    found = {}
    for path in texts():
        name = path.relative_to(ROOT).as_posix()
        if name in ABOUT_RELEASES or name.startswith(APART):
            continue
        try:
            commands = found_in(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue
        if commands:
            found[name] = commands
    assert not found


def test_the_constant_decides_what_messages_say(monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra in project["optional-dependencies"]:
        monkeypatch.setattr(installation, "REQUIREMENT", ".")
        assert installation.pip_install(extra) == f"pip install '.[{extra}]' in a checkout of layoutalg"
        monkeypatch.setattr(installation, "REQUIREMENT", project["name"])
        assert installation.pip_install(extra) == f"pip install 'layoutalg[{extra}]'"


def test_the_quick_start_is_two_commands_of_a_checkout() -> None:
    head = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## Quick start\n")[1].split("\n## ")[0]
    (block,) = re.findall(r"^```sh\n(.*?)^```", head, re.MULTILINE | re.DOTALL)
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert [command[0] for command in commands] == ["scripts/derive", "scripts/test"]
    assert all(os.access(ROOT / command[0], os.X_OK) for command in commands) and len(commands[1]) == 1
    done = subprocess.run(
        [sys.executable, "-m", "descriptors", "derive", "--steps", *commands[0][1:]],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "0x4000004000010000" in done.stdout

"""The pip command that installs the package. The first release changes only this module.

>>> pip_install("mcp").startswith("pip install ")
True
"""

from __future__ import annotations

#: The requirement that pip is given. There is no release yet, and somebody else could register the name on the package
#: index, so that every installation is from a checkout. The first release changes this to "layoutalg".
REQUIREMENT = "."


def pip_install(extra: str) -> str:
    """Return the command that installs the package with an extra, and the folder to run it in.

    Args:
        extra: an optional dependency group of ``pyproject.toml``.
    """
    place = " in a checkout of layoutalg" if REQUIREMENT == "." else ""
    return f"pip install '{REQUIREMENT}[{extra}]'{place}"

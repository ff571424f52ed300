"""How the package is installed: the one place that the first release changes.

>>> pip_install("mcp").startswith("pip install ")
True
"""

from __future__ import annotations

#: The requirement that pip is given. There is no release yet, and the name is free on the package index, where somebody
#: else could register it: until then every installation is from a checkout. The first release makes this "layoutalg".
REQUIREMENT = "."


def pip_install(extra: str) -> str:
    """Return the command that installs the package with an extra, and where to run it.

    Args:
        extra: an optional dependency group of ``pyproject.toml``.
    """
    place = " in a checkout of layoutalg" if REQUIREMENT == "." else ""
    return f"pip install '{REQUIREMENT}[{extra}]'{place}"

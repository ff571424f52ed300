"""Whether the CuTe DSL is there to be asked, and the errors of asking it.

Law: the DSL is required quietly if and only if it is available.

>>> try:
...     require()
... except OracleUnavailableError:
...     asked = False
... else:
...     asked = True
>>> asked == available()
True
"""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec

_DISTRIBUTION = "nvidia-cutlass-dsl"

#: What is said where it is missing, by an error and by every ``--check``.
MISSING = "the CuTe DSL is not installed; pip install 'layoutalg[oracle]' adds it"


class OracleError(RuntimeError):
    """The oracle failed as a tool: its process broke, or gave no answer that can be read."""


class OracleUnavailableError(OracleError):
    """The CuTe DSL is not installed (it is made for Linux only)."""


def available() -> bool:
    """Whether the CuTe DSL is installed, found out without importing it.

    >>> available() or version() is None
    True
    """
    return find_spec("cutlass") is not None and version() is not None


def version() -> str | None:
    """Version of the installed CuTe DSL, or ``None`` where there is none."""
    try:
        return metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None


def require() -> None:
    """Return quietly if the oracle can be asked.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
    """
    if not available():
        raise OracleUnavailableError(MISSING)

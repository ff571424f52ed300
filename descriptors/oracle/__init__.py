"""The oracle: NVIDIA's CuTe DSL, asked on the CPU and kept at arm's length.

This package is the only importer of ``cutlass`` (the distribution ``nvidia-cutlass-dsl``), and even it imports it only
in a worker process: some inputs make the DSL's native code abort or divide by zero, and a judge must outlive that.

- `descriptors.oracle.algebra` evaluates operations of the layout algebra and returns the text the DSL prints;
- `descriptors.oracle.words` compiles shared-memory descriptors and reads the 64-bit words out of the PTX.

An oracle is evidence, not a judge: the DSL answers some inputs wrongly without a word, and builds descriptors for some
operands that the hardware has no instruction for.

>>> import descriptors.oracle
>>> descriptors.oracle.available() in (True, False)
True
"""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec

__all__ = ["OracleError", "OracleUnavailableError", "available", "require", "version"]

_DISTRIBUTION = "nvidia-cutlass-dsl"


class OracleError(RuntimeError):
    """The oracle failed as a tool: its process broke, or gave no answer that can be read."""


class OracleUnavailableError(OracleError):
    """The CuTe DSL is not installed: ``pip install 'layoutalg[oracle]'`` adds it (Linux only)."""


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
        raise OracleUnavailableError(f"oracle: {_DISTRIBUTION} must be installed, found no such distribution")

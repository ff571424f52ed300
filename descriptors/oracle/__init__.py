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

from descriptors.oracle.installed import OracleError, OracleUnavailableError, available, require, version

__all__ = ["OracleError", "OracleUnavailableError", "available", "require", "version"]

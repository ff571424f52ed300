"""The oracle of descriptors: what NVIDIA's compiler, through the CuTe DSL, writes for a tile or an instruction.

The DSL is asked by `layoutalg.oracle`, in a process of its own; here stand the questions that the algebra has not, and
`descriptors.oracle.dsl`, the one place of this package that imports ``cutlass``.

`descriptors.oracle.words` compiles shared-memory descriptors and reads the 64-bit words out of the PTX.

An oracle is evidence, not a judge: the DSL builds descriptors for some operands that the hardware has no instruction
for.

>>> import descriptors.oracle
>>> descriptors.oracle.available() in (True, False)
True
"""

from layoutalg.oracle import MISSING, OracleError, OracleUnavailableError, available, require, version

__all__ = ["MISSING", "OracleError", "OracleUnavailableError", "available", "require", "version"]

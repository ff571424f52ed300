"""The oracle: NVIDIA's CuTe DSL, which runs on the CPU in a process of its own.

Only the subpackages named ``dsl`` import ``cutlass`` (the distribution ``nvidia-cutlass-dsl``), and they are imported
only in a worker process: some inputs make the DSL's native code abort or divide by zero, and the process that asks must
survive this. Other packages can provide modules that answer other kinds of questions (`layoutalg.oracle.service`).

`layoutalg.oracle.expressions` evaluates single operations of the layout algebra or whole expressions, and returns the
text that the DSL prints.

The oracle is evidence and not a judge: the DSL returns wrong results for some inputs silently.

>>> import layoutalg.oracle
>>> layoutalg.oracle.available() in (True, False)
True
"""

from layoutalg.oracle.service import MISSING, OracleError, OracleUnavailableError, available, require, version

__all__ = ["MISSING", "OracleError", "OracleUnavailableError", "available", "require", "version"]

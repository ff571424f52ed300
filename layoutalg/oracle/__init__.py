"""The oracle: NVIDIA's CuTe DSL, asked on the CPU and kept at arm's length.

Only the rooms called ``dsl`` import ``cutlass`` (the distribution ``nvidia-cutlass-dsl``), and even they are imported
only in a worker process: some inputs make the DSL's native code abort or divide by zero, and whoever asks must outlive
that. Who has questions of another kind brings the module that answers them (`layoutalg.oracle.service`).

`layoutalg.oracle.expressions` evaluates one operation of the layout algebra, or whole expressions, and returns the text
that the DSL prints.

An oracle is evidence, not a judge: the DSL answers some inputs wrongly without a word.

>>> import layoutalg.oracle
>>> layoutalg.oracle.available() in (True, False)
True
"""

from layoutalg.oracle.service import MISSING, OracleError, OracleUnavailableError, available, require, version

__all__ = ["MISSING", "OracleError", "OracleUnavailableError", "available", "require", "version"]

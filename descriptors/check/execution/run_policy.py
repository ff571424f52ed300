"""The limits of executing a kernel: values of its parameters, numbers of steps, and when no further run is started.

A verdict names the launches that were executed. These numbers therefore decide how long a check takes and what it can
claim, but code that was not executed is never called clean. A step is one instruction that a warp executes.
Source: ours.

Invariant: tiles of 64 leave loops an even and an odd number of iterations, and the small sizes one or none.

>>> [size // 64 % 2 for size in SIZES], [size // 64 for size in SMALL]
([0, 1], [1, 0])
"""

from __future__ import annotations

# -- values of parameters

#: Values of all scalar parameters, one per run: loops over K in tiles of 64 make few iterations, even and odd numbers.
SIZES = (256, 448)
#: Value of one parameter at a time, so that its loops make many iterations, and of all others in that run.
LARGE, LITTLE = 1024, 128
#: Largest number of parameters that are made large in turn: more parameters are often fields of structures.
MOST = 8
#: Sizes with fewer iterations than a ring has stages. A violation there is a doubt: no launch may be like that.
SMALL = (64, 1)
#: Values of one parameter with other remainders for unrolled loops.
REMAINDERS = (448, 447, 446, 445, 320, 640, 832, 192)
#: Launches that take loops farther, if no completed run took them far enough: the value of one parameter, and of the
#: others. The first two are 3 more than a multiple of 4, as iterations and in tiles of 64.
FARTHER_LAUNCHES = (
    (447, LITTLE),
    (960, LITTLE),
    (LARGE, SMALL[0]),
    (2 * LARGE, LITTLE),
    (2 * LARGE, SMALL[0]),
    (4 * LARGE, SMALL[0]),
)

# -- branches and shapes

#: Largest number of branches on floating-point parameters that are run both ways: each doubles the runs.
FORKS = 3
#: Largest number of cluster shapes that run to the end and are checked: a violation must occur with each.
SHAPES = 2

# -- numbers of steps

#: Steps after which one run is stopped: far more than a main loop with the sizes above takes.
BUDGET = 75_000
#: Steps of all runs of a kernel after which no other run begins: two that are stopped, or many that end.
LIMIT = 160_000
#: Largest number of steps of a run with assumed global memory after which more runs follow: it makes nothing clean.
WORTH = 50_000
#: Steps of the runs that show that all larger values of a parameter follow from those that were run.
CLOSING = 90_000
#: Steps of the runs that take loops farther.
FARTHER = 240_000
#: Steps of the runs of all kernels of a file, after which no other kernel is run.
FILE_LIMIT = 3_000_000

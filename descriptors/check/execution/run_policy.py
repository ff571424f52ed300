"""The limits of executing a kernel: values of its parameters, numbers of steps, and when no further run is started.

A verdict names the launches that were executed. These numbers therefore decide how long a check takes and what it can
claim, but nothing is called clean that was not executed. A step is one instruction that a warp executes.
Source: ours.

Law: tiles of 64 leave loops an even and an odd number of iterations, and the small sizes one or none.

>>> [size // 64 % 2 for size in SIZES], [size // 64 for size in SMALL]
([0, 1], [1, 0])
"""

from __future__ import annotations

# -- values of parameters

#: What all scalar parameters are, run by run: loops over K in tiles of 64 make a few iterations, even and odd numbers.
SIZES = (256, 448)
#: The value of one parameter after the other, so that its loops make many iterations, and that of all others then.
LARGE, LITTLE = 1024, 128
#: Parameters that are made large one after the other: those of a kernel with more are often parts of structures.
MOST = 8
#: Sizes with fewer iterations than a ring has stages. What is wrong there is a doubt: a kernel may never be called so.
SMALL = (64, 1)
#: Values of one parameter that leave other remainders where a loop was unrolled.
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

# -- ways and shapes

#: Branches that parameters of floating point decide, both ways of which are run: each doubles the runs.
FORKS = 3
#: Shapes of a cluster with which a kernel comes to its end that are judged: what is wrong must be wrong with each.
SHAPES = 2

# -- numbers of steps

#: Steps after which one run is given up: far more than a main loop with the sizes above takes.
BUDGET = 75_000
#: Steps of all runs of a kernel after which no other is begun: two that are given up, or many that end.
LIMIT = 160_000
#: Steps of a run that assumes something of global memory which are worth more runs: it makes nothing clean.
WORTH = 50_000
#: Steps of the runs that show that all larger values of a parameter follow from those that were run.
CLOSING = 90_000
#: Steps of the runs that take loops farther.
FARTHER = 240_000
#: Steps of the runs of all kernels of a file, after which no other kernel is run.
FILE_LIMIT = 3_000_000

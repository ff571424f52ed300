"""The judges of papers, by the names that items give.

Law: no two have one name.

>>> len(JUDGES) == sum(len(module.JUDGES) for module in _MODULES)
True
"""

from __future__ import annotations

from collections.abc import Callable

from descriptors.course.judges import drawn_stages as stages
from descriptors.course.judges import traces, unanswerable

_MODULES = (unanswerable, traces, stages)

#: The judges, by the name that an exercise gives.
JUDGES: dict[str, Callable[..., str | None]] = {
    name: judge for module in _MODULES for name, judge in module.JUDGES.items()
}

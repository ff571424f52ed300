"""The whole kernel of a plan of sm90, with a host program that checks it."""

from __future__ import annotations

from descriptors.errors import DescriptorError
from descriptors.plans.plan import Plan


def kernel(made: Plan) -> str:
    """The text of the kernel.

    Raises:
        DescriptorError: always, until there is one.
    """
    raise DescriptorError(f"emit: a kernel in CUDA must be of sm100 here, found {made.asked.arch}; give ptx or header")

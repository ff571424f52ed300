"""The command group ``descriptors tmem``, about Blackwell tensor memory."""

from __future__ import annotations

import click

from layoutalg.cli.console import Commands, say

#: The commands of the group: name, module, summary.
COMMANDS = {
    "plan": (
        "descriptors.cli.tmem_commands",
        "Plan the tensor-memory columns of a CTA: ranges, allocation, CTAs per SM.",
    ),
    "accumulator": (
        "descriptors.cli.tmem_commands",
        "Print the lane and column of each element of an accumulator.",
    ),
    "operand": ("descriptors.cli.tmem_commands", "Print the lane and column of each element of an A operand."),
    "metadata": ("descriptors.cli.tmem_commands", "Print where the metadata of a sparse A operand are stored."),
    "ld": (
        "descriptors.cli.tmem_commands",
        "Print the registers that tcgen05.ld fills, and the accumulator elements they hold.",
    ),
    "cp": (
        "descriptors.cli.tmem_commands",
        "Print where tcgen05.cp writes; for a tile, its verified descriptors and columns.",
    ),
    "scale-factors": (
        "descriptors.cli.tmem_commands",
        "Plan scale factors: shared memory, copies, tensor memory, ids.",
    ),
    "block-scaled": (
        "descriptors.cli.tmem_commands",
        "Plan a block-scaled multiplication with all its descriptors.",
    ),
    "shift": (
        "descriptors.cli.tmem_commands",
        "Plan a convolution that shifts its activations by one lane per tap.",
    ),
    "check": ("descriptors.cli.tmem_commands", "Check a sequence of tensor-memory instructions."),
}


@click.group(cls=Commands, headings={"Commands": COMMANDS}, invoke_without_command=True)
@click.pass_context
def tmem(context: click.Context) -> None:
    """Plan Blackwell's tensor memory: accumulators, operands, loads, stores, copies and scale factors.

    Each answer states its evidence; no Blackwell GPU was measured.

    \b
    descriptors tmem plan --m 128 --n 256 --accumulators 2
    descriptors tmem accumulator --m 128 --n 256 --cta-group 2
    descriptors tmem ld 16x256b --m 128 --n 64
    descriptors tmem block-scaled --a e2m1 --scale-dtype ue4m3 --m 128 --n 8 --k 64
    """
    if context.invoked_subcommand is None:
        say(context.get_help())


#: The commands that the group registers.
commands = [tmem]

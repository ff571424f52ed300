"""The group ``descriptors tmem``: Blackwell's tensor memory."""

from __future__ import annotations

import click

from layoutalg.cli.console import Commands, say

#: Every command of the group: the module that has it, and what it does in a few words.
COMMANDS = {
    "plan": ("descriptors.cli.tmem_commands", "The columns of a CTA: what lies where, what to allocate."),
    "accumulator": (
        "descriptors.cli.tmem_commands",
        "Where an accumulator lies: (m, n) -> lane and column.",
    ),
    "operand": ("descriptors.cli.tmem_commands", "Where an A operand lies in tensor memory."),
    "metadata": ("descriptors.cli.tmem_commands", "Where the metadata of a sparse A lie."),
    "ld": (
        "descriptors.cli.tmem_commands",
        "What registers tcgen05.ld fills, and what they hold of an accumulator.",
    ),
    "cp": (
        "descriptors.cli.tmem_commands",
        "Where tcgen05.cp writes; of a tile, its words and columns, proved.",
    ),
    "scale-factors": (
        "descriptors.cli.tmem_commands",
        "Scale factors: memory, copies, tensor memory, ids; proved.",
    ),
    "block-scaled": (
        "descriptors.cli.tmem_commands",
        "A block-scaled multiplication whole, every word of it.",
    ),
    "shift": ("descriptors.cli.tmem_commands", "A convolution whose activations move a lane a tap; proved."),
    "check": (
        "descriptors.cli.tmem_commands",
        "What is wrong with a sequence of tensor-memory instructions.",
    ),
}


@click.group(cls=Commands, table=COMMANDS, invoke_without_command=True)
@click.pass_context
def tmem(context: click.Context) -> None:
    """Blackwell's tensor memory: what lies in which cell, and how it gets there. Every answer says how it is known.

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

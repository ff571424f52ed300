"""The command ``descriptors tmem shift``."""

from __future__ import annotations

from typing import Any

import click

from descriptors.cli.asking.completion import complete
from descriptors.cli.asking.options import json_option, legality_option
from descriptors.cli.asking.values import note, noted, numbers
from descriptors.cli.tensor_cores.tmem_layouts import pair_option
from descriptors.output.chains import shifted
from descriptors.shift.convolution import shift_convolution
from layoutalg.cli.console import json_text, say


@click.command()
@click.option("--images", default=1, show_default=True, type=int, help="Images: N of the activations.")
@click.option("--height", required=True, type=int, help="H of an image.")
@click.option("--width", required=True, type=int, help="W of an image.")
@click.option("--channels", required=True, type=int, help="C: one or more K steps.")
@click.option("--filters", required=True, type=int, help="How many filters: N of the instruction.")
@click.option("--taps", required=True, callback=numbers("x"), help="RxS, the extents of a filter.")
@click.option("--padding", default="0x0", show_default=True, callback=numbers("x"), help="HxW, on each side.")
@click.option("--stride", default="1x1", show_default=True, callback=numbers("x"), help="HxW; W must be 1.")
@click.option("--dilation", default="1x1", show_default=True, callback=numbers("x"), help="HxW; W must be 1.")
@click.option("--dtype", default="bf16", show_default=True, shell_complete=complete, help="Element type.")
@pair_option
@click.option(
    "--quarters",
    default="all",
    show_default=True,
    shell_complete=complete,
    help="What one tcgen05.shift is taken to move, which is not settled: all, or the one of its address.",
)
@click.option(
    "--start",
    default="clear",
    show_default=True,
    shell_complete=complete,
    help="What D begins with: clear for zeros, middle for the tap that masks no lane.",
)
@click.option("--row", default=0, show_default=True, type=int, help="The output row whose steps are shown.")
@click.option("--tile", default=0, show_default=True, type=int, help="The tile of that row.")
@click.option("--draw", "drawn", help="Write a picture of the taps too: a file's name in .svg, .tex, .txt, .html.")
@click.option("--no-verify", is_flag=True, help="Simulate nothing.")
@legality_option
@json_option("Write steps, masks, traffic and the proof as JSON.")
def shift(as_json: bool, no_verify: bool, row: int, tile: int, drawn: str | None, **asked: Any) -> None:
    """Show a convolution whose activations move a lane for the next tap (tcgen05.shift), step by step; proved.

    \b
    descriptors tmem shift --images 2 --height 9 --width 9 --channels 16 --filters 16 --taps 3x3 --padding 1x1
    descriptors tmem shift --height 1 --width 300 --channels 32 --filters 32 --taps 1x5 --padding 0x2 --cta-group 2

    The outputs of the steps, simulated on whole numbers, are compared with the definition of a convolution.
    """
    made = shift_convolution(**asked)
    made.steps(row, tile)
    report = None if no_verify else made.verify()
    if drawn is not None:
        from descriptors.pictures.shifted import ShiftPicture  # a picture is not needed otherwise

        ShiftPicture(made, row, tile).save(drawn)
        note(f"wrote {drawn}")
    shown = (made, report, row, tile)
    say(json_text(shifted.record(*shown)) if as_json else noted(shifted.tell(*shown)))


#: The commands that the group registers.
commands = [shift]

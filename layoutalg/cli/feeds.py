"""The command ``layoutalg feeds``, which decides whether the registers of one instruction are those of the next."""

from __future__ import annotations

from typing import Any

import click

from layoutalg.cli.console import Status, json_text, say
from layoutalg.cli.options import EXPRESSIONS, json_option, source
from layoutalg.fragments.feed_code import feed_code, shared_memory_path
from layoutalg.fragments.feeds import ACROSS, QUADS, SHARED, SHUFFLES, WARPS, Feed, Registers, feeds
from layoutalg.fragments.fragment_names import is_name
from layoutalg.notation.expression import evaluate


def registers(text: str) -> Registers:
    """Return registers by the name of a fragment, or as the value of an expression or a print."""
    value: Registers = text.strip() if is_name(text) else evaluate(text)
    return value


@click.command("feeds", context_settings=EXPRESSIONS)
@click.argument("first")
@click.argument("second")
@click.option("--transposed", is_flag=True, help="Operand B is the transpose of the accumulators: B[k][n] = D[n][k].")
@click.option("--fixed-k", is_flag=True, help="The k of the other operand cannot be permuted.")
@json_option("Print the answer as JSON.")
def feeds_(first: str, second: str, transposed: bool, fixed_k: bool, as_json: bool) -> int:
    """Decide whether the registers that FIRST leaves are those that SECOND takes, and print the difference.

    FIRST and SECOND are names of fragments (`layoutalg atoms`), tiled copies, tiled MMAs, or layouts (thread, value)
    to the index of an element. If FIRST are accumulators and SECOND is operand A or B, columns of FIRST are the k of
    SECOND. The exit status is 1 if values move between threads.

    \b
    layoutalg feeds wgmma.m64n32k32.C wgmma.m64n32k32.A.e4m3
    layoutalg feeds mma.m16n8k16.C mma.m16n8k16.B.bf16
    layoutalg feeds mma.m16n8k32.C mma.m16n8k32.A.e4m3 --fixed-k
    layoutalg feeds ldmatrix.x4 mma.m16n8k16.A.f16
    """
    answer = feeds(registers(source(first)), registers(source(second)), transposed=transposed, fixed_k=fixed_k)
    say(json_text(record_feed(answer)) if as_json else str(answer))
    return Status.DIFFERENCE if answer.answer in (SHUFFLES, SHARED, QUADS, WARPS, ACROSS) else Status.ANSWER


def record_feed(feed: Feed) -> dict[str, Any]:
    """Return an answer as plain data.

    >>> record_feed(feeds("mma.m16n8k8.C", "mma.m16n8k8.A.tf32"))["sigma"]
    [0, 2, 4, 6, 1, 3, 5, 7]
    """
    store, load = shared_memory_path(feed) if feed.reach else ("", "")
    blocks = {
        count: [list(block) for block in feed.scale_blocks(count)] if count in feed.scale_counts else []
        for count in (16, 32)
    }
    return {
        "answer": feed.answer,
        "first": feed.first.name,
        "second": feed.second.name,
        "rows": feed.rows,
        "columns": feed.columns,
        "repeats": feed.repeats,
        "threads": feed.threads,
        "values": feed.values,
        "register_order": list(feed.register_order),
        "sigma": list(feed.sigma),
        "row_order": list(feed.row_order),
        "scale_blocks_16": blocks[16],
        "scale_blocks_32": blocks[32],
        "reach": feed.reach,
        "stay": list(feed.stay),
        "sources": [[list(pair) for pair in pairs] for pairs in feed.sources],
        "shuffles": feed.shuffles,
        "store": store,
        "load": load,
        "ptx": feed_code(feed),
    }


#: The commands that the group registers.
commands: list[click.Command] = [feeds_]

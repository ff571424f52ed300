"""Fuzzer of the command lines: hostile arguments for every command of both programs, each in a child with limits.

The commands, their options and types are asked of click, and the examples in their help are where half of the cases
start. A case is the program, its arguments, and which streams are closed. What must hold: no traceback, a documented
status, one line on standard error where the status is 2, no control character on a terminal, 5 seconds, 2 GB.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import unicodedata
from functools import cache
from importlib import import_module
from typing import Any

import click

from attacks import isolated
from attacks.algebra import draw as draw_expression
from attacks.algebra import layout as draw_layout
from layoutalg.notation.expression import OPERATIONS

NAME = "commands"
PROGRAMS = ("layoutalg", "descriptors")
#: Commands that answer 1 where they find a difference, a failed proof, or nothing.
_MAY_FIND = {"same", "diff", "atlas"}
_HUGE = [
    "9" * 25,
    "-1",
    "0",
    "1e9",
    "0x" + "f" * 20,
    "1099511627776",
    "65536",
    "4294967296",
    "³",
    "١٢٣",
    "1_000",
    "nan",
]
_HOSTILE = [
    "", " ", "-", "--", "--json", "-h", "--color", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\rb", "\x7f", "\x9b1m",
    "\u202etxt", os.fsdecode(b"\xff\xfe"), "🙂", "ünï", "%s%n", "{0.__class__}", "$(id)", "__import__('os')",
    "(" * 3000, "[" * 2000, "(" * 400 + "1" + ")" * 400, "9" * 5000, ",", "()", "(,)", "_", "None", "True", "1:", ":1",
    "((),4):((),1)", "4:1@99999", "S<3,4,3>", "S<9,9,9> o 0 o 4:1", "S<3,4,3> o m o (8,64):(64,1)",
    "S<3,4,3> o 0 o (4,8):(1@0,1@1)", "(8*m,64):(64,1)",
    "*".join(["9223372036854775807"] * 300), "2*" * 200 + "2", "1099511627776:1", "(1024,1024,64):(1,1024,1048576)",
]  # fmt: skip
#: What grows when it is evaluated.
_GROWING = [
    "4:a**64*b**64*c**64*d**64-1", "(4,1099511627776):(1,5)", "(4:1@9999999)(2)", "a**64*b**64", "m", "8*m:1", "2**70",
    "(" + ",".join(["a+b+c+d+e"] * 20) + ")", "((((2,2),2),2),2)", "4:4611686018427387904", "9223372036854775807:1",
]  # fmt: skip
_WORDS = (
    "bf16 f16 tf32 e4m3 e2m1 u8 all K MN both none 32B 64B 128B 128B_BASE32B sm90 sm100 strict lenient off elements "
    "bytes cute text latex python json cuda ptx cutedsl 128x128 64x16 64x64 128x64x2 64:256:64x64 64x32 8x8 16384x16 "
    "0,1 1,0 128x256b A B either auto 0x4000404000010000 0x8000402002000000 0x40003fff00010000 (64,16):(64,1) "
    "lane,register lane=32,register=8 dim0=64,dim1=64 (32,8):(1,64) (64,64):(64,1) f8f6f4 mxf4 i8 227328 1024"
).split()


@cache
def commands(program: str) -> dict[str, click.Command]:
    """Every command of a program, by name, as click knows them; "" is the program itself."""
    group = import_module(f"{program}.cli.command").command
    context = click.Context(group)
    named = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {"": group, **{name: one for name, one in named.items() if one is not None}}


@cache
def examples(program: str, name: str) -> list[list[str]]:
    """The command lines in the help of a command."""
    joined = re.sub(r"\\\n\s*", "", commands(program)[name].help or "")  # a line goes on after a backslash
    lines = joined.replace("\b", "").split("\n")
    split = [shlex.split(line) for line in lines if line.strip().startswith(f"{program} {name}") and "`" not in line]
    return [words[1:] for words in split]


def draw(rng: random.Random) -> dict[str, Any]:
    program = rng.choice(PROGRAMS)
    name = rng.choice(sorted(commands(program)))
    known = examples(program, name)
    words = list(rng.choice(known)) if known and rng.random() < 0.5 else _random_words(rng, program, name)
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        words = _mutated(rng, words)
    if name == "atlas":
        words = _harmless(words)
    if "explore" in words and "--html" not in words:
        words += ["--html", "-"]  # else it serves until it is interrupted
    closed = rng.choice(["stdin", "stdout", "stderr"]) if rng.random() < 0.04 else ""
    return {"program": program, "arguments": [word.replace("\0", "") for word in words], "closed": closed}


def _random_words(rng: random.Random, program: str, name: str) -> list[str]:
    """A command with options and arguments that are drawn by their types."""
    words = [name] if name else []
    for parameter in commands(program)[name].params:
        if isinstance(parameter, click.Argument):
            words += [_value(rng, parameter) for _ in range(1 if rng.random() < 0.9 else rng.choice([0, 2]))]
        elif parameter.name != "workers" and rng.random() < (0.9 if parameter.required else 0.35):
            words.append(rng.choice([*parameter.opts, *parameter.secondary_opts]))
            if isinstance(parameter, click.Option) and not parameter.is_flag:
                words.append(_value(rng, parameter))
    return words


def _value(rng: random.Random, parameter: click.Parameter) -> str:
    if isinstance(parameter.type, click.types.IntParamType) and rng.random() < 0.6:
        return rng.choice([str(rng.randrange(-2, 300)), *_HUGE])
    if rng.random() < 0.4:
        return _notation(rng.choice([draw_layout(rng), draw_expression(rng), _call(rng)]))
    return rng.choice(_WORDS) if rng.random() < 0.7 else rng.choice(_HUGE + _HOSTILE)


def _call(rng: random.Random) -> str:
    """A call of any operation with any operands."""
    names = [name for topic in OPERATIONS.values() for name in topic]
    pool = [*_HOSTILE, *_HUGE, *_WORDS, *_GROWING, draw_layout(rng), draw_layout(rng, "symbols")]
    return f"{rng.choice(names)}({', '.join(rng.choice(pool) for _ in range(rng.choice([1, 2, 2, 3])))})"


def _notation(line: str) -> str:
    """A line of Python as the commands take it: basis strides by ``E`` have no spelling there, so they stay."""
    return line.replace("ScaledBasis", "E").replace("[", "(").replace("]", ",)")


def _mutated(rng: random.Random, words: list[str]) -> list[str]:
    if not words:
        return [rng.choice(_HOSTILE)]
    at = rng.randrange(len(words))
    word = words[at]
    new = rng.choice(
        [
            [],
            [word, word],
            [rng.choice(_HOSTILE)],
            [rng.choice(_HUGE)],
            [rng.choice(_WORDS)],
            [word, rng.choice(_HOSTILE)],
            [_nudged(rng, word)],
            [_nudged(rng, word)],
            [word + rng.choice(_HOSTILE)],
        ]
    )
    return words[:at] + new + words[at + 1 :]


def _nudged(rng: random.Random, word: str) -> str:
    """A word with one character taken out, doubled or changed, or a number made huge."""
    at = rng.randrange(len(word) + 1)
    return word[:at] + rng.choice(["", "0", "(", ",", "*m", "\x1b", "999999", "-", "o"]) + word[at + rng.randrange(2) :]


def _harmless(words: list[str]) -> list[str]:
    """Arguments of the command that writes a file, so that it writes none but in the folder of the child."""
    kept = [word.replace("/", "_").replace("..", "_").replace("~", "_") for word in words]
    return [word for word in kept if not word.startswith("--w")][:40]


# ---- the check ----


@cache
def warm() -> None:
    """Import what commands import when they are called, so that no child pays for it."""
    for program in PROGRAMS:
        commands(program)
        for name in dir(import_module(program)):
            getattr(import_module(program), name)
    import_module("numpy")
    import_module("sympy")


def check(case: dict[str, Any], seconds: int = 5) -> str | None:
    warm()

    def call() -> int:
        main = import_module(f"{case['program']}.cli").main
        return int(main(case["arguments"]))

    return complaint(case, isolated.run(call, seconds, case["closed"]))


@cache
def may_find(program: str) -> set[str]:
    """The commands whose help says that status 1 is an answer."""
    return _MAY_FIND | {
        name
        for name, one in commands(program).items()
        if name and re.search("xit status (is )?1", " ".join(one.get_help(click.Context(one)).split()))
    }


#: What a command prints when it refuses its input: a fact, notes and ways out.
_REFUSAL = re.compile(r"(?:[^\n]+: error: [^\n]+\n(?:  (?:note|help): [^\n]+\n)*)+")


def complaint(case: dict[str, Any], outcome: isolated.Outcome) -> str | None:
    """What is wrong with the end of a command."""
    errors = outcome.errors.decode("utf-8", "replace")
    if outcome.ended_by:
        return f"{outcome.ended_by}: {errors[-100:]}"
    if "Traceback" in errors or outcome.status:
        last = errors.strip().split("\n")[-1] if errors.strip() else f"status {outcome.status}"
        return f"traceback: {last[:200]}"
    if outcome.value not in (0, 2) and not (outcome.value == 1 and may_find(case["program"]) & set(case["arguments"])):
        return f"status {outcome.value} is not documented: {errors[:100]}"
    if outcome.value == 2 and outcome.output.startswith(b'{"schema": 1, "error": {') and not errors:
        return (
            None if "json" in " ".join(case["arguments"]) else f"JSON that nobody asked for: {outcome.output[:200]!r}"
        )
    if outcome.value == 2 and case["closed"] != "stderr" and not _REFUSAL.fullmatch(errors):
        return f"not a refusal on standard error: {errors[:200]!r}"
    if outcome.value == 2 and case["closed"] == "stderr" and outcome.output:
        return f"a refusal on standard output: {outcome.output[:200]!r}"
    colored = any(word.startswith("--co") for word in case["arguments"])
    for stream in (errors, "" if colored else outcome.output.decode("utf-8", "replace")):
        control = next((c for c in stream if unicodedata.category(c) == "Cc" and c not in "\n\t"), "")
        if control:
            return f"control character {control!r} in {stream[:200]!r}"
    return None


def line(case: dict[str, Any]) -> str:
    marks = {"": "", "stdin": " <&-", "stdout": " >&-", "stderr": " 2>&-"}[case["closed"]]
    return " ".join([case["program"], *map(_quoted, case["arguments"])]) + marks


def _quoted(word: str) -> str:
    """A word as bash reads it, without any byte that a terminal should not get."""
    if word.isascii() and word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8", "surrogateescape")) + "'"

"""What NVIDIA's own code says of instructions beside their words, without a GPU.

Where the fields of the CuTe DSL's typed words lie, and whether an MMA operation of the DSL takes types and extents.

Acceptance is evidence of the wider reading, refusal of the narrower one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from descriptors.oracle.dsl.instructions import answering, operation
from descriptors.oracle.instructions import InstructionRequest
from layoutalg.frozen import contents
from layoutalg.oracle import OracleError
from layoutalg.oracle.service import ask

_WORDS = ("Tcgen05InstrDesc", "Tcgen05MxInstrDesc", "Tcgen05MxOmmaInstrDesc")


def field_positions() -> dict[str, dict[str, dict[int, int]]]:
    """For each typed word of the DSL and each of its fields: bit of the word -> value that the field then reads.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.
    """
    (reply,) = ask("dsl_instructions", [{"ask": "fields"}], each_s=60.0, batch=1, target="sm_100a")
    if reply.status != "ok":
        raise OracleError(f"oracle: the typed words must be readable, found {reply.value}")
    return {word: {name: dict(bits) for name, bits in fields.items()} for word, fields in reply.value.items()}


def accepted(requests: Iterable[InstructionRequest]) -> list[bool]:
    """Whether the DSL constructs each operation.

    Raises:
        OracleUnavailableError: if the CuTe DSL is not installed.
        OracleError: if the oracle broke as a tool.
    """
    asked = list(requests)
    taken = [False] * len(asked)
    for target in dict.fromkeys(request.target for request in asked):  # the DSL has one target a process
        places = [index for index, request in enumerate(asked) if request.target == target]
        questions = [{"ask": "accepts", **contents(asked[index])} for index in places]
        replies = ask("dsl_instructions", questions, each_s=60.0, batch=500, target=target)
        for index, reply in zip(places, replies, strict=True):
            taken[index] = reply.status == "ok"
    return taken


def _fields(_: dict[str, Any]) -> dict[str, dict[str, list[tuple[int, int]]]]:
    """For each typed word and field, the bits that it reads and what each is worth."""
    from cutlass.experimental import primitives

    by_word: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for name in _WORDS:
        typed = getattr(primitives, name)
        fields = [field for field in dir(typed) if isinstance(getattr(typed, field), property) and field != "dtype"]
        by_word[name] = {
            field: [(bit, int(read)) for bit in range(32) if (read := getattr(typed(1 << bit), field))]
            for field in fields
        }
    return by_word


def _accepts(question: dict[str, Any]) -> bool:
    operation(question)
    return True


_ANSWERS: dict[str, Callable[[dict[str, Any]], Any]] = {"fields": _fields, "accepts": _accepts}


def prepare() -> Callable[[list[Any], Callable[[str, object], None]], None]:
    """Import the DSL and return the function that answers questions."""
    from cutlass import cute  # noqa: F401 - imported once here, for every child to inherit

    return answering(lambda question: _ANSWERS[question["ask"]](question))

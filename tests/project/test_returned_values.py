"""What the public functions return are values: frozen, hashable, told by their ``repr``, and fit to cross processes."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest
from each import each
from rooms import modules

import descriptors
import layoutalg
from descriptors import (
    DescriptorError,
    accumulator,
    block_scaled,
    check_events,
    convolution,
    decode,
    decode_idesc,
    derive,
    diff,
    form,
    idesc,
    match,
    plan,
    propose,
    readout,
    scale_factors,
    shift_convolution,
    tma_plan,
    tmem_copied,
    tmem_copy,
    tmem_move,
    tmem_plan,
    verify,
)
from descriptors.smem.debug.candidates import candidates
from descriptors.smem.derivation.request import reader, request
from descriptors.smem.derivation.symbolic import derive_symbolic
from descriptors.sweep.formulas import formulas
from descriptors.sweep.lattice import lattice
from descriptors.sweep.search import survey

ARGUMENTS: dict[str, Any] = {"tile": (128, 64), "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}
LAYOUT = "S<3,3,3> o 0 o (64,16):(64,1)"
READ: dict[str, Any] = {"dtype": "bf16", "major": "K"}

VALUES: dict[str, Callable[[], Any]] = {
    "derivation": lambda: derive(**ARGUMENTS),
    "request": lambda: request(reader("sm90", "bf16", (64, 16)), (128, 64), major="K", swizzle="128B"),
    "form": lambda: form("MN", "64B"),
    "match": lambda: match("(64,16):(64,1)", "bf16", "K", "128B"),
    "report": lambda: verify(derive(**ARGUMENTS)),
    "advance": lambda: derive(**ARGUMENTS).advance_report(),
    "decoded": lambda: decode(0x0010000002001000, "sm90", dtype="bf16", major="K", shape=(64, 16)),
    "unknown code": lambda: decode(0x6000000000000000, "sm100"),
    "diff": lambda: diff(1 << 62 | 32 << 32, LAYOUT, arch="sm90", **READ),
    "candidate": lambda: candidates(LAYOUT, "bf16")[0],
    "no candidate": lambda: candidates(LAYOUT, "bf16")[-1],
    "instruction": lambda: decode_idesc(idesc("bf16", m=128, n=128), "f16"),
    "plan": lambda: tma_plan(derive(**ARGUMENTS)),
    "main loop": lambda: plan("m64n8k16", "bf16", tile=(64, 8, 16), stages=1),
    "main loop of Blackwell": lambda: plan("m128n8k64", "e2m1", tile=(128, 8, 64), kind="mxf4nvf4", stages=1),
    "proposals": lambda: propose("bf16", tile=(64, 8, 16), arch="sm90", stages=1),
    "product": lambda: plan("m64n8k16", "bf16", tile=(64, 8, 16), stages=1).verify(),
    "convolution": lambda: convolution((1, 9, 9, 16), (8, 3, 3), padding=1),
    "implicit product": lambda: plan(
        "m64n8k16", "bf16", tile=(64, 8, 16), stages=1, convolution=convolution((1, 9, 9, 16), (8, 3, 3))
    ),
    "fragment": lambda: accumulator(128, 64, cta_group=2),
    "columns": lambda: tmem_plan(128, 8, 64, "e2m1", scale_dtype="ue4m3"),
    "load": lambda: tmem_move("16x256b.x2.pack::16b"),
    "readout": lambda: readout(accumulator(64, 16), "16x256b"),
    "copy": lambda: tmem_copy("32x128b.warpx4"),
    "copied": lambda: tmem_copied((128, 64), "bf16", "128B", "128x256b"),
    "landing": lambda: tmem_copied((128, 64), "bf16", "128B", "128x256b").verify(),
    "events": lambda: check_events(["alloc d 48", "dealloc d"]),
    "scale factors": lambda: scale_factors(128, 64, 16),
    "block-scaled": lambda: block_scaled(128, 8, 64, "e2m1", scale_dtype="ue4m3"),
    "shifts": lambda: shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1)),
    "shifts run": lambda: shift_convolution(2, 3, 20, 16, 16, (1, 3), (0, 1)).verify(),
    "steps": lambda: shift_convolution(2, 9, 9, 16, 16, (3, 3), (1, 1)).steps()[2],
    "lattice": lambda: lattice("64:128:64x64", dtypes="bf16"),
    "survey": lambda: survey((64, 64), "bf16", (64, 16), major="K", producer="rows"),
}

SYMBOLIC: dict[str, Callable[[], Any]] = {
    "closed form": lambda: derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16)),
    "row of formulas": lambda: formulas()[0],
}

REFUSALS: dict[str, Callable[[], object]] = {
    "DescriptorError": lambda: derive(**{**ARGUMENTS, "tile": (128, 100)}),
    "ChoiceError": lambda: derive(**{**ARGUMENTS, "dtype": "f17"}),
    "FieldError": lambda: derive(**{**ARGUMENTS, "tile": (128, 64, 400), "capacity": None}).words(),
    "IllegalError": lambda: derive(**{**ARGUMENTS, "mma": (64, 8)}),
    "NotCanonicalError": lambda: match("(64,16):(40,1)", "bf16", "K", "128B"),
    "TmaError": lambda: tma_plan(derive((128, 64), "e2m3", "K", "64B", (64, 32))),
}


def names() -> dict[str, Any]:
    """Every public class of the two packages, wherever it lives."""
    found = {name: getattr(face, name) for face in (layoutalg, descriptors) for name in dir(face)}
    for module in modules():
        if module.startswith("descriptors.") and ".dsl" not in module and not module.endswith("__main__"):
            found |= {name: one for name, one in vars(importlib.import_module(module)).items() if isinstance(one, type)}
    return found


@each("make", [*VALUES.values(), *SYMBOLIC.values()], ids=[*VALUES, *SYMBOLIC])
def test_what_is_returned_is_frozen_hashable_and_survives_a_pickle(make: Callable[[], Any]) -> None:
    value = make()
    assert not hasattr(value, "__dict__")
    with pytest.raises(FrozenInstanceError):
        setattr(value, fields(value)[0].name, None)
    again = pickle.loads(pickle.dumps(value))
    assert again == value and hash(again) == hash(value) and str(again) == str(value)


@each("make", VALUES.values(), ids=VALUES)
def test_the_text_of_a_value_is_the_expression_that_makes_it(make: Callable[[], Any]) -> None:
    value = make()
    assert eval(repr(value), names()) == value  # noqa: S307 - our own text


@pytest.mark.parametrize(("kind", "refused"), REFUSALS.items(), ids=REFUSALS)
def test_an_error_comes_back_from_another_process_as_it_was_raised(kind: str, refused: Callable[[], object]) -> None:
    with pytest.raises(DescriptorError) as caught:
        refused()
    error = caught.value
    again = pickle.loads(pickle.dumps(error))
    assert type(error).__name__ == kind
    assert type(again) is type(error) and str(again) == str(error)
    assert {name: str(one) for name, one in vars(again).items()} == {n: str(one) for n, one in vars(error).items()}

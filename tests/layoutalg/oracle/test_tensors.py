"""What the CuTe DSL prints of its tensors says, as we read it, what they were made of: random tensors, printed live."""

from __future__ import annotations

from typing import Any

import corpus
import dsl_tensors as tensors
import pytest
from dsl_tensors import Coordinates, Prints, Tensor, prints
from seeds import seeds_of

from layoutalg import (
    ComposedLayout,
    Layout,
    NotationError,
    Pointer,
    Swizzle,
    oracle,
    parse_layout,
    parse_pointer,
    size,
)
from layoutalg.oracle.service import Reply

needs_oracle = pytest.mark.skipif(not oracle.available(), reason="nvidia-cutlass-dsl is not installed")

#: Element types: how the DSL prints them, and their bits.
TYPES = {
    "BFloat16": ("bf16", 16), "Float16": ("f16", 16), "Float32": ("f32", 32), "TFloat32": ("tf32", 32),
    "Float64": ("f64", 64), "Float8E4M3FN": ("f8E4M3FN", 8), "Float8E5M2": ("f8E5M2", 8),
    "Float8E8M0FNU": ("f8E8M0FNU", 8), "Float6E2M3FN": ("f6E2M3FN", 6), "Float6E3M2FN": ("f6E3M2FN", 6),
    "Float4E2M1FN": ("f4E2M1FN", 4), "Int4": ("i4", 4), "Int8": ("i8", 8), "Uint8": ("i8", 8), "Int16": ("i16", 16),
    "Int32": ("i32", 32), "Uint64": ("i64", 64), "Int128": ("i128", 128), "Boolean": ("i1", 1),
}  # fmt: skip
SPACES = ("smem", "smem", "smem", "gmem", "rmem", "tmem", "generic", "dsmem", "cmem")
SWIZZLES = ((3, 4, 3), (2, 4, 3), (1, 4, 3), (2, 5, 2), (0, 4, 3), (3, 4, -3), (1, 0, 3), (2, 3, 4))
NUMBER = 200


def random_tensors(seed: int) -> list[Tensor]:
    """Tensors of every type, the spaces and swizzles in turn; half of the layouts nested, negative or with zeros."""
    source = corpus.SeededSource(f"tensors {seed}")
    sample = []
    for index in range(NUMBER):
        type_ = list(TYPES)[index % len(TYPES)]
        space, swizzle = source.pick(SPACES), source.pick((None, *SWIZZLES))
        if space == "tmem" and TYPES[type_][1] == 6:
            space = "gmem"  # the DSL has no pointer to elements of 6 bits in tensor memory
        if space != "smem" or type_ == "Boolean":  # swizzled, the DSL makes truth values bytes
            swizzle = None
        layout = corpus.layout(source) if swizzle else corpus.any_layout(source)
        align = source.pick((None, 16, 128, 1024))
        sample.append(Tensor(type_, space, str(layout), swizzle, align))
    return sample


def expected(tensor: Tensor) -> Pointer:
    name, bits = TYPES[tensor.type]
    swizzle = (
        Swizzle(*tensor.swizzle) if tensor.swizzle and tensor.swizzle[0] else None
    )  # one of no bits is not printed
    return Pointer(bits, tensor.space.replace("generic", ""), None, name, swizzle)


def offsets(layout: Any) -> list[int]:
    return [layout(index) for index in range(size(layout))]


def is_read(text: str, tensor: Tensor, pointer: Pointer) -> None:
    """The text is read as a layout whose elements lie where the swizzle puts the bits of theirs; or refused rightly."""
    plain = parse_layout(tensor.layout)
    if pointer.swizzle is None:
        layout = parse_layout(text)
        assert offsets(layout) == offsets(plain)
        assert isinstance(plain, ComposedLayout) or layout == plain
        return
    swizzle = Swizzle(pointer.swizzle.bits, pointer.swizzle.base + 3, pointer.swizzle.shift)
    lowest = min(swizzle.base, swizzle.base + swizzle.shift)
    if pointer.bits & (pointer.bits - 1) or pointer.bits > 1 << lowest:
        try:
            layout = parse_layout(text)
        except NotationError as error:
            assert "does not move whole elements" in str(error)
            return
    layout = parse_layout(text)
    assert [bit * pointer.bits for bit in offsets(layout)] == [
        swizzle(place * pointer.bits) for place in offsets(plain)
    ]


@needs_oracle
@pytest.mark.parametrize("seed", seeds_of("test_what_the_dsl_prints_of_a_tensor_is_what_it_was_made_of"))
def test_what_the_dsl_prints_of_a_tensor_is_what_it_was_made_of(seed: int) -> None:
    cases = random_tensors(seed)
    for tensor, answer in zip(cases, prints(cases), strict=True):
        pointer = expected(tensor)
        assert (answer.status, answer.bits) == ("ok", pointer.bits), (tensor, answer.text)
        assert [parse_pointer(text) for text in (*answer.tensors, *answer.pointers)] == [pointer] * 4, tensor
        for text in answer.tensors:
            is_read(text, tensor, pointer)
        for text in answer.layouts:
            assert offsets(parse_layout(text)) == offsets(parse_layout(tensor.layout)), text
            assert parse_pointer(text) is None


@needs_oracle
@pytest.mark.parametrize("seed", seeds_of("test_a_tensor_of_coordinates_is_read_as_what_gives_them"))
def test_a_tensor_of_coordinates_is_read_as_what_gives_them(seed: int) -> None:
    source = corpus.SeededSource(f"coordinates {seed}")
    cases = []
    for rank in (2, 2, 2, 3, 3, 4):
        shape = tuple(source.integer(1, 6) for _ in range(rank))
        cases.append(Coordinates(shape, tuple(source.pick((0, 0, 1, 8, 37)) for _ in shape)))
    for tensor, answer in zip(cases, prints(cases), strict=True):
        assert (answer.status, answer.pointers) == ("ok", ()), answer
        for text in answer.tensors:
            layout = parse_layout(text)
            assert isinstance(layout, ComposedLayout | Layout) and parse_pointer(text) is None
            last = tuple(extent - 1 for extent in tensor.shape)
            assert [layout(tuple(0 for _ in last)), layout(last)] == [
                tensor.start, tuple(a + b for a, b in zip(tensor.start, last, strict=True)),
            ]  # fmt: skip


@needs_oracle
def test_a_swizzle_that_divides_an_element_is_printed_and_refused() -> None:
    (answer,) = prints([Tensor("BFloat16", "smem", "8:1", (1, 0, 3), 128)])
    for text in answer.tensors:
        with pytest.raises(NotationError, match=r"S<1,0,3> .*does not move whole elements of 16 bits"):
            parse_layout(text)


def test_prints_keep_their_places_and_a_refusal_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"bits": 16, "tensors": ["a", "b"], "pointers": ["c", "d"], "layouts": ["e", "f"]}
    monkeypatch.setattr(tensors, "ask", lambda *_, **__: [Reply("ok", value), Reply("rejected", "no such type")])
    pair = prints([Tensor("BFloat16", "smem", "8:1")] * 2)
    assert pair == [Prints("ok", 16, ("a", "b"), ("c", "d"), ("e", "f")), Prints("rejected", text="no such type")]


@needs_oracle
def test_a_type_that_the_dsl_does_not_have_is_a_refusal() -> None:
    (answer,) = prints([Tensor("Float7", "smem", "8:1")])
    assert (answer.status, answer.tensors) == ("rejected", ())
    assert "Float7" in answer.text

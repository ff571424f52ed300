"""Parse instruction names: a shape with optional parts of the PTX opcode.

Examples are ``m64n128k16``, ``wgmma.sp.m64n128k32``, ``mma.m16n8k16.row.col.f32.bf16.bf16.f32`` and
``tcgen05.mma.cta_group::2.kind::f16.m256n128k16``. In PTX the opcode of ``tcgen05.mma`` has no shape; here it is added.
Every command that accepts a name parses it with ``read_instruction``, uses the values in the name, and refuses an
argument that contradicts them (``InstructionName.settle``).

Invariant: a part of a name is either used or refused.

>>> name = read_instruction("tcgen05.mma.cta_group::2.kind::f16.m256n128k16", "plan")
>>> name.mnemonic, name.extents, name.cta_group, name.kind, name.sparse
('tcgen05', (256, 128, 16), 2, 'f16', False)
>>> read_instruction("wgmma.cta_group::2.m64n128k16", "plan")
Traceback (most recent call last):
descriptors.errors.DescriptorError: plan: cta_group::2 is not supported in a wgmma name; supported: mma_async, sync,
aligned, sp and types; instruction = wgmma.cta_group::2.m64n128k16
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from descriptors.errors import Advice, DescriptorError, brief
from descriptors.smem.words.descriptor import MNEMONICS
from descriptors.targets import WARP_ARCHITECTURES, generation, tensor_architecture
from layoutalg.frozen import frozen

_T = TypeVar("_T")

#: The maximum length of a name, in characters.
_LONGEST = 200
_SHAPE = re.compile(r"m(\d{1,6})n(\d{1,6})k(\d{1,6})", re.ASCII)
#: Types of A, B and the accumulators, and types of scale factors.
_TYPES = frozenset("f64 f32 f16 bf16 tf32 e4m3 e5m2 e3m2 e2m3 e2m1 s32 s8 u8 s4 u4 b1".split())
_SCALE_TYPES = frozenset(("ue8m0", "ue4m3", "ue5m3"))
#: The operands whose types a name lists, by the number of types.
_OPERANDS: Mapping[int, Sequence[str]] = {0: (), 1: ("d",), 3: ("d", "a", "b"), 4: ("d", "a", "b", "c")}
#: Parts of a name that are implied by the mnemonic; "" is a shape without a mnemonic.
_FIXED: Mapping[str, Sequence[str]] = {
    "wgmma": ("mma_async", "sync", "aligned"), "tcgen05": ("mma", "block_scale"),
    "mma": ("sync", "aligned", "row", "col", "block_scale"), "": ("sync", "aligned", "row", "col"),
}  # fmt: skip
#: Parts of a name that state a value, by mnemonic.
_STATING: Mapping[str, Sequence[str]] = {
    "wgmma": ("sp",), "tcgen05": ("sp", "ws", "cta_group::N", "kind::NAME", "scale_vec::NX", "blockN"),
    "mma": ("sp", "kind::NAME", "scale_vec::NX"), "": ("sp", "cta_group::N", "kind::NAME"),
}  # fmt: skip


@frozen
class InstructionName:
    """A parsed instruction name. An attribute that the name does not state is None.

    Args:
        text: the name.
        mnemonic: ``"wgmma"``, ``"tcgen05"`` or ``"mma"``; "" for a shape without one.
        extents: M, N and K.
        sparse: whether it is a sparse instruction.
        ws: whether it is the weight-stationary form.
        cta_group: CTAs that work on one instruction.
        kind: the kind.
        d, a, b: the types of the accumulators, of A and of B.
        scale_dtype: the type of the scale factors.
        scale_vector: stored elements that share a scale factor.
    """

    text: str
    mnemonic: str
    extents: tuple[int, int, int]
    sparse: bool = False
    ws: bool = False
    cta_group: int | None = None
    kind: str | None = None
    d: str | None = None
    a: str | None = None
    b: str | None = None
    scale_dtype: str | None = None
    scale_vector: int | None = None

    @property
    def arch(self) -> str | None:
        """The oldest architecture that has the mnemonic; None for ``mma.sync``, and without a mnemonic."""
        return next((arch for arch, mnemonic in MNEMONICS.items() if mnemonic == self.mnemonic), None)

    def settle(self, argument: str, stated: _T | None, value: _T | None, operation: str) -> _T | None:
        """Return the value of an argument: the value in the name, or the value that was passed; None if there is
        neither.

        Args:
            argument: the name of the argument.
            stated: the value in the name.
            value: the value that was passed.
            operation: the operation, for the error message.

        Raises:
            DescriptorError: if both exist and differ.

        >>> name = read_instruction("tcgen05.mma.cta_group::2.m256n128k16", "plan")
        >>> name.settle("cta_group", name.cta_group, None, "plan"), name.settle("kind", name.kind, "f16", "plan")
        (2, 'f16')
        >>> name.settle("cta_group", name.cta_group, 1, "plan")
        Traceback (most recent call last):
        descriptors.errors.DescriptorError: plan: cta_group is 1, but the instruction's name states 2; instruction =
        tcgen05.mma.cta_group::2.m256n128k16
        """
        if stated is None or value is None:
            return value if stated is None else stated
        if _folded(stated) != _folded(value):
            name = getattr(value, "name", value)
            shown = name[:60] if isinstance(name, str) else brief(name)
            raise DescriptorError(
                f"{operation}: {argument} is {shown}, but the instruction's name states {stated}; "
                f"instruction = {self.text}"
            )
        return value

    def settle_arch(self, arch: object, operation: str) -> str | None:
        """Return the architecture that was passed, or the one implied by the name; None if there is neither.

        Raises:
            DescriptorError: if the architecture that was passed does not have the instruction.

        >>> read_instruction("wgmma.m64n8k16", "plan").settle_arch(None, "plan")
        'sm90'
        >>> read_instruction("wgmma.m64n8k16", "plan").settle_arch("sm_103a", "plan")
        Traceback (most recent call last):
        descriptors.errors.DescriptorError: plan: sm103 has no wgmma; instruction = wgmma.m64n8k16
        """
        if arch is None:
            return self.arch
        name = warp_architecture(arch) or tensor_architecture(arch, operation)
        if self.arch is not None and (name in WARP_ARCHITECTURES or MNEMONICS[generation(name)] != self.mnemonic):
            raise DescriptorError(
                f"{operation}: {name} has no {self.mnemonic}; instruction = {self.text}",
                proposals=[Advice({"arch": self.arch})],
            )
        return name


def read_instruction(
    instruction: object, operation: str, rule: str = "an instruction must be named like m64n128k16"
) -> InstructionName:
    """Read the name of an instruction.

    Args:
        instruction: the name, or M, N and K.
        operation: the operation, for the error messages.
        rule: the requirement that the error message states if the argument is not a name.

    Raises:
        DescriptorError: if the argument is not a name, or has a part that is not supported.

    >>> read_instruction("m64n128k16.f32.e4m3.e5m2", "plan").b
    'e5m2'
    >>> read_instruction("mma.m16n8k64.kind::mxf4.block_scale.scale_vec::2X", "plan").scale_vector
    32
    """
    text = instruction.casefold() if isinstance(instruction, str) and len(instruction) <= _LONGEST else ""
    words = text.split(".")
    shapes = [match for match in map(_SHAPE.fullmatch, words) if match]
    if len(shapes) != 1:
        raise DescriptorError(f"{operation}: {rule}, found {brief(instruction)}")
    mnemonic = words[0] if words[0] in _FIXED else ""
    m, n, k = map(int, shapes[0].groups())
    about = f"instruction = {text}"
    stated: dict[str, Any] = {}
    types: list[str] = []
    for word in words[bool(mnemonic) :]:
        if word in _TYPES:
            types.append(word)
        elif word != shapes[0][0] and word not in _FIXED[mnemonic]:
            fact = _fact(word, mnemonic)
            if fact is None:
                _refuse_part(word, mnemonic, text, operation)
            elif fact[0] in stated:
                raise DescriptorError(f"{operation}: the name states {fact[0]} twice; {about}")
            else:
                stated |= dict([fact])
    if len(types) not in _OPERANDS:
        raise DescriptorError(
            f"{operation}: the name has {len(types)} types; write those of D, of D, A and B, or of D, A, B and C; "
            f"{about}"
        )
    stated |= dict(zip(_OPERANDS[len(types)], types, strict=True))
    if stated.pop("c", stated.get("d")) != stated.get("d"):
        raise DescriptorError(f"{operation}: C of type {types[3]} with D of type {types[0]} is not supported; {about}")
    if [word for word in words if word in ("row", "col")] not in ([], ["row", "col"]):
        raise DescriptorError(f"{operation}: the majors in a name must be row.col, as mma.sync has them; {about}")
    if factors := stated.pop("factors", None):
        stated["scale_vector"] = k // (1 + stated.get("sparse", False)) // factors
    return InstructionName(text, mnemonic, (m, n, k), **stated)


def _fact(word: str, mnemonic: str) -> tuple[str, Any] | None:
    """Return the attribute that a part of a name states, and its value; None if the part is not supported."""
    forms = _STATING[mnemonic]
    if word in ("sp", "sp::ordered_metadata") and "sp" in forms:
        return "sparse", True
    if word == "ws" and "ws" in forms:
        return "ws", True
    if word in _SCALE_TYPES and "kind::NAME" in forms:
        return "scale_dtype", word
    if (match := re.fullmatch(r"cta_group::([12])", word)) and "cta_group::N" in forms:
        return "cta_group", int(match[1])
    if (match := re.fullmatch(r"kind::(\w+)", word, re.ASCII)) and "kind::NAME" in forms:
        return "kind", match[1]
    if (match := re.fullmatch(r"scale_vec::([124])x", word)) and "scale_vec::NX" in forms:
        return "factors", int(match[1])
    if (match := re.fullmatch(r"block(16|32)", word)) and "blockN" in forms:
        return "scale_vector", int(match[1])
    return None


def _refuse_part(word: str, mnemonic: str, text: str, operation: str) -> None:
    """Refuse a part of a name.

    Raises:
        DescriptorError: naming the supported parts.
    """
    owner = f"a {mnemonic} name" if mnemonic else "a name without wgmma, tcgen05 or mma"
    parts = ", ".join((*_FIXED[mnemonic], *_STATING[mnemonic]))
    raise DescriptorError(
        f"{operation}: {word or 'an empty part'} is not supported in {owner}; supported: {parts} and types; "
        f"instruction = {text}"
    )


def _folded(value: object) -> object:
    """Return a value as it is compared: names in lower case, an element type as its instruction name."""
    name = getattr(value, "name", value)
    return name.casefold().removesuffix("_unpacksmem") if isinstance(name, str) else value


def is_instruction_name(text: str) -> bool:
    """Return whether a text looks like the name of an instruction; ``read_instruction`` may still refuse it.

    >>> is_instruction_name("M64N128K16"), is_instruction_name("wgmma.sp.m64n128k32.f32"), is_instruction_name("bf16")
    (True, True, False)
    """
    words = text[: _LONGEST + 1].casefold().split(".")
    return (words[0] in _FIXED or _SHAPE.fullmatch(words[0]) is not None) and any(map(_SHAPE.fullmatch, words))


def is_mma(instruction: object, arch: object = None) -> bool:
    """Return whether an instruction, or the architecture that it is for, is one of ``mma.sync``.

    >>> is_mma("mma.m16n8k16"), is_mma("m16n8k16"), is_mma("m64n8k16"), is_mma("m64n8k16", "sm_80")
    (True, True, False, True)
    """
    named = str(instruction).casefold()
    return named.startswith(("mma.", "m16n8k")) or warp_architecture(arch) is not None


def warp_architecture(arch: object) -> str | None:
    """Return the name of an architecture whose main loops are of ``mma.sync``; None for any other.

    >>> warp_architecture("SM_120a"), warp_architecture("sm90")
    ('sm120', None)
    """
    name = str(arch).casefold().replace("_", "").rstrip("af")
    return name if name in WARP_ARCHITECTURES else None

"""The values of a launch that the user gives: threads, cluster, scalar parameters, and the boxes of tensor maps.

A parameter is named by its name or its number; a field of a structure is named by the parameter and an offset in bytes
(``params+128``). A tensor map is a parameter, part of one, or the target of a pointer in one.

Source: PTX ISA 9.1, Kernel Function Parameters; CUDA driver API, cuTensorMapEncodeTiled (boxDim).

Invariant: a box has as many bytes as its elements.

>>> config = configuration(parameters={"k": 4096}, tensor_maps={"0": "64x128xbf16", "1+64": 8192}, cluster=(2,))
>>> config.cluster, dict(config.parameters), dict(config.tensor_maps)
((2, 1, 1), {('k', 0): 4096}, {('0', 0): 16384, ('1', 64): 8192})
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, TypeVar

from descriptors.check.execution.launch import PARAMETERS, pointer
from descriptors.check.execution.mbarrier import Box
from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.smem.operands.operand import ELEMENT_TYPES

T = TypeVar("T")
#: A parameter, by its name or number, and an offset in bytes.
Parameter = tuple[str, int]
#: Largest number of threads per CTA, and of CTAs per cluster.
MOST_THREADS, MOST_CTAS = 1024, 16
#: Largest number of parameters that an error message lists.
_SHOWN = 16
_BOX = re.compile(r"(\d{1,4}(?:x\d{1,4})*)x(\w+)")


class Configuration(NamedTuple):
    """The values of a launch that the user gave.

    Args:
        threads: threads per CTA, along x, y, z; None if the text gives it or it is unknown.
        cluster: CTAs per cluster, along x, y, z; None likewise.
        parameters: values of scalar parameters.
        tensor_maps: bytes of the boxes of tensor maps.
        box_rows: bytes of the first extent of each box whose extents are known.
        box_types: element type of each box whose type is known.
    """

    threads: tuple[int, int, int] | None = None
    cluster: tuple[int, int, int] | None = None
    parameters: Mapping[Parameter, int] = {}
    tensor_maps: Mapping[Parameter, int] = {}
    box_rows: Mapping[Parameter, int] = {}
    box_types: Mapping[Parameter, str] = {}

    def scalars(self, names: Sequence[str]) -> dict[Parameter, int]:
        """Return the values of the scalar parameters of a kernel with these parameter names."""
        return {(names[number], offset): value for number, offset, value in _numbered(self.parameters, names)}

    def boxes(self, names: Sequence[str]) -> dict[Box, int]:
        """Return the bytes of the tensor copies of such a kernel, by the keys of their boxes."""
        return _by_box(self.tensor_maps, names)

    def rows(self, names: Sequence[str]) -> dict[Box, int]:
        """Return the bytes of a row of each box, by its key."""
        return _by_box(self.box_rows, names)

    def types(self, names: Sequence[str]) -> dict[Box, str]:
        """Return the element type of each box, by its key."""
        return _by_box(self.box_types, names)

    def require(self, kernels: Iterable[Sequence[str]]) -> None:
        """Raise an error for a parameter that no kernel has.

        Args:
            kernels: parameter names of each kernel.

        Raises:
            DescriptorError: if there is such a parameter; the message lists those that exist.
        """
        kernel_parameters = list(kernels)
        for key in (*self.parameters, *self.tensor_maps):
            if not _has_parameter(key, kernel_parameters):
                names = list(dict.fromkeys(name for parameters in kernel_parameters for name in parameters))
                names_text = ", ".join([brief(name, 300).strip("'") for name in names[:_SHOWN]]) or "none"
                more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
                raise DescriptorError(
                    f"check: no kernel has a parameter {brief(key[0])}; the parameters are {names_text}{more}"
                )


def _by_box(values: Mapping[Parameter, T], names: Sequence[str]) -> dict[Box, T]:
    """Return values by the key of the tensor map that a parameter holds or points to."""
    boxes: dict[Box, T] = {}
    for number, offset, value in _numbered(values, names):
        boxes[Box(True, PARAMETERS + (number << 16) + offset)] = value
        boxes[Box(True, pointer(names[number], offset))] = value
    return boxes


def of_kernels(values: Mapping[str, T], kernels: Iterable[Sequence[str]]) -> dict[str, T]:
    """Return the values of the parameters that one of these kernels has.

    Args:
        values: values by parameters, as users write them.
        kernels: parameter names of each kernel.

    >>> of_kernels({"n": 1, "m": 2, "0": 3, "1": 4, "n+8": 5}, [("n",)])
    {'n': 1, '0': 3, 'n+8': 5}
    """
    kernel_parameters = list(kernels)
    return {
        key: value for key, value in values.items() if _has_parameter((key.partition("+")[0], 0), kernel_parameters)
    }


def _has_parameter(key: Parameter, kernels: Sequence[Sequence[str]]) -> bool:
    """Check whether one of these kernels has a parameter."""
    return any(key[0] in names or _parameter_number(key[0]) in range(len(names)) for names in kernels)


def _numbered(values: Mapping[Parameter, T], names: Sequence[str]) -> Iterable[tuple[int, int, T]]:
    """Yield number of the parameter, offset and value, for the parameters that a kernel has."""
    for (name, offset), value in values.items():
        if name in names:
            yield names.index(name), offset, value
        elif (number := _parameter_number(name)) in range(len(names)):
            yield number, offset, value


def _parameter_number(name: str) -> int:
    """Return the number that names a parameter; -1 for a name."""
    return int(name) if name.isascii() and name.isdigit() and len(name) < 5 else -1


def configuration(
    *,
    threads: Sequence[int] | None = None,
    cluster: Sequence[int] | None = None,
    parameters: Mapping[str, int] | None = None,
    tensor_maps: Mapping[str, int | str] | None = None,
) -> Configuration:
    """Convert the values of a launch from the form that users write.

    Args:
        threads: threads per CTA, along x, and optionally y and z.
        cluster: CTAs per cluster, likewise.
        parameters: scalar parameters by name or number, with ``+`` and an offset in bytes inside a structure.
        tensor_maps: boxes of tensor maps likewise: elements and their type, ``"64x128xbf16"``, or bytes.

    Raises:
        DescriptorError: if a value has no such form or is out of range.
    """
    boxes = {
        _parse_parameter(name): _parse_box(brief(name), value)
        for name, value in _check_mapping(tensor_maps, "tensor_maps")
    }
    return Configuration(
        _parse_extents(threads, "threads", MOST_THREADS),
        _parse_extents(cluster, "cluster", MOST_CTAS),
        {
            _parse_parameter(name): as_integer(value, f"check: parameter {brief(name)}")
            for name, value in _check_mapping(parameters, "parameters")
        },
        {parameter: size for parameter, (size, _, _) in boxes.items()},
        {parameter: row_bytes for parameter, (_, row_bytes, _) in boxes.items() if row_bytes},
        {parameter: dtype for parameter, (_, _, dtype) in boxes.items() if dtype},
    )


def _parse_extents(counts: Sequence[int] | None, name: str, most: int) -> tuple[int, int, int] | None:
    if counts is None:
        return None
    if not isinstance(counts, tuple | list):
        raise DescriptorError(f"check: {name} is {brief(counts)}, which is not a list of 1 to 3 extents")
    extents = [as_integer(extent, f"check: {name}", minimum=1) for extent in counts]
    shown = brief("x".join(map(str, extents))).strip("'")
    if not extents or len(extents) > 3:
        raise DescriptorError(
            f"check: {name} has {len(extents)} extents, which is not 1 to 3; it is {shown or 'empty'}"
        )
    if (number := prod(extents)) > most:
        group = "a CTA" if name == "threads" else "a cluster"
        unit = name if name == "threads" else "CTAs"
        value = shown if len(extents) == 1 else f"{shown}, which is {number} {unit}"
        raise DescriptorError(f"check: {name} is {value}, but {group} has at most {most} {unit}")
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z


def _check_mapping(values: Mapping[str, Any] | None, name: str) -> Iterator[tuple[str, Any]]:
    """Yield values by the names of parameters."""
    if values is None:
        return
    if not isinstance(values, Mapping) or not all(isinstance(name, str) for name in values):
        raise DescriptorError(f"check: {name} is {brief(values)}, which is not a mapping from names of parameters")
    yield from values.items()


def parameter_text(parameter: Parameter) -> str:
    """Return a parameter in the form of ``--param``.

    >>> parameter_text(("shape", 8)), parameter_text(("k", 0))
    ('shape+8', 'k')
    """
    name, offset = parameter
    return f"{name}+{offset}" if offset else name


def _parse_parameter(text: str) -> Parameter:
    name, plus, offset = text.partition("+")
    if not name or (plus and not (offset.isascii() and offset.isdigit() and len(offset) < 6)):
        raise DescriptorError(f"check: {brief(text)} does not name a parameter; write NAME or NAME+BYTES")
    return name, int(offset or 0)


def _parse_box(name: str, box: int | str) -> tuple[int, int, str]:
    """Return the bytes of a box, those of its first extent (0 if unknown or not whole), and its type ("" if unknown).

    >>> _parse_box("a", "64x128xe4m3"), _parse_box("a", 8192)
    ((8192, 64, 'e4m3'), (8192, 0, ''))
    """
    if not isinstance(box, str) or (box.isascii() and box.isdigit() and len(box) < 8):
        number = int(box) if isinstance(box, str) else box
        return as_integer(number, f"check: the bytes of tensor map {name}", minimum=1, maximum=1 << 20), 0, ""
    match = _BOX.fullmatch(box)
    if match is None or match[2] not in ELEMENT_TYPES:
        plain, colon, _ = box.partition(":")
        swizzled = bool(colon) and (with_type := _BOX.fullmatch(plain)) is not None and with_type[2] in ELEMENT_TYPES
        hint = f"; omit the swizzle, which does not change the bytes: {plain}" if swizzled else ""
        raise DescriptorError(
            f"check: the box of tensor map {name} is {brief(box)}, which is not extents and a type, or bytes; "
            f"write a box as in 64x128xbf16{hint}"
        )
    extents, bits = [int(extent) for extent in match[1].split("x")], ELEMENT_TYPES[match[2]].bits
    return prod(extents) * bits // 8, extents[0] * bits // 8 if bits % 8 == 0 else 0, match[2]

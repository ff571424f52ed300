"""Parse and write tensor maps: the driver's arguments as NAME=VALUE, or the 128 bytes as a debugger prints them.

Arguments have the names of ``cuda.h`` or short names. Numbers of several dimensions are joined by ``x`` or commas, with
the fastest dimension first, as in the driver's interface. Bytes may be 256 hexadecimal digits, 128 bytes, 32 or 16
words, or the array ``opaque`` of a ``CUtensorMap``. An address before a colon is ignored.

Invariant: parsing the arguments of a map, or its bytes in any grouping, returns the map.

>>> from descriptors.smem.words.tensor_map import tensor_map
>>> map_ = tensor_map("bf16", 4096, (512, 256), (1024,), (64, 128), swizzle="128B")
>>> data = map_.to_bytes()
>>> words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, 128, 8)]
>>> texts = [arguments_text(map_), data.hex(), data.hex(" "), " ".join(map(hex, words)), str(list(data))]
>>> all(parse_tensor_map(text) == map_ for text in texts)
True
"""

from __future__ import annotations

import re
from typing import Any

from descriptors.errors import ChoiceError, DescriptorError, brief
from descriptors.records import Named, Record, Row, each
from descriptors.smem.words.tensor_map import (
    FILLS,
    INTERLEAVES,
    PROMOTIONS,
    SWIZZLE_NAMES,
    Im2colWindow,
    TensorMap,
    tensor_map,
)

#: The short name of each argument, and its name in ``cuda.h``.
ARGUMENTS = {
    "type": "tensorDataType",
    "address": "globalAddress",
    "extents": "globalDim",
    "strides": "globalStrides",
    "box": "boxDim",
    "lower": "pixelBoxLowerCorner",
    "upper": "pixelBoxUpperCorner",
    "channels": "channelsPerPixel",
    "pixels": "pixelsPerColumn",
    "element_strides": "elementStrides",
    "interleave": "interleave",
    "swizzle": "swizzle",
    "l2": "l2Promotion",
    "oob": "oobFill",
}
_SHORT = {name.casefold(): short for short, long in ARGUMENTS.items() for name in (short, long)}
_WORDS = ("type", "interleave", "swizzle", "l2", "oob")
_WINDOW = ("lower", "upper", "channels", "pixels")
#: The longest accepted text: enough for 128 bytes on a line each, with address and name.
_MOST_CHARACTERS = 1 << 14


def parse_tensor_map(text: str) -> TensorMap:
    """Parse a tensor map.

    Args:
        text: arguments, like ``type=bf16 extents=4096x512 strides=8192 box=64x128 swizzle=128B``; or the bytes.

    Raises:
        DescriptorError: if the text is neither, an argument is missing or malformed, or the driver does not write such
            bytes.
        ChoiceError: for an unknown argument, name or code.

    >>> parse_tensor_map("type=e4m3 extents=64 strides= box=32 swizzle=32B").transaction_bytes
    32
    """
    if not isinstance(text, str) or len(text) > _MOST_CHARACTERS:
        raise DescriptorError(f"tensor map: {brief(text)} is not a text of at most {_MOST_CHARACTERS} characters")
    text = re.sub(r"^known: .*$", "", text, flags=re.MULTILINE)  # the last line of the printed text of a map
    array = re.search(r"\bopaque\s*=\s*(.*)", text, re.DOTALL)
    if array:
        return _of_bytes(_elements(array[1]))
    return _of_arguments(text) if "=" in text else _of_bytes(text)


def arguments_text(one: TensorMap) -> str:
    """Return the arguments of a map as text, without those that have default values.

    >>> arguments_text(parse_tensor_map("type=u8 address=0x100 extents=64x8 strides=64 box=32x8 elementStrides=1,2"))
    'type=UINT8 address=0x100 extents=64x8 strides=64 box=32x8 element_strides=1x2'
    """
    return " ".join(f"{name}={value}" for name, value in arguments(one).items())


def arguments(one: TensorMap) -> dict[str, str]:
    """Return the arguments of a map by their short names, without those that have default values."""
    rows = [("type", str(one.data_type)), ("address", hex(one.address) if one.address else "")]
    rows += [("extents", _joined(one.extents)), ("strides", _joined(one.strides))]
    if isinstance(one.box, Im2colWindow):
        rows += [("lower", _joined(one.box.lower)), ("upper", _joined(one.box.upper))]
        rows += [("channels", str(one.box.channels)), ("pixels", str(one.box.pixels))]
    else:
        rows.append(("box", _joined(one.box)))
    rows.append(("element_strides", _joined(one.element_strides) if set(one.element_strides) != {1} else ""))
    codes = {"interleave": (one.interleave, INTERLEAVES), "swizzle": (one.swizzle, SWIZZLE_NAMES)}
    codes |= {"l2": (one.l2_promotion, PROMOTIONS), "oob": (one.oob_fill, FILLS)}
    rows += [(name, names[code] if code else "") for name, (code, names) in codes.items()]
    return {name: value for name, value in rows if value}


#: The arguments of a map as text, by their names in ``cuda.h``, without those that have default values.
_FIRST, _STEPS = each(str, "tensorDataType globalDim globalStrides"), Row(str, optional=True)
IM2COL_ARGUMENTS = {**_FIRST, **each(str, " ".join(ARGUMENTS[name] for name in _WINDOW)), "elementStrides": _STEPS}
MAP_ARGUMENTS = Named(
    "MapArguments",
    (
        Record(**IM2COL_ARGUMENTS, swizzle=_STEPS),
        Record(**_FIRST, boxDim=str, elementStrides=_STEPS, swizzle=_STEPS),
    ),
)


def map_record(one: TensorMap) -> dict[str, str]:
    """Return the arguments of a map by their names in ``cuda.h``, without those that have default values."""
    return {ARGUMENTS[name]: value for name, value in arguments(one).items()}


def _joined(numbers: tuple[int, ...]) -> str:
    # Without commas, 0x8192 would be parsed as one number.
    return ("," if any(number <= 0 for number in numbers) else "x").join(map(str, numbers))


def _of_arguments(text: str) -> TensorMap:
    values: dict[str, Any] = {}
    tight = re.sub(r"(?<=[{(,])\s+|\s+(?=[=)},])", "", text)
    tight = re.sub(r"=\s+(?![A-Za-z_]+=)", "=", tight)
    for part in re.split(r"[\s;]+|,(?=[A-Za-z_]+=)", tight.strip("; \n\t")):
        name, equals, value = part.partition("=")
        short = _SHORT.get(name.casefold())
        if short is None or not equals:
            raise ChoiceError("tensor map: an argument NAME=VALUE", part, list(ARGUMENTS))
        if short in values:
            raise DescriptorError(f"tensor map: {name} is given twice, the second time as {brief(value)}")
        values[short] = value if short in _WORDS else _numbers(name, value)
    window = [name for name in _WINDOW if name in values]
    needed = ["type", "extents", "strides", *(_WINDOW if window else ("box",))]
    if len(values.get("extents", ())) == 1:
        values.setdefault("strides", ())
    missing = [name for name in needed if name not in values]
    if missing or (window and "box" in values):
        what = f"{missing[0]} is missing" if missing else "a map has either a box or a window of im2col, not both"
        raise DescriptorError(f"tensor map: {what}; arguments are NAME=VALUE: {', '.join(needed)}, ...")
    box: Any = values["box"] if not window else _window(values)
    names = {"l2": "l2_promotion", "oob": "oob_fill"}
    return tensor_map(
        values["type"],
        _single("address", values.get("address", (0,))),
        values["extents"],
        values["strides"],
        box,
        values.get("element_strides"),
        **{names.get(name, name): values[name] for name in _WORDS[1:] if name in values},
    )


def _window(values: dict[str, Any]) -> Im2colWindow:
    counts = [_single(name, values[name]) for name in ("channels", "pixels")]
    return Im2colWindow(values["lower"], values["upper"], counts[0], counts[1])


def _single(name: str, numbers: tuple[int, ...]) -> int:
    if len(numbers) != 1:
        raise DescriptorError(f"tensor map: {name} is {brief(numbers)}, which is not one number")
    return numbers[0]


def _numbers(name: str, text: str) -> tuple[int, ...]:
    """Parse the numbers of an argument; a number with the prefix 0x is hexadecimal."""
    bare = text.strip("(){}[]").casefold()
    number = "(?:0x[0-9a-f]{1,16}|-?[0-9]{1,20})"
    if bare and not re.fullmatch(f"{number}(?:[x,]{number})*", bare):
        raise DescriptorError(f"tensor map: {name} is {brief(text)}, which is not a list of numbers like 64x128")
    parts = re.findall(f"({number})(?:[x,]|$)", bare)
    return tuple(int(part, 16) if part.startswith("0x") else int(part) for part in parts)


def _elements(text: str) -> str:
    """Return the elements of an array as a debugger prints it, without indices and with repetitions expanded."""
    bare = re.sub(r"\[\d+\]\s*=", " ", text)
    return re.sub(r"(\w+)\s*<repeats (\d{1,3}) times>", lambda match: f"{match[1]} " * int(match[2]), bare)


def _of_bytes(text: str) -> TensorMap:
    tokens = re.findall(r"[0-9a-zA-Z]+", re.sub(r"(?m)^[^:\n]*:", " ", text))
    readings = list(dict.fromkeys(_readings(tokens)))
    if not readings:
        raise DescriptorError(
            f"tensor map: {brief(text)} is not a map; a map is written as NAME=VALUE arguments, or as its bytes: 256 "
            "hexadecimal digits, 128 bytes, 32 or 16 words"
        )
    problems = []
    for data in readings:
        try:
            return TensorMap.decode(int.from_bytes(data, "little"))
        except DescriptorError as error:
            problems.append(error)
    raise problems[0]


def _readings(tokens: list[str]) -> list[bytes]:
    """Return the 128 bytes that the tokens may mean; a number of 256 digits may have either byte order."""
    if len(tokens) == 1 and re.fullmatch(r"(?:0[xX])?[0-9a-fA-F]{256}", tokens[0]):
        data = bytes.fromhex(tokens[0][-256:])
        return [data, data[::-1]]
    size = {128: 1, 32: 4, 16: 8}.get(len(tokens))
    if size is None:
        return []
    bare = all(re.fullmatch(r"[0-9a-fA-F]+", token) and len(token) == 2 * size for token in tokens)
    readings = [bytes.fromhex("".join(tokens))] if bare else []  # in the order of memory, as maps are printed here
    for base in (16, 10) if bare else (0,):
        try:
            readings.append(b"".join(int(token, base).to_bytes(size, "little") for token in tokens))
        except (ValueError, OverflowError):
            continue
    return readings

"""Examples to begin with: the worked examples of the field, stages, other types, a layout that CuTe printed.

Law: every preset is a question that has an answer.

>>> from descriptors.explorer.parts.question import question
>>> all(question(preset["question"]) for preset in PRESETS)
True
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from descriptors.emitters.emit import LANGUAGES
from descriptors.explorer.parts.question import TABS, Question
from descriptors.operands.explicit import UNITS
from descriptors.operands.operand import ELEMENT_TYPES, SwizzleMode
from descriptors.stages.view import ACCESSES, COLOURS, LEVELS
from descriptors.words.descriptor import WORDS

PRESETS: tuple[dict[str, Any], ...] = (
    {"name": "K-major 128B, 128 × 128 bf16", "question": {}},
    {"name": "MN-major 64B, 128 × 128 bf16", "question": {"major": "MN", "swizzle": "64B", "order": "1,0"}},
    {"name": "64 × 64 tf32 on sm90", "question": {"tile": "64x64", "dtype": "tf32", "mma": "64x8", "arch": "sm90"}},
    {"name": "e4m3, 64B, 128 × 64", "question": {"tile": "128x64", "dtype": "e4m3", "swizzle": "64B", "mma": "64x32"}},
    {"name": "four stages", "question": {"tile": "128x64x4", "stage": 2, "tab": "memory"}},
    {"name": "no swizzle", "question": {"tile": "64x64", "swizzle": "none", "colour": "bank"}},
    {"name": "eight rows in one bank, or not", "question": {"tab": "banks"}},
    {"name": "packed e2m1", "question": {"tile": "128x256", "dtype": "e2m1", "mma": "128x64"}},
    {
        "name": "a layout that CuTe printed",
        "question": {
            "layout": "Sw<3,4,3> o smem_ptr[16b](0x7f2a00000400) o (64,64):(64,1)",
            "unit": "cute", "mma": "64x16", "major": "", "swizzle": "", "arch": "sm90",
        },
    },
    {"name": "a word with a wrong SBO", "question": {"edit": {"stride_byte_offset": "512"}, "colour": "wrong"}},
)  # fmt: skip


def choices() -> dict[str, list[str]]:
    """The names that the page's lists offer, each as the engine knows it.

    >>> choices()["arch"]
    ['sm90', 'sm100']
    """
    return {
        "dtype": list(ELEMENT_TYPES),
        "major": ["K", "MN"],
        "swizzle": [str(mode) for mode in SwizzleMode],
        "arch": list(WORDS),
        "operand": ["", "A", "B"],
        "unit": list(UNITS),
        "colour": list(COLOURS),
        "levels": list(LEVELS),
        "access": list(ACCESSES),
        "tab": list(TABS),
        "language": list(LANGUAGES),
    }


def first_state() -> dict[str, Any]:
    """The state that a page begins with: every key, as texts and numbers that a form holds."""
    found = asdict(Question())
    found["edit"] = {}
    return {
        name: ("x" if name in ("tile", "mma") else ",").join(map(str, value)) if isinstance(value, tuple) else value
        for name, value in found.items()
    }

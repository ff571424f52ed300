"""How each side of scripts/bench.py spells an operation, and how it builds its values from an input's plain data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bench_inputs as draw

#: name -> (inputs, layoutalg, tensor-layouts, CuTe DSL); None: not offered.
Spelling = Callable[..., Any] | None
Case = tuple[Callable[[draw.Rng], Any], Spelling, Spelling, Spelling]


def spellings(la: Any, tl: Any, cute: Any) -> dict[str, Case]:
    """Every measured operation. A side that is absent is passed as an object without attributes."""
    a, t, c = (lambda name, module=module: getattr(module, name, None) for module in (la, tl, cute))
    recast = c("recast_layout")
    utils = getattr(tl, "layout_utils", None)

    def plain(rng: draw.Rng) -> list[Any]:
        return draw.layout(rng)["layout"]  # type: ignore[no-any-return]

    def one(rng: draw.Rng) -> list[Any]:
        return [draw.layout(rng)]

    return {
        "make from shape and stride": (plain, a("Layout"), t("Layout"), lambda s, d: cute.make_layout(s, stride=d)),
        "make with default stride": (lambda rng: plain(rng)[:1], a("Layout"), t("Layout"), c("make_layout")),
        "make_ordered_layout": (
            lambda rng: [[rng.choice(draw.POWERS), rng.choice(draw.POWERS)], rng.choice(([0, 1], [1, 0]))],
            a("make_ordered_layout"),
            getattr(utils, "make_ordered_layout", None),
            lambda s, o: cute.make_ordered_layout(s, order=o),
        ),
        "str": (one, str, str, str),
        "size": (one, a("size"), t("size"), c("size")),
        "cosize": (one, a("cosize"), t("cosize"), c("cosize")),
        "flatten": (one, a("flatten"), t("flatten"), c("flatten")),
        "evaluate a coordinate": (draw.coordinate_case, lambda f, x: f(x), lambda f, x: f(*x), lambda f, x: f(x)),
        "idx2crd": (
            lambda rng: [rng.randrange(60), [rng.choice((4, 6, 8)), [rng.choice((3, 4)), 8]]],
            *(a("idx2crd"), t("idx2crd"), c("idx2crd")),
        ),
        "slice_and_offset": (*(draw.slice_case, a("slice_and_offset"), t("slice_and_offset"), c("slice_and_offset")),),
        "coalesce": (one, a("coalesce"), t("coalesce"), c("coalesce")),
        "composition by a layout": (draw.composition_case, a("composition"), t("compose"), c("composition")),
        "composition by a tiler": (draw.tile, a("composition"), t("compose"), c("composition")),
        "complement": (draw.complement_case, a("complement"), t("complement"), c("complement")),
        "right_inverse": (one, a("right_inverse"), t("right_inverse"), c("right_inverse")),
        "left_inverse": (one, a("left_inverse"), t("left_inverse"), c("left_inverse")),
        "nullspace": (draw.zeros_case, a("nullspace"), t("nullspace"), c("nullspace")),
        "max_common_layout": (draw.common_case, a("max_common_layout"), t("max_common_layout"), c("max_common_layout")),
        **{
            name: (draw.tile, a(name), t(name), c(name))
            for name in ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide")
        },
        "zipped_divide, swizzled": (draw.swizzled_tile, a("zipped_divide"), t("zipped_divide"), c("zipped_divide")),
        **{
            name: (draw.product_case, a(name), t(name), c(name))
            for name in ("logical_product", "zipped_product", "blocked_product", "raked_product")
        },
        "tile_to_shape": (
            draw.atom_case,
            a("tile_to_shape"),
            getattr(utils, "tile_to_shape", None),
            c("tile_to_shape"),
        ),
        "upcast": (draw.upcast_case, a("upcast"), t("upcast"), recast and (lambda x, n: recast(8 * n, 8, x))),
        "downcast": (draw.upcast_case, a("downcast"), t("downcast"), recast and (lambda x, n: recast(8, 8 * n, x))),
        "all offsets of 64 x 64": (
            lambda rng: [{"layout": [[64, 64], rng.choice(([64, 1], [1, 64], [1, 80]))]}],
            a("offsets"),
            lambda f: [f(i, j) for i in range(64) for j in range(64)],
            None,
        ),
    }


def builder(make: Callable[[Any, Any], Any], swizzle: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """From the plain data of an input to a side's own values."""

    def build(value: Any) -> Any:
        if isinstance(value, dict):
            shape, stride = map(build, value["layout"])
            return swizzle(tuple(value["swizzle"]), make(shape, stride)) if "swizzle" in value else make(shape, stride)
        return tuple(map(build, value)) if isinstance(value, list) else value

    return build


class Absent:
    """A side that is not installed."""


def ours() -> tuple[Any, Callable[[Any], Any]]:
    import layoutalg as la

    return la, builder(la.Layout, lambda s, x: la.ComposedLayout(la.Swizzle(*s), 0, x))


def tensor_layouts() -> tuple[Any, Callable[[Any], Any]]:
    import tensor_layouts as tl
    import tensor_layouts.layout_utils

    return tl, builder(tl.Layout, lambda s, x: tl.ComposedLayout(tl.Swizzle(*s), x))

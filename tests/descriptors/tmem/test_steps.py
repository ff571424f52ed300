"""Steps: each lane has at each tap what its output multiplies with, tracked as labels and not as numbers."""

from __future__ import annotations

from typing import Any

from each import each

from descriptors.tmem.shift_steps import shift_problem, tile_steps

CASES: list[dict[str, Any]] = [
    {},
    {"images": 8, "width": 16, "height": 16},
    {"images": 3, "width": 100, "taps": (3, 7), "padding": (1, 3)},
    {"images": 3, "width": 100, "taps": (3, 7), "padding": (1, 0)},
    {"images": 30, "taps": (2, 4), "padding": (0, 1)},
]
EXAMPLE: dict[str, Any] = {
    "images": 2, "height": 9, "width": 9, "channels": 32, "filters": 16, "taps": (3, 3), "padding": (1, 1)
}  # fmt: skip


@each("case", CASES)
@each("cta_group", [1, 2])
@each("start", ["clear", "middle"])
@each("quarters", ["all", "one"])
def test_each_lane_holds_what_its_output_multiplies_with(
    case: dict[str, Any], cta_group: int, start: str, quarters: str
) -> None:
    one = shift_problem(**{**EXAMPLE, **case})
    lanes = 128 * cta_group
    for tile in range(-(-one.places // lanes)):
        lanes_of: dict[int, list[Any]] = {}
        steps = tile_steps(
            one, 1, tile, step_channels=16, cta_group=cta_group, quarters=quarters, start=start
        )  # fmt: skip
        for step in steps:
            about = (step.tap.r, step.tap.k)
            row = lanes_of.setdefault(step.tap.a_range, [None] * lanes)
            if step.kind == "load":
                lanes_of[step.tap.a_range] = [
                    (about, place + lane) for place in step.places for lane in range(128)
                ]  # fmt: skip
            elif step.kind == "shift":
                shifted = [lane for lane in range(lanes) if quarters == "all" or lane % 128 // 32 == step.lane // 32]
                next_rows = {lane: row[lane + 1] for lane in shifted if lane % 32 != 31}
                lanes_of[step.tap.a_range] = [next_rows.get(lane, row[lane]) for lane in range(lanes)]
            elif step.kind == "refresh":
                assert (step.lane, len(step.places)) == (31, 4 * cta_group)
                for quarter, place in enumerate(step.places):
                    row[32 * quarter + 31] = (about, place)
            elif step.kind == "multiply":
                off = set(step.masked_lanes())
                for lane in range(lanes):
                    output = one.output(lanes * tile + lane)
                    w = -1 if output is None else output[1] + step.tap.s - one.padding[1]
                    if output is not None and 0 <= w < one.width:
                        assert lane not in off and row[lane] == (about, output[0] * one.width + w)
                    elif output is not None:
                        assert lane in off


def test_d_begins_with_zeros_or_with_the_tap_that_masks_nothing() -> None:
    one = shift_problem(**EXAMPLE)
    clear = tile_steps(one, 1, 0, step_channels=16)
    middle = tile_steps(one, 1, 0, step_channels=16, start="middle")
    assert clear[0].kind == "clear" and all(step.enable_input_d for step in clear)
    first = next(step for step in middle if step.kind == "multiply")
    assert not any(step.kind == "clear" for step in middle)
    assert (first.tap.s, first.masked_lanes(), first.enable_input_d) == (1, (), False)
    assert sum(not step.enable_input_d for step in middle) == 1


def test_an_output_row_whose_taps_are_all_padding_is_cleared() -> None:
    one = shift_problem(**{**EXAMPLE, "height": 1, "taps": (2, 3), "dilation": (2, 1)})
    assert [step.kind for step in tile_steps(one, 0, 0, step_channels=16, start="middle")] == ["clear"]


def test_ranges_of_a_take_turns() -> None:
    steps = tile_steps(shift_problem(**EXAMPLE), 1, 0, step_channels=16)
    assert [step.tap.a_range for step in steps if step.kind == "load"] == [0, 1, 0, 1, 0, 1]

"""What shifting saves, counted in the steps themselves."""

from __future__ import annotations

from each import each

from descriptors import shift_convolution
from descriptors.tmem.shift_steps import table


def test_a_table_is_128_and_four_a_tap() -> None:
    assert [(one.taps, one.rows, one.plain) for one in table((1, 3, 5, 7))] == [
        (1, 128, 128), (3, 136, 384), (5, 144, 640), (7, 152, 896)
    ]  # fmt: skip


@each("start", ["clear", "middle"])
@each("cta_group", [1, 2])
@each(("width", "taps", "padding"), [(9, (3, 3), (1, 1)), (100, (2, 5), (0, 0)), (300, (5, 1), (2, 0))])
def test_the_rows_in_all_are_those_of_the_steps(
    width: int, taps: tuple[int, int], padding: tuple[int, int], cta_group: int, start: str
) -> None:
    convolution = shift_convolution(2, 6, width, 32, 32, taps, padding, cta_group=cta_group, start=start)
    steps = [
        step
        for p in range(convolution.problem.rows)
        for tile in range(convolution.tiles)
        for step in convolution.steps(p, tile)
    ]
    loaded = sum(128 * len(step.places) for step in steps if step.kind == "load")
    refreshed = sum(len(step.places) for step in steps if step.kind == "refresh")
    products = sum(step.kind == "multiply" for step in steps)
    assert convolution.copied.rows == loaded + refreshed
    assert convolution.copied.plain == 128 * cta_group * products
    assert convolution.multiplications == products

"""The picture of rounds: acts in an order that a run can have, arrows from what ends a wait, waits that never end."""

from __future__ import annotations

import pytest
from places import ROOT
from ring_kernels import ring_sm90, ring_sm100

from descriptors import DescriptorError
from descriptors.check.execution.rounds import WAITS
from descriptors.check.pipeline import Pipeline, pipelines
from descriptors.show.pictures.round_picture import TIMES, RoundPicture
from layoutalg.drawing.shapes import Arrow, Box, Text


def of(text: str) -> Pipeline:
    return pipelines(text)[0]


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("ring", [ring_sm90, ring_sm100])
def test_the_rounds_of_a_ring_are_what_its_two_roles_do_in_turn(ring: object, stages: int) -> None:
    """With parameters of 256 there are four rounds: a wait for the slot, a fill, a wait for the data, a release."""
    seen = of(ring(stages)).rounds  # type: ignore[operator]
    of_roles = {name: [act for act in seen.acts if seen.roles[act.role] == name] for name in seen.roles}
    producer = [(act.what == WAITS, act.name, act.phase) for act in of_roles["warp 4"]]
    assert producer == [
        row
        for k in range(4)
        for row in ((True, f"B{k % stages}", k // stages - 1), (False, f"A{k % stages}", k // stages))
    ]
    consumer = of_roles["warps 0..3" if ring is ring_sm90 else "warp 5"]
    assert [(act.name, act.phase) for act in consumer if act.what == WAITS] == [
        (f"A{k % stages}", k // stages) for k in range(4)
    ]


def test_acts_of_a_role_and_of_what_they_wait_for_come_in_order() -> None:
    acts = of(ring_sm100(2)).rounds.acts
    for number, act in enumerate(acts):
        assert all(acts[n].time < act.time and acts[n].name == act.name for n in act.sources)
        before = [one.time for one in acts[:number] if one.role == act.role]
        assert not before or max(before) < act.time


def test_a_wait_that_never_ends_is_marked_with_what_there_is_of_its_phase() -> None:
    hang = of((ROOT / "docs/kernels/hang.ptx").read_text())
    never = [act for act in hang.rounds.acts if act.endless]
    assert {(act.name, act.lines) for act in never} == {("A0", (94,)), ("C0", (40,))}
    told = next(act for act in never if act.name == "A0")
    assert [hang.rounds.acts[n].lines for n in told.sources] == [(42, 43, 44)]
    picture = RoundPicture(hang)
    assert picture.text().count("never ends") == 2
    assert max(map(len, picture.text().splitlines())) <= 80
    shapes = picture.scene().shapes
    arrows = [one for one in shapes if isinstance(one, Arrow)]
    assert [one.role for one in arrows] == ["bad"]
    assert sum(": no end" in text for one in shapes if isinstance(one, Text) for _, _, text in one.items) == 2


def test_the_run_that_is_shown_is_the_first_in_which_something_is_wrong() -> None:
    begin = "CONSUMER: mov.u32 parity, 0;"
    late = ring_sm90().replace(begin, f"{begin}\nsetp.gt.u32 pi, n, 8;\n@pi add.u32 n, n, 1;")
    assert of(ring_sm90()).launch.endswith("scalar parameters 256") and not of(ring_sm90()).wrong
    assert "k_param_0 = 1024" in of(late).launch and any("barrier-hang" in one for one in of(late).wrong)
    times = [act.time for act in RoundPicture(of(late)).acts.values()]
    assert max(times) - min(times) == TIMES - 1 and any(act.endless for act in RoundPicture(of(late)).acts.values())


@pytest.mark.parametrize("text", [(ROOT / "docs/kernels/hang.ptx").read_text(), ring_sm100(3)], ids=["hang", "ring"])
def test_every_colour_of_the_legend_is_that_of_an_act(text: str) -> None:
    shapes = RoundPicture(of(text)).scene().shapes
    boxes = [(box[1], one.fill) for one in shapes if isinstance(one, Box) for box in [one.bounds()]]
    foot = max(y for y, fill in boxes if fill == "faint")
    acts, legend = ({fill for y, fill in boxes if (y > foot + 60) is below} for below in (False, True))
    swatches = legend - {"good", "bad"}  # dots, of the arrows and of waits
    assert swatches and swatches <= acts - {"faint"}


HEAD = ".version 8.8\n.target sm_90a\n.shared .align 8 .b8 b[16];\n.entry k() .reqntid 64 {"
INIT = "mov.u32 t, %tid.x; setp.eq.u32 z, t, 0; setp.lt.u32 p, t, 32; @z mbarrier.init.shared.b64 [b], 32; bar.sync 0;"
HAND = "@!p bra W{n}; mbarrier.arrive.shared.b64 _, [b]; bra E{n}; W{n}: mbarrier.try_wait.parity.shared.b64 q, [b], 0;"
HAND += "@!q bra W{n}; E{n}: bar.sync 0;"
INVALIDATE = "@z mbarrier.inval.shared.b64 [b]; bar.sync 0;"


def test_mbarriers_that_the_kernel_invalidates_at_its_end_are_drawn() -> None:
    """Triton writes an `mbarrier.inval` for each of its mbarriers."""
    kept = of(f"{HEAD} {INIT} {HAND.format(n=1)} ret; }}").rounds
    invalidated = of(f"{HEAD} {INIT} {HAND.format(n=1)} {INVALIDATE} ret; }}").rounds
    assert kept == invalidated and [(act.what, act.name) for act in kept.acts] == [("arrivals", "A0"), (WAITS, "A0")]


def test_an_address_that_is_initialized_again_holds_another_mbarrier() -> None:
    again = "@z mbarrier.init.shared.b64 [b], 32; bar.sync 0;"
    text = f"{HEAD} {INIT} {HAND.format(n=1)} {INVALIDATE} {again} {HAND.format(n=2)} {INVALIDATE} ret; }}"
    seen = of(text).rounds
    assert [(ring.place, ring.stages) for ring in seen.rings] == [("[b]", 1), ("[b]", 1)]
    assert [(act.what, act.name, act.phase) for act in seen.acts] == [
        ("arrivals", "A0", 0), (WAITS, "A0", 0), ("arrivals", "B0", 0), (WAITS, "B0", 0),
    ]  # fmt: skip
    assert all(seen.acts[n].name == act.name for act in seen.acts for n in act.sources)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{HEAD} ret; }}", "no mbarrier is initialized"),
        (f"{HEAD} {INIT} ret; }}", "'k' initializes an mbarrier (line 4), but its run ended without an arrival"),
        (
            f"{HEAD} ld.global.u32 x, [y]; setp.eq.u32 u, x, 1; @u bra L; {INIT} L: ret; }}",
            "its run stopped at line 4 before an mbarrier ended a wait or a phase (a branch: ",
        ),
        (f"{HEAD} ret; }} .func f() {{ {INIT} ret; }}", "in 'f', which is a function and no kernel"),
    ],
)
def test_what_is_missing_is_named_where_nothing_can_be_drawn(text: str, reason: str) -> None:
    with pytest.raises(DescriptorError, match=r"^explain: no rounds to draw: ") as refused:
        pipelines(text)
    assert reason in str(refused.value)


def test_a_run_that_stops_is_drawn_as_far_as_it_came_and_says_where_it_stopped() -> None:
    stop = "ld.global.u32 x, [y]; setp.eq.u32 u, x, 1; @u bra L; bar.sync 0; L: ret;"
    assert "stopped at line 4 (a branch: " in of(f"{HEAD} {INIT} {HAND.format(n=1)} {stop} }}").launch

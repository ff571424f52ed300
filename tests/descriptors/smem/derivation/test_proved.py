"""The proof as it is asked for: what it claims, what it refuses, and what it leaves to the comparison."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import Any

import pytest
from derived import K_128, MN_64, unproved
from places import ROOT

from descriptors import DescriptorError, ProofError, derive, proved, verify
from descriptors.smem.derivation.verify import Report
from layoutalg import ComposedLayout, Layout


@pytest.mark.parametrize(
    ("arguments", "base", "claim"),
    [
        (K_128, 0, "for every tile 64*m x 64*k, any base that is a multiple of 1024"),
        (K_128, 0x1080, "for every tile 64*m x 64*k, any base that is a multiple of 128 with its base offset"),
        (MN_64, 512, "for every tile 64*m x 16*k, any base that is a multiple of 512"),
        ({**K_128, "swizzle": "none"}, 16, "for every tile 64*m x 16*k, any base that is a multiple of 16"),
    ],
)
def test_the_claim_names_the_tiles_and_the_bases(arguments: dict[str, Any], base: int, claim: str) -> None:
    proof = proved(unproved(**arguments), base=base)
    assert proof.claim == claim and proof.ok
    assert len(proof.warnings) == (base == 0x1080)
    text = f"proved: 16384 elements in {proof.subtiles} subtiles, by theorem, {claim}"
    assert str(proof) == "; warning: ".join([text, *proof.warnings])


def test_a_tile_of_no_family_is_proved_alone_and_the_claim_says_why() -> None:
    rows = unproved(**K_128).smem_tile
    explicit = proved(derive(layout=rows, dtype="bf16", mma=(64, 16), verify=False))
    assert explicit.claim == (
        "for this tile alone, any base that is a multiple of 1024: a tile of atoms is verified for all sizes, an "
        "explicit layout is not"
    )
    other = proved(unproved(**{**K_128, "dtype": "tf32", "major": "MN", "swizzle": "128B_BASE32B", "mma": (64, 8)},
                            atom="MN_SW128_32B_4ROWS"))  # fmt: skip
    assert other.claim.endswith(": closed forms exist for the canonical atom of a mode only, and this is another atom")
    d = unproved(**K_128)
    idle = dataclasses.replace(d, descriptor=dataclasses.replace(d.descriptor, leading_byte_offset=32))
    assert not proved(idle).alone and not proved(d).alone


def test_a_wrong_word_is_an_error_with_every_element_that_is_wrong() -> None:
    d = unproved(**K_128)
    wrong = dataclasses.replace(d, descriptor=dataclasses.replace(d.descriptor, stride_byte_offset=512))
    with pytest.raises(ProofError, match="the words do not read the tile, disproved: 14336 of 16384") as caught:
        proved(wrong)
    assert isinstance(caught.value.proof, Report) and caught.value.proof == verify(wrong)


def test_what_the_theorem_leaves_open_is_compared_and_said_to_be() -> None:
    """Three lines of 128 bytes on the diagonal: the swizzle has become strides, over no power of two."""
    d = derive(layout="S<3,3,3> o 0 o (3,8):(64,1)", dtype="bf16", mma=(3, 8), legality="off", verify=False)
    proof = proved(dataclasses.replace(d, smem_tile=Layout((3, 8), (72, 1))))
    assert proof.report is not None and not proof.family
    assert str(proof) == (
        "proved: 24 elements in 1 subtile, each walked, for this tile at this address only, because no theorem covers "
        "it"
    )


def test_a_tile_beyond_the_window_is_proved_where_words_can_name_it() -> None:
    d = derive(tile=(128, 64, 30), dtype="bf16", major="K", swizzle="128B", mma=(64, 16), capacity=None)
    proof, report = proved(d), verify(d)
    assert (proof.elements, proof.subtiles, proof.beyond) == (report.elements, report.subtiles, report.beyond)
    assert f"; {report.beyond} subtiles lie beyond every word, for every tile" in str(proof) and proof.beyond > 0
    with pytest.raises(DescriptorError, match="no subtile is within"):
        proved(derive(**K_128, capacity=None), base=2**18 - 1024)


@pytest.mark.parametrize(
    ("arguments", "base", "complaint"),
    [
        (None, 0, "proved: None is not a derivation"),
        (K_128, 64, "multiple of 128"),
        (K_128, 200704, "ends at 233472, beyond the 232448 bytes"),
        (K_128, 300000, "beyond the 232448"),
        (K_128, -16, "the minimum is 0"),
    ],
)
def test_only_a_derivation_at_an_address_can_be_proved(arguments: Any, base: int, complaint: str) -> None:
    with pytest.raises(DescriptorError, match=complaint):
        proved(unproved(**arguments) if arguments else arguments, base=base)


def test_an_offset_that_no_elements_have_is_refuted() -> None:
    d = unproved(**K_128)
    assert isinstance(d.smem_tile, ComposedLayout)
    shifted = dataclasses.replace(d, smem_tile=ComposedLayout(d.smem_tile.outer, 8, d.smem_tile.inner))
    with pytest.raises(ProofError):
        proved(shifted)


def test_derive_with_its_proof_does_not_load_numpy() -> None:
    code = "import sys; from descriptors import derive; derive((128, 128), 'bf16', 'K', '128B', (64, 16)); "
    ended = subprocess.run(
        [sys.executable, "-c", code + "print('numpy' in sys.modules, 'sympy' in sys.modules)"],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip
    assert ended.stdout.split() == ["False", "False"]


@pytest.mark.parametrize(
    ("major", "evidence"),
    [("K", "measured on a Hopper GPU"), ("MN", "no wgmma instruction reads such an operand")],
)
def test_the_proof_says_how_the_model_of_its_own_operand_is_known(major: str, evidence: str) -> None:
    d = unproved(tile=(128, 128), dtype="e4m3", major=major, swizzle="128B", mma=(64, 32), arch="sm90")
    assert proved(d).evidence == evidence == verify(d).evidence
    crossing = unproved(tile=(8, 768), dtype="e2m1", major="K", swizzle="128B", mma=(8, 96), arch="sm103")
    assert "sm_103a" in proved(crossing).evidence and proved(crossing).evidence == verify(crossing).evidence


def test_a_proof_says_what_proved_it() -> None:
    d = unproved(**K_128)
    assert (proved(d).by, proved(d, walk=True).by, proved(d, walk=True).report) == (
        ("theorem",), ("walk", "theorem"), verify(d)
    )  # fmt: skip
    assert "by theorem, for every" in str(proved(d)) and "each walked, by theorem for" in str(proved(d, walk=True))
    larger = derive(
        tile=(4096, 4096), dtype="bf16", major="K", swizzle="128B", mma=(64, 16), capacity=None, verify=False
    )
    assert proved(larger, walk=True).by == ("theorem",)  # no table holds it
    staged = derive(tile=(128, 64, 30), dtype="bf16", major="K", swizzle="128B", mma=(64, 16), capacity=None)
    assert proved(staged, walk=True).report == verify(staged)  # what words can name is walked


def test_the_walk_refutes_where_the_theorem_were_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The theorem made to say yes to everything: the walk, which shares nothing with it, still finds the elements."""
    import descriptors.smem.derivation.proved as room
    from descriptors.smem.proof.theorem import Verdict

    monkeypatch.setattr(room, "verdict", lambda *_: Verdict("equal"))
    d = unproved(**K_128)
    wrong = dataclasses.replace(d, descriptor=dataclasses.replace(d.descriptor, stride_byte_offset=512))
    assert proved(wrong).ok
    with pytest.raises(ProofError, match="14336 of 16384"):
        proved(wrong, walk=True)


def test_derive_takes_the_name_of_a_proof() -> None:
    words = {derive(**K_128, verify=how).descriptor.encode() for how in (True, False, "walk", "theorem")}
    assert len(words) == 1
    with pytest.raises(DescriptorError, match=r"derive: verify is .*not supported.*supported: walk, theorem"):
        derive(**K_128, verify="trust")
    with pytest.raises(DescriptorError, match=r"derive: verify is .*, which is neither True nor False"):
        derive(**K_128, verify=1)

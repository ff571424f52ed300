"""Certificates: Coq accepts derived words, whatever their bits without effect, and rejects wrong ones."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from coq import compile_proofs, needs_coq, run_coq
from places import ROOT
from seeds import seed_of_this_run

from descriptors import Derivation, DescriptorError, derive
from descriptors.smem.claims.certificate import MOST_WORDS, certificate
from descriptors.smem.operands.operand import ELEMENT_TYPES
from descriptors.smem.words.descriptor import smem_word
from descriptors.text import word_text
from layoutalg.files import is_ours

PROOF = "Proof. apply certified. vm_compute. reflexivity. Qed."
ENUMERATION = "Proof. apply enumerated. vm_compute. reflexivity. Qed."
REJECTED = "Proof. Fail (apply certified; vm_compute; reflexivity). Abort."


def random_derivation(draw: random.Random) -> tuple[Derivation, int]:
    """A tile of any type, major, swizzle, architecture and order, and an address for it."""
    while True:
        element = draw.choice(sorted(ELEMENT_TYPES.values(), key=str))
        major = draw.choice(("K", "MN"))
        swizzle = draw.choice(("none", "32B", "64B", "128B", "128B_BASE32B"))
        k = 256 // element.storage_bits
        arch, mma = draw.choice(("sm90", "sm100", "sm107")), (draw.choice((64, 128)), k)
        crossing = draw.random() < 0.1
        if crossing:
            element, major, swizzle, arch, mma = ELEMENT_TYPES["e2m1"], "K", "128B", "sm103", (128, 96)
        tile = (mma[0] * draw.choice((1, 2)), 768 if crossing else mma[1] * draw.choice((1, 2, 4)))
        base = draw.choice((0, 1024, 4096)) if crossing else draw.choice((0, 1024, 128, 0x880, 4096))
        stages = draw.choice(((), (), (2,)))
        order = draw.choice(((0, 1), (1, 0))) + (2,) * len(stages)
        try:
            d = derive(
                tile + stages, element, major, swizzle, mma, arch=arch, order=order, legality="off", verify=False,
            )  # fmt: skip
            d.words(base)
        except DescriptorError:
            continue
        return d, base


def ignored_bits(d: Derivation) -> int:
    return d.dont_care_mask() | smem_word(d.arch).unknown_bits((1 << 64) - 1)


def some_word(draw: random.Random, d: Derivation, base: int) -> int:
    words = d.words(base)
    while not isinstance(words, int):
        words = draw.choice(words)
    return words


def with_another_word(draw: random.Random, d: Derivation, base: int, *, wrong: bool) -> str:
    """The certificate with one word that differs in one bit that is read, or in all bits that are not."""
    word = some_word(draw, d, base)
    ignored, word_format = ignored_bits(d), smem_word(d.arch)
    if not wrong:
        other = word ^ (draw.getrandbits(64) & ignored)
    else:
        # Operands that do not cross atoms have an absolute LBO that is not used.
        fields = ("start_address", "stride_byte_offset") if d.crossing else [field.name for field in word_format.fields]
        read = word_format.mask(fields) & ~ignored
        other = word ^ 1 << draw.choice([bit for bit in range(64) if read >> bit & 1])
    text = certificate(d, base)
    assert word_text(word) in text
    return text.replace(word_text(word), word_text(other), 1)


def module(number: int, text: str) -> str:
    """The statements of a certificate as a module, so that one file has several."""
    head, _, body = text.partition("Open Scope Z_scope.\n")
    assert head.startswith("(* Certificate")
    return f"Module C{number}.\n{body.partition('Print Assumptions')[0]}End C{number}.\n"


def accepted(folder: Path, texts: list[str]) -> str:
    """Compile the certificates in one file, and return the error, or ""."""
    head = certificate(*random_derivation(random.Random(1))).partition("Open Scope Z_scope.\n")
    path = folder / "Certificates.v"
    path.write_text(head[0] + head[1] + "".join(module(i, text) for i, text in enumerate(texts)), encoding="utf-8")
    done = run_coq(path)
    return "" if done.returncode == 0 else done.stderr


def texts_of(draw: random.Random, count: int) -> list[str]:
    """Certificates of random tiles: right, with ignored bits changed, and with an error, which Coq must reject."""
    texts = []
    for _ in range(count):
        d, base = random_derivation(draw)
        right = certificate(d, base)
        assert right.count(PROOF) == 1
        texts += [right, with_another_word(draw, d, base, wrong=False)]
        faulty = [with_another_word(draw, d, base, wrong=True)]
        faulty.append(right.replace(f"base := {base:#x}", f"base := {base + 1024:#x}"))
        outermost = right.index("[(", right.index("stored_tile :="))
        faulty.append(right[:outermost] + "[(2, 3); " + right[outermost + 1 :])
        texts += [text.replace(PROOF, REJECTED) for text in faulty]
    return texts


@needs_coq
@pytest.mark.parametrize("count", [8, pytest.param(200, marks=pytest.mark.exhaustive)])
def test_right_words_are_accepted_and_wrong_ones_rejected(count: int, tmp_path: Path) -> None:
    compile_proofs()
    assert accepted(tmp_path, texts_of(random.Random(seed_of_this_run()), count)) == ""


@needs_coq
def test_enumeration_accepts_the_same_statement(tmp_path: Path) -> None:
    compile_proofs()
    d = derive((64, 16), "tf32", "K", "32B", (64, 8), arch="sm90")
    right, wrong = certificate(d), certificate(d).replace("(8, 8)", "(8, 16)")
    rejected = wrong.replace(PROOF, REJECTED.replace("certified", "enumerated"))
    assert accepted(tmp_path, [right.replace(PROOF, ENUMERATION), rejected]) == ""


@needs_coq
def test_the_script_accepts_a_right_certificate_and_rejects_a_wrong_one(tmp_path: Path) -> None:
    text = certificate(derive((128, 64), "bf16", "K", "128B", (64, 16), arch="sm90"))
    right, wrong, unproved = (tmp_path / f"{name}.v" for name in ("right", "wrong", "unproved"))
    right.write_text(text, encoding="utf-8")
    wrong.write_text(text.replace("0x4000004000010002", "0x4000004000010003"), encoding="utf-8")
    unproved.write_text(text.replace(PROOF, "Admitted."), encoding="utf-8")
    for path, status, verdict in ((right, 0, "proved"), (wrong, 1, "not proved"), (unproved, 1, "not proved")):
        done = subprocess.run(["bash", str(ROOT / "scripts" / "prove"), str(path)], capture_output=True, text=True)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (status, f"{path}: {verdict}"), done.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="the scripts need bash")
def test_without_coq_the_script_says_how_to_install_it(tmp_path: Path) -> None:
    for tool in ("bash", "dirname", "readlink"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or "")
    command = [str(tmp_path / "bash"), str(ROOT / "scripts" / "prove")]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": str(tmp_path)})
    assert done.returncode == 3 and "apt-get install --no-install-recommends coq" in done.stderr


def test_a_certificate_has_each_word_of_the_tile_once() -> None:
    d = derive((128, 128, 3), "bf16", "K", "128B", (64, 16), arch="sm90")
    text = certificate(d, 0x800)
    assert [text.count(word_text(word)) for row in d.words(0x800) for cell in row for word in cell] == [1] * 48
    assert is_ours(text.encode())


def test_too_many_words_are_refused() -> None:
    d = derive((64, 16, MOST_WORDS + 1), "bf16", "K", "32B", (64, 16), capacity=None, verify=False)
    with pytest.raises(DescriptorError, match="4097 descriptors"):
        certificate(d)

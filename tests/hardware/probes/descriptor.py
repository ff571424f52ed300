"""The descriptor probe: which address ``wgmma`` reads each element from, for any 64-bit word.

Every element of shared memory holds a digit of its own address, exact in the type; multiplied by an identity, the
operand comes out in the accumulator as those digits; two or three passes give the address (``kernels/descriptor.cuh``).
What is measured does not depend on the read model; the comparison with it comes after, word by word, every element.

    python -m probes.descriptor --out FOLDER            measure, compare, write the evidence
    python -m probes.descriptor --repeat FILE           measure the words of an evidence file again and compare
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from probes.build import build, kernel_name, probed_instructions
from probes.cuda import CudaError, Device, Module, provenance
from probes.instructions import TYPES, Instruction
from probes.runner import digest, main_of, shared_window, write_json
from probes.words import WINDOW, Operand, draw, encode_word, questions, window_questions

#: The probe's own part of shared memory: an identity operand, where one is needed.
OWN_BYTES = 2048
EVIDENCE = "wgmma_reads"


@dataclass(frozen=True, slots=True)
class Series:
    """Words for one operand of one instruction, all measured in one launch."""

    operand: Operand
    words: tuple[int, ...]


def measure(device: Device, module: Module, series: Series, shared_bytes: int | None = None) -> np.ndarray:
    """The address map of every word: (words, MN, K), with bit 31 set where no digit came out.

    Args:
        shared_bytes: dynamic shared memory of the block; default: as much as there can be.
    """
    shared_bytes = device.shared_bytes if shared_bytes is None else shared_bytes
    words = np.array(series.words, np.uint64)
    shape = (len(words), *series.operand.shape)
    out = device.buffer(4 * int(np.prod(shape))).fill(0xFF)
    kernel = module.kernel(kernel_name(series.operand.which, series.operand.instruction), shared_bytes)
    uploaded = device.upload(words)
    kernel.launch(min(len(words), device.processors), 128, uploaded, len(words), out, shared_bytes)
    device.synchronize()
    maps = out.get(np.uint32, shape)
    uploaded.free()
    out.free()
    return maps


def model(operand: Operand, word: int) -> np.ndarray:
    """What the read model says of a word."""
    from descriptors.smem.proof.read_model import read_addresses

    major, dtype = "MN" if operand.mn_major else "K", operand.instruction.dtype
    return read_addresses(word, arch="sm90", dtype=dtype, major=major, shape=operand.shape)


def operands(dtype: str) -> list[Operand]:
    """Every operand that is probed for a type."""
    return [Operand(which, one) for which, one in probed_instructions(dtype)]


def fuzz(seed: int, scale: float, low: int, high: int) -> Iterator[Series]:
    """Random words for every operand of every type: more for A, whose operands are few."""
    for dtype in TYPES:
        for operand in operands(dtype):
            random = Random(f"{seed} {operand.which} {operand.instruction.name}")
            count = 640 if operand.which == "A" else 64 if operand.instruction.a_in_registers else 160
            words = tuple(draw(operand, random, low, high) for _ in range(max(1, round(count * scale))))
            yield Series(operand, words)


def describe(operand: Operand) -> dict[str, Any]:
    """The operand as evidence files name it."""
    one = operand.instruction
    return {
        "operand": operand.which,
        "dtype": one.dtype,
        "n": one.n,
        "a_in_registers": one.a_in_registers,
        "a_mn": one.a_mn,
        "b_mn": one.b_mn,
    }


def operand_of(row: dict[str, Any]) -> Operand:
    """The operand that a row of an evidence file names."""
    one = Instruction(row["dtype"], row["n"], row["a_in_registers"], row["a_mn"], row["b_mn"])
    return Operand(row["operand"], one)


class Survey:
    """Series measured and compared with the read model; what the evidence file holds."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.rows: list[dict[str, Any]] = []
        self.words: list[int] = []
        self.digests: list[int] = []
        self.series: list[int] = []
        self.elements: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.different: list[dict[str, Any]] = []
        self.different_maps: dict[str, np.ndarray] = {}
        self._modules: dict[str, Module] = {}

    def module(self, dtype: str) -> Module:
        """The compiled kernels of a type."""
        if dtype not in self._modules:
            name = f"descriptor_{dtype}"
            self._modules[dtype] = self.device.load(build(name)[name])
        return self._modules[dtype]

    def take(self, series: Series) -> np.ndarray:
        """Measure a series and compare it."""
        operand = series.operand
        maps = measure(self.device, self.module(operand.instruction.dtype), series)
        key = f"{operand.instruction.dtype} {operand.which} {'MN' if operand.mn_major else 'K'}"
        for word, found in zip(series.words, maps, strict=True):
            self.words.append(word)
            self.digests.append(digest(found))
            self.series.append(len(self.rows))
            self.counts[key] += 1
            self.elements[key] += found.size
            wrong = found != model(operand, word)
            if wrong.any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                if len(self.different_maps) < 64:
                    self.different_maps[f"{operand.which} {operand.instruction.name} {word:#018x}"] = found
                self.different.append(
                    {
                        **describe(operand),
                        "word": f"{word:#018x}",
                        "elements": int(wrong.sum()),
                        "first": at,
                        "measured": f"{int(found[at]):#x}",
                        "model": f"{int(model(operand, word)[at]):#x}",
                    }
                )
        self.rows.append(describe(operand))
        return maps

    def summary(self) -> dict[str, Any]:
        """Counts, fit to read."""
        return {
            "words": len(self.words),
            "elements": sum(self.elements.values()),
            "words_that_differ_from_the_model": len(self.different),
            "by_operand": {key: {"words": self.counts[key], "elements": self.elements[key]} for key in self.counts},
            "different": self.different[:200],
        }

    def save(self, path: Path, **facts: Any) -> None:
        """Words and digests as arrays, the operands and the summary as JSON text."""
        np.savez_compressed(
            path.with_suffix(".npz"),
            word=np.array(self.words, np.uint64),
            digest=np.array(self.digests, np.uint64),
            series=np.array(self.series, np.uint16),
            operands=np.array(json.dumps(self.rows)),
            provenance=np.array(json.dumps(facts)),
        )
        if self.different_maps:
            np.savez_compressed(path.with_name(path.name + "_different.npz"), **self.different_maps)
        write_json(path.with_suffix(".json"), {**facts, **self.summary()})


def ask(survey: Survey, low: int) -> list[dict[str, Any]]:
    """Put the questions; the answer to each is whether the words of every group were read alike."""
    answers = []
    for question in questions(low):
        groups, before = [], len(survey.different)
        for words in question.words:
            maps = survey.take(Series(question.operand, words))
            digests = [f"{digest(one):#018x}" for one in maps]
            groups.append({"words": [f"{word:#018x}" for word in words], "digests": digests})
        alike = all(len(set(group["digests"])) == 1 for group in groups)
        answers.append(
            {"name": question.name, "question": question.text, **describe(question.operand)}
            | {"every_group_is_read_alike": alike}
            | {"words_that_differ_from_the_model": len(survey.different) - before, "groups": groups}
        )
    return answers


def whole_maps(survey: Survey, low: int) -> dict[str, np.ndarray]:
    """Address maps in full, to look at: an f16 A of 64 x 16, each major and swizzle, at the pattern's start."""
    start, maps = -(-low // 1024) * 1024, {}
    for mn in (False, True):
        operand = Operand("A", Instruction("f16", 16, a_mn=mn))
        for code in range(4):
            chosen = encode_word(start, 128, 1024, code=code)
            maps[f"{'MN' if mn else 'K'} {chosen:#018x}"] = survey.take(Series(operand, (chosen,)))[0]
    return maps


def ask_alone(row: dict[str, Any]) -> dict[str, Any]:
    """Put one word to the hardware in a process of its own, since a fault ends the process's use of the GPU."""
    command = [sys.executable, "-m", "probes.descriptor", "--alone", json.dumps(row)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"a word alone must be measured, found:\n{done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def alone(device: Device, row: dict[str, Any]) -> dict[str, Any]:
    """What the hardware does with one word: the error, or what it reads against the model, modulo 2**18."""
    operand, word = operand_of(row), int(row["word"], 0)
    module = device.load(build(f"descriptor_{row['dtype']}")[f"descriptor_{row['dtype']}"])
    try:
        found = measure(device, module, Series(operand, (word,)), row["shared_bytes"])[0]
    except CudaError as error:
        return {**row, "outcome": error.name}
    strange = found >> 31 != 0
    facts = {"elements": found.size, "elements_not_written_by_the_probe": int(strange.sum())}
    facts["elements_at_the_address_modulo_2_18"] = int((found == model(operand, word) % WINDOW).sum())
    return {**row, "outcome": "read", **facts}


def ask_window(device: Device, seed: int, low: int, high: int) -> list[dict[str, Any]]:
    """What happens at the borders of shared memory and of the 18-bit window, a process a word."""
    rows = []
    for question in window_questions(seed, low, high):
        facts = {"question": question.name, **describe(question.operand), "shared_bytes": question.shared_bytes}
        rows.append({**facts, "word": f"{question.word:#018x}"})
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(ask_alone, rows))


def repeat(device: Device, path: Path) -> dict[str, Any]:
    """Measure the words of an evidence file again, and count those read otherwise than recorded."""
    with np.load(path) as recorded:
        rows = [operand_of(row) for row in json.loads(str(recorded["operands"]))]
        word, want, series = recorded["word"], recorded["digest"], recorded["series"]
    survey, wrong = Survey(device), 0
    for number, operand in enumerate(rows):
        chosen = series == number
        maps = measure(
            device, survey.module(operand.instruction.dtype), Series(operand, tuple(int(w) for w in word[chosen]))
        )
        wrong += sum(digest(one) != int(recorded) for one, recorded in zip(maps, want[chosen], strict=True))
    print(f"repeated {len(word)} words of {path.name}: {len(word) - wrong} as recorded, {wrong} otherwise")
    return {"file": path.name, "words": len(word), "words_read_otherwise_than_recorded": wrong}


def run(device: Device, options: argparse.Namespace) -> int:
    """The probe as the command line asks for it."""
    if options.alone:
        print(json.dumps(alone(device, json.loads(options.alone))))
        return 0
    low, high = shared_window(device)
    facts: dict[str, Any] = provenance(device, " ".join(["scripts/probe_wgmma descriptor", *sys.argv[1:]]))
    facts |= {"shared_memory": [f"{low:#x}", f"{high:#x}"], "seed": options.seed}
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    if options.repeat:
        answer = repeat(device, Path(options.repeat))
        write_json(out / "wgmma_repeat.json", {**facts, **answer})
        return 1 if answer["words_read_otherwise_than_recorded"] else 0
    survey, begun = Survey(device), time.monotonic()
    if options.window:
        window = ask_window(device, options.seed, low, high)
        write_json(out / "wgmma_window.json", {**facts, "rows": window})
        print(Counter(f"{row['question']}: {row['outcome']}" for row in window))
        return 0
    answers = ask(survey, low + OWN_BYTES)
    write_json(out / "wgmma_questions.json", {**facts, "questions": answers})
    if options.questions:
        return report(survey, time.monotonic() - begun)
    np.savez_compressed(
        out / "wgmma_maps.npz", provenance=np.array(json.dumps(facts)), **whole_maps(survey, low + OWN_BYTES)
    )
    for series in fuzz(options.seed, options.scale, low + OWN_BYTES, high):
        survey.take(series)
    survey.save(out / EVIDENCE, **facts)
    return report(survey, time.monotonic() - begun)


def report(survey: Survey, seconds: float) -> int:
    """Print the counts; 1 if the model is wrong anywhere."""
    facts = survey.summary()
    print(f"{facts['words']} words, {facts['elements']} elements on {survey.device.name} in {seconds:.1f} s:", end=" ")
    print(f"{facts['words_that_differ_from_the_model']} words differ from the read model")
    for row in survey.different[:12]:
        print("  ", json.dumps(row))
    return 1 if survey.different else 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="probe_wgmma descriptor", description=__doc__.split("\n")[0])
    made.add_argument("--out", default="build/evidence", help="folder for the evidence")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--scale", type=float, default=1.0, help="how many words: 1.0 is about 24,000")
    made.add_argument("--questions", action="store_true", help="only what sources disagree on, of f16 operands alone")
    made.add_argument("--window", action="store_true", help="instead, the borders of shared memory, a process a word")
    made.add_argument("--alone", metavar="JSON", help="one word (what --window runs)")
    made.add_argument("--repeat", metavar="FILE", help="measure the words of an evidence file again")
    return made


def main(arguments: Iterable[str] | None = None) -> int:
    """Entry point."""
    return main_of(parser(), run, arguments)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Would the tests notice a wrong line? Changes one place of the packages at a time, and runs the tests of that line.

A random sample of the changes is taken (the operators are listed in scripts/lib/mutation.py), each is made in a
temporary copy of the tree, and those that no test notices are printed, with the scores. Which test runs which line is
measured first, once a tree; that takes some minutes. An interrupted run tells what it has.

The exit status is 0 whatever the scores are; 2 if the tests cannot run.

python3 scripts/mutants.py --number 300 --seed 1 --jobs 4
python3 scripts/mutants.py --again build/survivors.json --whole
python3 scripts/mutants.py --only layoutalg/algebra --number 50 --json build/survivors.json
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))

from ended import end
from mutant_runs import Outcome, run_all, scores, with_equivalents
from mutant_tree import PACKAGES, ROOT, Record, RunError, copy_tree, listed, record
from mutation import Mutant, mutants, sample
from outputs import written

_EQUIVALENT = ROOT / "scripts" / "lib" / "equivalent_mutants.json"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="which sample (default: 0)")
    parser.add_argument("--number", type=int, default=300, help="how many mutants (default: 300)")
    parser.add_argument(
        "--only", action="append", default=[], metavar="PATH", help="only mutants of this file or folder"
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument("--whole", action="store_true", help="put survivors to all the other tests too (slow)")
    parser.add_argument("--again", type=Path, metavar="FILE", help="only the survivors of a run that wrote FILE")
    parser.add_argument("--list", action="store_true", help="print the sample, run nothing")
    parser.add_argument("--json", type=written, metavar="FILE", help="write the outcomes there")
    return parser.parse_args()


def sample_of(files: list[Path], options: argparse.Namespace) -> tuple[int, list[Mutant]]:
    """The number of mutants that there are, and the sample of them."""
    within = [Path(one) for one in options.only or PACKAGES]
    ours = [
        f for f in files if f.suffix == ".py" and f.parts[0] in PACKAGES and any(f.is_relative_to(w) for w in within)
    ]
    sources = {str(path): (ROOT / path).read_bytes() for path in ours}
    population = [mutant for path, source in sources.items() for mutant in mutants(path, source)]
    mutants_drawn = sample(population, sources, options.number, options.seed)
    if options.again:
        before = json.loads(options.again.read_text(encoding="utf-8"))["mutants"]
        left = {
            (one["path"], one["operator"], one["before"], one["after"]) for one in before if one["status"] == "survived"
        }
        mutants_drawn = [one for one in population if (one.path, one.operator, one.before, one.after) in left]
    return len(population), mutants_drawn


def put_to_the_test(files: list[Path], sample_: list[Mutant], options: argparse.Namespace) -> list[Outcome]:
    """What became of each mutant of the sample, told as it goes."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        trees = [copy_tree(files, Path(scratch) / str(job) / "tree") for job in range(max(options.jobs, 1))]
        measured = record(files, options.jobs, Path(scratch))
        _tell_unfit(measured)
        done: Counter[str] = Counter()

        def tell(outcome: Outcome) -> None:
            done[outcome.status] += 1
            line = f"{done.total()}/{len(sample_)}, {done['survived']} survived, {outcome.seconds:.0f} s"
            print(line, file=sys.stderr, flush=True)
            if outcome.status == "survived":
                print(f"  {outcome.mutant}", file=sys.stderr, flush=True)

        return run_all(sample_, measured, trees, tell, options.whole)


def _tell_unfit(measured: Record) -> None:
    for test in measured.unfit:
        print(f"left out, since it does not pass as things are: {test}", file=sys.stderr)


def report(outcomes: list[Outcome], population: int, options: argparse.Namespace) -> None:
    for outcome in sorted(outcomes, key=lambda one: (one.mutant.path, one.mutant.start)):
        if outcome.status == "survived":
            print(f"{outcome.mutant}" + ("  (no test runs it)" if not outcome.tests else ""))
    table = scores(outcomes)
    print(f"\n{'':12}mutants  killed  equivalent  survived  score")
    for name, row in table.items():
        print(
            f"{name:12}{row['mutants']:7}{row['killed']:8}{row['equivalent']:12}{row['survived']:10}{row['score']:7.1%}"
        )
    if options.json:
        content = {
            "seed": options.seed,
            "population": population,
            "scores": table,
            "mutants": [o.record() for o in outcomes],
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    options = arguments()
    files = listed()
    population, sample_ = sample_of(files, options)
    if options.list or not sample_:
        print("\n".join(map(str, sample_)) or f"no mutants in {', '.join(options.only)}")
        return 0 if sample_ else 2
    if find_spec("coverage") is None:
        print("mutants: coverage must be installed, found no such module (pip install -e '.[dev]')", file=sys.stderr)
        return 2
    try:
        outcomes = put_to_the_test(files, sample_, options)
    except RunError as error:
        print(error, file=sys.stderr)
        return 2
    known = json.loads(_EQUIVALENT.read_text(encoding="utf-8"))
    report(with_equivalents(outcomes, known), population, options)
    return 0


if __name__ == "__main__":
    end(main)

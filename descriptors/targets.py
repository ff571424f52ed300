"""The one table of targets: which architectures there are, and which of them has what, since which version of PTX.

An architecture is one row of ``ARCHITECTURES``, what a later one adds or lacks are rows of ``FEATURES``: whoever asks
what a ``.target`` has, asks here. A target is ``sm_`` and a number; one that ends with ``a`` has all of its own chip,
one that ends with ``f`` what its family shares, one without a letter what every later chip has too. *Sets* of targets
are written as words: ``100+`` is every target of a number from 100 on, ``100af`` are sm_100a and sm_100f, ``100a`` is
sm_100a alone, ``90+af`` every one from 90 on that ends with a letter.
Nothing of sm_100 and later was measured: what has it and what not is the verdict of an assembler, which speaks of
syntax and targets and never of meaning.
Source: ptxas 13.5.37 (``.version 9.5``, and every version back to 8.3), asked of one instruction a row; what a row
cites beside it.

Law: what a target has that ends with ``f`` its ``a`` has too.

>>> names = [f"sm_{row.number}" for row in ARCHITECTURES]
>>> [(one, name) for one in FEATURES for name in names if has(one, name + "f") and not has(one, name + "a")]
[]

Law: each feature is of some architecture.

>>> [name for name in FEATURES if not any(has(name, row.target) for row in ARCHITECTURES)]
[]
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from descriptors.errors import ChoiceError, DescriptorError
from layoutalg.frozen import frozen

#: The newest version of PTX that was asked about.
NEWEST = "9.5"


@frozen
class Architecture:
    """One chip, or one name of several.

    Args:
        number: of ``.target sm_...``.
        name: by which it is asked for.
        title: what it is in.
        ptx: the first version of PTX that has it.
        tables: whose rows of instructions are the base of its own: ``sm90``, ``sm100``, or "" where it multiplies with
            ``mma.sync`` alone.
        static_shared: bytes of static shared memory that a kernel of its own target may have.
        shared: bytes of shared memory that a block may ask for at its launch.
        columns: of tensor memory that one allocation may have; 0 without tensor memory.
        exclusive_columns: those of an exclusive allocation.
        known: how what is said of it is known, all in all: measured, documented, compiled; it ends an answer.
        follows: the name of another, all of whose features it has; "" where ``FEATURES`` says all.
    """

    number: int
    name: str
    title: str
    ptx: str
    tables: str
    static_shared: int
    shared: int
    columns: int
    exclusive_columns: int
    known: str
    follows: str = ""

    @property
    def target(self) -> str:
        """The target that has all of it."""
        return f"sm_{self.number}a"

    @property
    def words(self) -> str:
        """The architecture whose words in shared memory it reads: its own, or that of its tables.

        >>> [row.words for row in ARCHITECTURES]
        ['sm90', 'sm100', 'sm100', 'sm107', 'sm100', '', '']
        """
        return "sm107" if has("wide descriptor", self.target) else self.tables


# fmt: off
#: Every architecture, oldest first.
ARCHITECTURES = (
    Architecture(90, "sm90", "Hopper", "8.0", "sm90", 232448, 232448, 0, 0, "measured on a Hopper GPU"),
    Architecture(100, "sm100", "Blackwell", "8.6", "sm100", 232448, 232448, 512, 512,
                 "documented, not measured on a Blackwell GPU"),
    Architecture(103, "sm103", "Blackwell Ultra", "8.8", "sm100", 232448, 232448, 512, 512,
                 "documented, not measured on a Blackwell Ultra GPU"),
    Architecture(107, "sm107", "Rubin", "9.4", "sm100", 232448, 334848, 512, 576,
                 "documented, words compiled by the CuTe DSL 4.8.1, not measured on a Rubin GPU"),
    Architecture(110, "sm110", "Thor", "9.0", "sm100", 232448, 232448, 512, 512,
                 "documented, not measured on a Thor GPU"),
    Architecture(120, "sm120", "GeForce and RTX Blackwell", "8.7", "", 101376, 101376, 0, 0,
                 "documented, not measured on a GPU of compute capability 12"),
    Architecture(121, "sm121", "GB10", "8.8", "", 101376, 101376, 0, 0,
                 "documented, not measured on a GPU of compute capability 12", follows="sm120"),
)
# fmt: on


@frozen
class WarpArchitecture:
    """What a main loop of ``mma.sync`` has to know of an architecture.

    Args:
        target: of PTX.
        shared: bytes of shared memory that a block may ask for at its launch.
        tma: whether the copy engine fills the stages, and not the threads.
        known: how the models of copies, loads and fragments are known.
    """

    target: str
    shared: int
    tma: bool
    known: str


_SAME_CODE = "measured on a Hopper GPU, which runs the same code"
#: The architectures whose main loops are of ``mma.sync``, by name: two that are older than all of ``ARCHITECTURES``,
#: and those of it that have no other multiplication. Source: CUDA C++ Programming Guide, Compute Capabilities.
WARP_ARCHITECTURES: Mapping[str, WarpArchitecture] = {
    "sm80": WarpArchitecture("sm_80", 166912, False, _SAME_CODE),
    "sm89": WarpArchitecture("sm_89", 101376, False, _SAME_CODE),
    **{row.name: WarpArchitecture(row.target, row.shared, True, row.known) for row in ARCHITECTURES if not row.tables},
}


@frozen
class Feature:
    """What some architectures have and others have not.

    Args:
        targets: a set of targets.
        ptx: the first version of PTX that has it; an architecture may be later.
        source: who says so beside ptxas; "" where nobody else was asked.
    """

    targets: str
    ptx: str
    source: str = ""


_TCGEN05 = "100af 103af 107af 110af"
_ITS_OWN = "100a 103a 107a 110a"
_RUBIN = "107af"
_FP4 = "PTX ISA 9.1, mma (block scaling), Target ISA Notes"

#: What there is, by name: an instruction, a qualifier of it, or a value of an operand.
FEATURES: Mapping[str, Feature] = {
    "wgmma": Feature("90a", "8.0", "PTX ISA 9.1, wgmma, Target ISA Notes"),
    "wgmma.sp": Feature("90a", "8.2"),
    "wgmma of s8 by u8": Feature("90a", "8.4"),
    "setmaxnreg": Feature("90+af", "8.0"),
    "tcgen05": Feature(_TCGEN05, "8.6", "PTX ISA 9.1, tcgen05, Target ISA Notes"),
    "kind::i8": Feature("100a 110a", "8.6", "PTX ISA 9.1, tcgen05.mma, Target ISA Notes"),
    "kind::ti16": Feature(_RUBIN, "9.4", "PTX ISA 9.4, tcgen05.mma"),
    "kind::mxf4nvf4": Feature(_TCGEN05, "8.7"),
    "scale_vec": Feature(_ITS_OWN, "8.6", "PTX ISA 9.1, tcgen05.mma, Target ISA Notes"),
    "block16, block32": Feature(_TCGEN05, "8.8"),
    "sparse mxf4, mxf4nvf4": Feature(_ITS_OWN, "8.6", "PTX ISA 9.1, tcgen05.mma.sp, Target ISA Notes"),
    "K = 96": Feature("103af 107af", "8.8", "PTX ISA 9.4, tcgen05, Matrix Shape; the assembler does not see K"),
    "scale-input-d": Feature("100af 103af 107af", "8.6"),
    "collector::b": Feature(_RUBIN, "9.4", "PTX ISA 9.4, tcgen05.mma"),
    "decompress::lut::b": Feature(_RUBIN, "9.4", "PTX ISA 9.4, tcgen05.mma"),
    "wide descriptor": Feature(_RUBIN, "9.4", "CuTe DSL 4.8.1, sm107_make_umma_smem_desc; PTX ISA 9.4"),
    "tcgen05.shift": Feature(_ITS_OWN, "8.6"),
    "tcgen05.ld.red": Feature("103af 107af 110af", "8.8"),
    "tcgen05.ld.spcompress": Feature("107a", "9.4", "PTX ISA 9.4, tcgen05.ld"),
    "exclusive allocation": Feature(_TCGEN05, "9.4", "PTX ISA 9.4, tcgen05.alloc"),
    "sync_restrict::shared::read::mma::a": Feature(_RUBIN, "9.4", "PTX ISA 9.4, tcgen05.commit"),
    "multicast::cluster::16b": Feature("90+", "9.4"),
    "multicast::cluster::32b": Feature(_RUBIN, "9.4"),
    "bulk copies": Feature("90+", "8.0"),
    "copies to shared::cta": Feature("90+", "8.6"),
    "cp_mask": Feature("100+", "8.6"),
    "ignore_oob": Feature("90+", "9.2"),
    "weak, relaxed copies": Feature("90+", "9.3"),
    "relaxed copies to a cluster": Feature("90a 100af 103af 107af 110af", "9.3"),
    "cta_group of a copy": Feature(_TCGEN05, "8.6"),
    "gather4, im2col::w to a cluster": Feature(_TCGEN05, "8.6"),
    "gather4, im2col::w to shared::cta": Feature("100+", "8.6"),
    "prefetch of gather4, im2col::w": Feature(_TCGEN05, "8.6"),
    "scatter4, im2col::w::128": Feature(_TCGEN05, "8.6"),
    "im2col_no_offs::w": Feature(_RUBIN, "9.4"),
    "override": Feature(_RUBIN, "9.4", "PTX ISA 9.4, cp.async.bulk.tensor"),
    "mbarrier::report": Feature(_RUBIN, "9.4", "PTX ISA 9.4, cp.async.bulk.tensor"),
    "evict_last of a prefetch": Feature(_RUBIN, "9.4"),
    "tensormap.replace": Feature("90+af", "8.3"),
    "padded element types": Feature("100+af", "8.7"),
    "swizzle_atomicity": Feature("100+af", "8.6"),
    "swizzle 96B": Feature("103a 107a", "8.8"),
    "tensormap.query": Feature("90+af", "9.5"),
    "mbarrier": Feature("80+", "7.0"),
    "copies of a thread": Feature("80+", "7.0"),
    "mbarrier of a cluster": Feature("90+", "8.0"),
    "relaxed mbarriers": Feature("90+", "8.6"),
    "mbarrier layouts": Feature("90+", "9.3"),
    "mbarrier phase types": Feature("90+", "9.3"),
    "fences of sm_90": Feature("90+", "8.0"),
    "fences of tensor maps": Feature("90+", "8.3"),
    "st.async, red.async": Feature("90+", "8.1"),
    "one-way fences": Feature("90+", "8.6"),
    "fence.alias": Feature("90+", "9.5"),
    "wait_group of the async proxy": Feature("90+", "9.5"),
    "fences of a reader": Feature("90+", "9.4"),
    "clusterlaunchcontrol": Feature("100+", "8.6"),
    "clusterlaunchcontrol multicast": Feature("100+af", "8.6"),
    "st.async to global": Feature("100+", "8.7"),
    "ldmatrix": Feature("75+", "6.5"),
    "stmatrix": Feature("90+", "7.8"),
    "matrices of bytes": Feature("100+af", "8.6"),
    "ldmatrix s8.s4": Feature("90+af", "9.4"),
    "mma.sync": Feature("75+", "6.5"),
    "mma.sync of sm_80": Feature("80+", "7.0"),
    "mma.sync f64 of M 16": Feature("90+", "7.8"),
    "mma.sync f8": Feature("89+", "8.4"),
    "mma.sync f8 of K 16 or f16 D": Feature("89+", "8.7"),
    "mma.sp::ordered_metadata": Feature("80+", "8.5"),
    "mma.sync kind::f8f6f4 of f8": Feature("100+af", "8.6"),
    "mma.sync f6, f4": Feature("120af", "8.7", _FP4),
    "mma.sync block_scale": Feature("120af", "8.7", _FP4),
    "mma.sync block_scale ue8m0 4X": Feature("120af", "9.1"),
    "mma.sync sparse f4": Feature("120a", "8.7", _FP4),
}

_TARGET = re.compile(r"sm_(\d{2,3})([af]?)\Z")
_SET = re.compile(r"(\d{2,3})(\+?)(a?f?)\Z")
#: A number that a chip had before it was renamed (PTX ISA 9.0).
_RENAMED = {101: 110}


#: Digits of each part of a version at most.
_VERSION_DIGITS = 9


def as_version(text: str) -> tuple[int, int]:
    """A version of PTX, as numbers that compare.

    >>> as_version("9.5") > as_version("8.10") > as_version("8.9")
    True
    """
    major, _, minor = text.partition(".")
    minor = minor or "0"
    whole = major.isdecimal() and minor.isdecimal() and max(len(major), len(minor)) <= _VERSION_DIGITS
    return (int(major), int(minor)) if whole else (0, 0)


@lru_cache(maxsize=1 << 12)
def has(feature: str, target: str) -> bool:
    """Whether a target has a feature.

    Args:
        feature: its name.
        target: as ``.target`` has it.

    >>> [has("tcgen05", name) for name in ("sm_107a", "sm_100f", "sm_100", "sm_120a", "sm_101a")]
    [True, True, False, False, True]
    """
    read = _TARGET.match(target)
    if read is None:
        return False
    number = _RENAMED.get(int(read[1]), int(read[1]))
    if any(_among(number, read[2], one) for one in FEATURES[feature].targets.split()):
        return True
    before = next((row.follows for row in ARCHITECTURES if row.number == number), "")
    return before != "" and has(feature, f"sm_{architecture(before).number}{read[2]}")


def _among(number: int, letter: str, one: str) -> bool:
    found = _SET.match(one)
    assert found, one
    right = number >= int(found[1]) if found[2] else number == int(found[1])
    return right and (not found[3] or (letter != "" and letter in found[3]))


def targets_with(feature: str) -> tuple[str, ...]:
    """The targets of all architectures that have a feature, those with a letter.

    >>> targets_with("tcgen05.ld.red")[:4]
    ('sm_103a', 'sm_103f', 'sm_107a', 'sm_107f')
    """
    names = (f"{row.target[:-1]}{letter}" for row in ARCHITECTURES for letter in "af")
    return tuple(name for name in names if has(feature, name))


def holders(feature: str) -> str:
    """The architectures that have a feature, by their targets, in words.

    >>> holders("K = 96"), holders("wgmma")
    ('sm_103a and sm_107a', 'sm_90a')
    """
    names = [name for name in targets_with(feature) if name.endswith("a")]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def lacking(feature: str, target: str, version: str) -> str:
    """Return why a target or a version of PTX does not support a feature; "" if both support it.

    >>> lacking("kind::ti16", "sm_100a", "9.5"), lacking("kind::ti16", "sm_107a", "9.5")
    ('sm_100a does not support kind::ti16; supported by sm_107a, sm_107f', '')
    >>> lacking("ignore_oob", "sm_90a", "9.1")
    'ignore_oob needs .version 9.2, but the file has 9.1'
    """
    if not has(feature, target):
        return f"{target} does not support {feature}; supported by {spelled(FEATURES[feature].targets)}"
    for what, needed in ((feature, FEATURES[feature].ptx), (f"target {target}", oldest(target))):
        if as_version(version) < as_version(needed):
            return f"{what} needs .version {needed}, but the file has {version}"
    return ""


def oldest(target: str) -> str:
    """The first version of PTX that has a target.

    >>> oldest("sm_100a"), oldest("sm_100f"), oldest("sm_110a"), oldest("sm_75")
    ('8.6', '8.8', '9.0', '1.0')
    """
    read = _TARGET.match(target)
    # What has had a name before is as old as that.
    found = next((row.ptx for row in ARCHITECTURES if read and row.number == int(read[1])), "1.0")
    return max(found, "8.8", key=as_version) if read and read[2] == "f" else found


def spelled(targets: str) -> str:
    """A set of targets in words, with those that follow them.

    >>> spelled("100a 107af"), spelled("90+"), spelled("90+af"), spelled("120a")
    ('sm_100a, sm_107a, sm_107f', 'sm_90 and later', 'sm_90a, sm_90f and later', 'sm_120a, sm_121a')
    """
    words = []
    for one in targets.split():
        found = _SET.match(one)
        assert found, one
        numbers = [found[1], *(str(row.number) for row in ARCHITECTURES if row.follows == f"sm{found[1]}")]
        names = [
            f"sm_{number}{letter}" for number in numbers[: 1 if found[2] else None] for letter in found[3] or ("",)
        ]
        words.append(", ".join(names) + " and later" * bool(found[2]))
    return ", ".join(words)


#: Static shared memory of a kernel of a target that does not end with ``a``.
_PORTABLE_SHARED = 48 << 10


def shared_bytes(name: str) -> int:
    """Return the bytes of shared memory that a block of an architecture may ask for at its launch.

    >>> shared_bytes("sm90"), shared_bytes("sm107")
    (232448, 334848)
    """
    return architecture(name).shared


def static_shared(target: str) -> int:
    """The bytes of static shared memory that a kernel of a target may have.

    >>> [static_shared(name) for name in ("sm_90a", "sm_101a", "sm_120a", "sm_100f")]
    [232448, 232448, 101376, 49152]
    """
    read = _TARGET.match(target)
    number = _RENAMED.get(int(read[1]), int(read[1])) if read and read[2] == "a" else 0
    return next((row.static_shared for row in ARCHITECTURES if row.number == number), _PORTABLE_SHARED)


@lru_cache(maxsize=1 << 8)
def architecture(name: str, where: str = "") -> Architecture:
    """The architecture of a name, as ``sm107``, ``sm_107a``, ``107`` or ``Rubin``.

    Args:
        name: the name, in either case of letters.
        where: the operation, for the error message.

    Raises:
        ChoiceError: if there is none.

    >>> architecture("sm_107a").exclusive_columns, architecture("sm120").target, architecture("hopper").name
    (576, 'sm_120a', 'sm90')
    """
    read = re.match(r"(?:sm_?)?(\d{2,3})[af]?\Z", name.casefold()) if isinstance(name, str) else None
    number = _RENAMED.get(int(read[1]), int(read[1])) if read else 0
    for row in ARCHITECTURES:
        if row.number == number or (isinstance(name, str) and name.casefold() == row.title.casefold()):
            return row
    raise ChoiceError(f"{where}: arch" if where else "architecture", name, [row.name for row in ARCHITECTURES])


def tensor_arches() -> tuple[str, ...]:
    """The architectures whose tensor cores read descriptors: those with ``wgmma`` or ``tcgen05``.

    >>> tensor_arches()
    ('sm90', 'sm100', 'sm103', 'sm107', 'sm110')
    """
    return tuple(row.name for row in ARCHITECTURES if row.tables)


def tensor_architecture(name: object, where: str) -> str:
    """The architecture of a name that has descriptors: ``sm107`` for ``SM107`` or ``sm_107a``.

    Args:
        name: the name, in either case of letters.
        where: the operation, for the error message.

    Raises:
        ChoiceError: for an unknown one.
        DescriptorError: for one that multiplies with ``mma.sync``; it says what to ask instead.

    >>> tensor_architecture("sm_107a", "derive"), tensor_architecture("SM100", "derive")
    ('sm107', 'sm100')
    """
    try:
        row = architecture(name) if isinstance(name, str) else None
    except ChoiceError:
        row = None
    if row is None:
        raise ChoiceError(f"{where}: arch", name, tensor_arches())
    if not row.tables:
        raise DescriptorError(
            f"{where}: {row.name} ({row.title}) has no wgmma or tcgen05, and its mma.sync reads registers, not "
            f"descriptors; supported: {', '.join(tensor_arches())}; descriptors plan mma.m16n8k16 plans its main loop, "
            "descriptors check checks its kernels, layoutalg atoms lists its registers"
        )
    return row.name


def lineage(arch: str) -> tuple[str, ...]:
    """An architecture and those that it follows, the last first.

    >>> lineage("sm121"), lineage("sm107")
    (('sm121', 'sm120'), ('sm107',))
    """
    before = architecture(arch).follows
    return (arch, *(lineage(before) if before else ()))


@lru_cache(maxsize=1 << 6)
def generation(arch: str) -> str:
    """Whose instructions an architecture has: ``sm90``, those of ``wgmma``, or ``sm100``, of ``tcgen05``.

    Raises:
        ChoiceError: for an unknown one.

    >>> generation("sm107"), generation("sm90"), generation("sm120")
    ('sm100', 'sm90', '')
    """
    return architecture(arch).tables


def has_wgmma(arch: str) -> bool:
    """Whether an architecture multiplies with ``wgmma``: accumulators in registers, A from there if wanted.

    >>> [name for name in tensor_arches() if has_wgmma(name)]
    ['sm90']
    """
    return generation(arch) == "sm90"


def has_tcgen05(arch: str) -> bool:
    """Whether an architecture multiplies with ``tcgen05.mma``: accumulators in tensor memory, pairs of CTAs.

    >>> [name for name in tensor_arches() if has_tcgen05(name)]
    ['sm100', 'sm103', 'sm107', 'sm110']
    """
    return generation(arch) == "sm100"


def is_measured(arch: str) -> bool:
    """Whether statements about an architecture were measured on a GPU of it, and not only documented.

    >>> [name for name in tensor_arches() if is_measured(name)]
    ['sm90']
    """
    return known(arch).startswith("measured")


def known(arch: str) -> str:
    """How what is said of an architecture is known, in words that end an answer.

    Raises:
        ChoiceError: for an unknown one.

    >>> known("sm107")
    'documented, words compiled by the CuTe DSL 4.8.1, not measured on a Rubin GPU'
    """
    return architecture(arch).known

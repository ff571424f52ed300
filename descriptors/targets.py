"""Tables of architectures and of their features, with the PTX version that introduced each.

``ARCHITECTURES`` has one row per architecture, ``FEATURES`` one row per feature that not all targets support. This is
the only place that defines what a ``.target`` supports. A target is ``sm_`` and a number. With the letter ``a`` it
supports all features of its own chip, with ``f`` those that its family shares, and without a letter those that every
later chip supports too. *Sets* of targets are written as words: ``100+`` is every target with a number of at least 100,
``100af`` is sm_100a and sm_100f, ``100a`` is sm_100a alone, and ``90+af`` is every target from 90 on with a letter.
Nothing about sm_100 and later was measured: the rows record which targets an assembler accepts. An assembler checks
syntax and targets, not semantics.
Source: ptxas 13.5.37 (``.version 9.5``, and every version back to 8.3), run on one instruction per row; and the source
that a row cites.

Invariant: a target with ``a`` supports every feature of the target with ``f``.

>>> pairs = [(feature, f"sm_{row.number}") for feature in FEATURES for row in ARCHITECTURES]
>>> [pair for pair in pairs if has(pair[0], pair[1] + "f") and not has(pair[0], pair[1] + "a")]
[]

Invariant: at least one architecture supports each feature.

>>> [name for name in FEATURES if not any(has(name, row.target) for row in ARCHITECTURES)]
[]
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from descriptors.errors import ChoiceError, DescriptorError
from layoutalg.frozen import frozen

#: The newest PTX version in the tables.
NEWEST = "9.5"


@frozen
class Architecture:
    """An architecture: one chip, or one name for several.

    Args:
        number: number in ``.target sm_...``.
        name: name of the architecture in arguments, such as ``sm90``.
        title: name of the product family.
        ptx: first PTX version that supports the target.
        tables: architecture whose instruction tables apply: ``sm90``, ``sm100``, or "" if ``mma.sync`` is the only
            matrix instruction.
        static_shared: bytes of static shared memory that a kernel for its own target may have.
        shared: bytes of shared memory that a block may request at launch.
        columns: columns of tensor memory in one ordinary allocation; 0 without tensor memory.
        exclusive_columns: columns of tensor memory in an exclusive allocation.
        known: evidence for facts about the architecture (measured, documented, compiled), printed at the end of an
            answer.
        follows: name of another architecture, all of whose features it supports; "" if ``FEATURES`` lists everything.
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
        """The target that supports all features of the architecture."""
        return f"sm_{self.number}a"

    @property
    def words(self) -> str:
        """The architecture whose descriptor format it reads: its own, or that of its tables.

        >>> [row.words for row in ARCHITECTURES]
        ['sm90', 'sm100', 'sm100', 'sm107', 'sm100', '', '']
        """
        return "sm107" if has("wide descriptor", self.target) else self.tables


# fmt: off
#: All architectures, in the order of their numbers.
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
    """The facts about an architecture that a main loop with ``mma.sync`` needs.

    Args:
        target: PTX target.
        shared: bytes of shared memory that a block may request at launch.
        tma: whether TMA copies fill the stages; otherwise the threads fill them.
        known: evidence for the models of copies, loads and fragments.
    """

    target: str
    shared: int
    tma: bool
    known: str


_SAME_CODE = "measured on a Hopper GPU, which runs the same code"
#: The architectures with main loops that use ``mma.sync``, by name: two that are older than ``ARCHITECTURES``, and
#: those in it without another matrix instruction. Source: CUDA C++ Programming Guide, Compute Capabilities.
WARP_ARCHITECTURES: Mapping[str, WarpArchitecture] = {
    "sm80": WarpArchitecture("sm_80", 166912, False, _SAME_CODE),
    "sm89": WarpArchitecture("sm_89", 101376, False, _SAME_CODE),
    **{row.name: WarpArchitecture(row.target, row.shared, True, row.known) for row in ARCHITECTURES if not row.tables},
}


@frozen
class Feature:
    """A feature that some architectures support.

    Args:
        targets: set of targets that support it.
        ptx: first PTX version that supports it; an architecture may require a later one.
        source: source in addition to ptxas; "" if there is none.
    """

    targets: str
    ptx: str
    source: str = ""


_TCGEN05 = "100af 103af 107af 110af"
_ITS_OWN = "100a 103a 107a 110a"
_RUBIN = "107af"
_FP4 = "PTX ISA 9.1, mma (block scaling), Target ISA Notes"

#: The features by name: an instruction, a qualifier of an instruction, or a value of an operand.
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
#: Old numbers of renamed chips (PTX ISA 9.0).
_RENAMED = {101: 110}


#: The largest number of digits of each part of a version.
_VERSION_DIGITS = 9


def as_version(text: str) -> tuple[int, int]:
    """Return a PTX version as two numbers, which can be compared; (0, 0) for a malformed text.

    >>> as_version("9.5") > as_version("8.10") > as_version("8.9")
    True
    """
    major, _, minor = text.partition(".")
    minor = minor or "0"
    whole = major.isdecimal() and minor.isdecimal() and max(len(major), len(minor)) <= _VERSION_DIGITS
    return (int(major), int(minor)) if whole else (0, 0)


@lru_cache(maxsize=1 << 12)
def has(feature: str, target: str) -> bool:
    """Return whether a target supports a feature.

    Args:
        feature: name of the feature.
        target: the target, as in ``.target``.

    >>> [has("tcgen05", name) for name in ("sm_107a", "sm_100f", "sm_100", "sm_120a", "sm_101a")]
    [True, True, False, False, True]
    """
    read = _TARGET.match(target)
    if read is None:
        return False
    number = _RENAMED.get(int(read[1]), int(read[1]))
    if any(_contains(word, number, read[2]) for word in FEATURES[feature].targets.split()):
        return True
    parent = next((row.follows for row in ARCHITECTURES if row.number == number), "")
    return parent != "" and has(feature, f"sm_{architecture(parent).number}{read[2]}")


def _contains(word: str, number: int, letter: str) -> bool:
    """Return whether a word of a set of targets contains the target with a number and a letter."""
    match = _SET.match(word)
    assert match, word
    in_range = number >= int(match[1]) if match[2] else number == int(match[1])
    return in_range and (not match[3] or (letter != "" and letter in match[3]))


def targets_with(feature: str) -> tuple[str, ...]:
    """Return the targets with a letter that support a feature.

    >>> targets_with("tcgen05.ld.red")[:4]
    ('sm_103a', 'sm_103f', 'sm_107a', 'sm_107f')
    """
    names = (f"{row.target[:-1]}{letter}" for row in ARCHITECTURES for letter in "af")
    return tuple(name for name in names if has(feature, name))


def holders(feature: str) -> str:
    """Return the targets of the architectures that support a feature, in words.

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
    """Return the first PTX version that supports a target.

    >>> oldest("sm_100a"), oldest("sm_100f"), oldest("sm_110a"), oldest("sm_75")
    ('8.6', '8.8', '9.0', '1.0')
    """
    read = _TARGET.match(target)
    # The old number of a renamed chip is not in the table, and is not restricted.
    version = next((row.ptx for row in ARCHITECTURES if read and row.number == int(read[1])), "1.0")
    return max(version, "8.8", key=as_version) if read and read[2] == "f" else version


def spelled(targets: str) -> str:
    """Return a set of targets in words, including the architectures that follow its members.

    >>> spelled("100a 107af"), spelled("90+"), spelled("90+af"), spelled("120a")
    ('sm_100a, sm_107a, sm_107f', 'sm_90 and later', 'sm_90a, sm_90f and later', 'sm_120a, sm_121a')
    """
    texts = []
    for word in targets.split():
        match = _SET.match(word)
        assert match, word
        numbers = [match[1], *(str(row.number) for row in ARCHITECTURES if row.follows == f"sm{match[1]}")]
        names = [
            f"sm_{number}{letter}" for number in numbers[: 1 if match[2] else None] for letter in match[3] or ("",)
        ]
        texts.append(", ".join(names) + " and later" * bool(match[2]))
    return ", ".join(texts)


#: Bytes of static shared memory of a kernel for a target that does not end with ``a``.
_PORTABLE_SHARED = 48 << 10


def shared_bytes(name: str) -> int:
    """Return the bytes of shared memory that a block of an architecture may request at launch.

    >>> shared_bytes("sm90"), shared_bytes("sm107")
    (232448, 334848)
    """
    return architecture(name).shared


def static_shared(target: str) -> int:
    """Return the bytes of static shared memory that a kernel for a target may have.

    >>> [static_shared(name) for name in ("sm_90a", "sm_101a", "sm_120a", "sm_100f")]
    [232448, 232448, 101376, 49152]
    """
    read = _TARGET.match(target)
    number = _RENAMED.get(int(read[1]), int(read[1])) if read and read[2] == "a" else 0
    return next((row.static_shared for row in ARCHITECTURES if row.number == number), _PORTABLE_SHARED)


@lru_cache(maxsize=1 << 8)
def architecture(name: str, where: str = "") -> Architecture:
    """Return the architecture with a name, such as ``sm107``, ``sm_107a``, ``107`` or ``Rubin``.

    Args:
        name: the name, in upper or lower case.
        where: the operation, for the error message.

    Raises:
        ChoiceError: if the architecture is unknown.

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
    """Return the architectures whose tensor cores read descriptors: those with ``wgmma`` or ``tcgen05``.

    >>> tensor_arches()
    ('sm90', 'sm100', 'sm103', 'sm107', 'sm110')
    """
    return tuple(row.name for row in ARCHITECTURES if row.tables)


def tensor_architecture(name: object, where: str) -> str:
    """Return the name of an architecture with descriptors, such as ``sm107`` for ``SM107`` or ``sm_107a``.

    Args:
        name: the name, in upper or lower case.
        where: the operation, for the error message.

    Raises:
        ChoiceError: if the architecture is unknown.
        DescriptorError: if its only matrix instruction is ``mma.sync``; the message names commands that support it.

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
    """Return an architecture and those that it follows, starting with itself.

    >>> lineage("sm121"), lineage("sm107")
    (('sm121', 'sm120'), ('sm107',))
    """
    parent = architecture(arch).follows
    return (arch, *(lineage(parent) if parent else ()))


@lru_cache(maxsize=1 << 6)
def generation(arch: str) -> str:
    """Return the instruction set of an architecture: ``sm90`` (``wgmma``), ``sm100`` (``tcgen05``), or "".

    Raises:
        ChoiceError: if the architecture is unknown.

    >>> generation("sm107"), generation("sm90"), generation("sm120")
    ('sm100', 'sm90', '')
    """
    return architecture(arch).tables


def has_wgmma(arch: str) -> bool:
    """Return whether an architecture has ``wgmma``, whose accumulators, and optionally A, are in registers.

    >>> [name for name in tensor_arches() if has_wgmma(name)]
    ['sm90']
    """
    return generation(arch) == "sm90"


def has_tcgen05(arch: str) -> bool:
    """Return whether an architecture has ``tcgen05.mma``, with accumulators in tensor memory and pairs of CTAs.

    >>> [name for name in tensor_arches() if has_tcgen05(name)]
    ['sm100', 'sm103', 'sm107', 'sm110']
    """
    return generation(arch) == "sm100"


def is_measured(arch: str) -> bool:
    """Return whether facts about an architecture were measured on such a GPU, and not only documented.

    >>> [name for name in tensor_arches() if is_measured(name)]
    ['sm90']
    """
    return known(arch).startswith("measured")


def known(arch: str) -> str:
    """Return the evidence for facts about an architecture, in words for the end of an answer.

    Raises:
        ChoiceError: if the architecture is unknown.

    >>> known("sm107")
    'documented, words compiled by the CuTe DSL 4.8.1, not measured on a Rubin GPU'
    """
    return architecture(arch).known

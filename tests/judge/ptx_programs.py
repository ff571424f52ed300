"""Random PTX functions of integers: straight code, branches, loops of few rounds, guards, blocks with names of their
own, packs, exchanges, calls and barriers; for ``ptx_interpreter`` to run, and legal for an assembler."""

from __future__ import annotations

import random

_CONSTANTS = (
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    31,
    32,
    63,
    64,
    127,
    255,
    256,
    1023,
    0x3FFF,
    0x8000,
    0xFFFF,
    0x10000,
    -1,
    -2,
    -8,
)
_WIDE = (
    0x4000004000010000,
    0x4000000000000000,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x100000000,
    -(1 << 31),
    -(1 << 63),
)
_ARITHMETIC = (
    "add add sub mul.lo mul.hi mul.wide mad.lo mad.hi mad.wide min max div rem neg abs add.sat sub.sat popc clz brev"
).split()
_STEMS = {16: "%h", 32: "%r", 64: "%rd"}

HEAD = ".version 8.8\n.target sm_100a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
HEAD += ".func (.reg .b32 r) some(.reg .b32 x) { mov.b32 r, x; ret; }\n"
DECLARED = ".reg .b16 %h<4>; .reg .b32 %r<6>, %a, %b; .reg .b64 %rd<5>, %w; .reg .pred %p<4>, %q; .reg .f32 %f<3>;"


class Writer:
    """A function that is drawn.

    Args:
        draw: where random numbers come from.
        length: about how many instructions it has.
    """

    def __init__(self, draw: random.Random, length: int) -> None:
        self.draw, self.left, self.labels, self.depth = draw, length, 0, 0
        self.text: list[str] = [DECLARED]

    def body(self) -> str:
        """The statements between the braces of the function."""
        draw = self.draw
        again = draw.random() < 0.1
        self.text += ["top:"] if again else []
        for width, stem in _STEMS.items():
            for n in range(4):
                if draw.random() < 0.1:
                    continue
                if draw.random() < 0.55:
                    self.text.append(f"mov.b{width} {stem}{n}, {self._constant(width)};")
                elif draw.random() < 0.5:
                    self.text.append(f"ld.param.b{width} {stem}{n}, [n];")
        self._some()
        self.text += [f"@{self._predicate()} bra top;"] if again else []
        return "\n".join([*self.text, "ret;"])

    def _some(self) -> None:
        while self.left > 0:
            self.left -= 1
            kind = self.draw.random()
            if kind < 0.8 or self.depth > 3:
                self.text.append(self._guard() + self.instruction() + ";")
            else:
                self.draw.choice((self._loop, self._ring, self._either, self._block, self._skip))()

    def _inside(self, many: int) -> None:
        rest, self.left = self.left - many, min(many, self.left)
        self.depth += 1
        self._some()
        self.depth -= 1
        self.left = max(rest, 0)

    def _label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def _loop(self) -> None:
        head, count, p = self._label(), self._register(32), self._predicate()
        step = self.draw.choice((1, 1, 2, 8, -1))
        self.text += [f"mov.b32 {count}, {self.draw.choice((0, 0, 3, 16))};", f"{head}:"]
        self._inside(self.draw.randrange(1, 7))
        test = self.draw.choice(("lt.s32", "ne.s32", "lt.u32"))
        self.text += [
            f"add.s32 {count}, {count}, {step};",
            f"setp.{test} {p}, {count}, {self.draw.choice((3, 4, 16))};",
        ]
        self.text.append(f"@{p} bra {head};")

    def _ring(self) -> None:
        """The stage and the phase of a pipeline."""
        head, stage, after, phase, p, q = (
            self._label(),
            *(self._register(32) for _ in range(3)),
            "%q",
            self._predicate(),
        )
        stages, start = self.draw.choice((2, 3, 4, 6)), self.draw.choice((0, 0, 1, "%laneid"))
        self.text += [f"mov.b32 {stage}, {start};", f"mov.b32 {phase}, 0;", f"{head}:"]
        self._inside(self.draw.randrange(1, 6))
        test = self.draw.choice((f"eq.s32 {p}, {after}, {stages}", f"gt.s32 {p}, {after}, {stages - 1}"))
        self.text += [f"add.s32 {after}, {stage}, 1;", f"setp.{test};", f"selp.b32 {stage}, 0, {after}, {p};"]
        self.text.append(f"selp.b32 %a, 1, 0, {p};")
        if self.draw.random() < 0.3:
            self.text += [f"shfl.sync.idx.b32 %b, {stage}, 3, 31, -1;", f"sub.s32 %b, %b, {stage};"]
        self.text += [f"xor.b32 {phase}, {phase}, %a;", f"shl.b32 %b, {stage}, {self.draw.choice((3, 10))};"]
        self.text += [f"setp.ne.s32 {q}, {self._register(32)}, 5;", f"@{q} bra {head};"]

    def _either(self) -> None:
        other, end, p = self._label(), self._label(), self._predicate()
        self.text.append(f"@{self.draw.choice(('', '!'))}{p} bra {other};")
        self._inside(self.draw.randrange(1, 4))
        self.text += [f"bra {end};", f"{other}:"]
        self._inside(self.draw.randrange(1, 4))
        self.text.append(f"{end}:")

    def _skip(self) -> None:
        end = self._label()
        self.text.append(f"@{self._predicate()} bra {end};")
        self._inside(self.draw.randrange(1, 5))
        self.text.append(f"{end}:")

    def _block(self) -> None:
        names = self.draw.sample((".reg .b32 %r<3>;", ".reg .b64 %rd<2>, %w;", ".reg .pred %p<2>;", ".reg .b32 %a;"), 2)
        self.text += ["{", *names[: self.draw.randrange(3)]]
        again = self.draw.random() < 0.5
        self.text += ["again:"] if again else []
        self._inside(self.draw.randrange(1, 6))
        if again:
            self.text.append(f"@{self._predicate()} bra again;")
        elif self.draw.random() < 0.5:
            self.text += [f"@{self._predicate()} bra over;", self.instruction() + ";", "over:"]
        self.text.append("}")

    def _guard(self) -> str:
        return f"@{self.draw.choice(('', '!'))}{self._predicate()} " if self.draw.random() < 0.15 else ""

    def _predicate(self) -> str:
        return self.draw.choice(("%p0", "%p1", "%p2", "%p3", "%q"))

    def _register(self, width: int) -> str:
        more = {32: ("%a", "%b"), 64: ("%w",)}.get(width, ())
        return self.draw.choice((*(f"{_STEMS[width]}{n}" for n in range(4)), *more))

    def _constant(self, width: int) -> int:
        draw = self.draw
        if width == 16:
            return draw.choice((0, 1, 2, 8, 255, 1000, -1, -7))
        if width == 64 and draw.random() < 0.5:
            return draw.choice((*_WIDE, draw.getrandbits(63)))
        return draw.choice((*_CONSTANTS, 1 << draw.randrange(31), draw.getrandbits(31), -draw.getrandbits(20)))

    def _source(self, width: int) -> str:
        return self._register(width) if self.draw.random() < 0.6 else str(self._constant(width))

    def instruction(self) -> str:
        """One instruction."""
        return self.draw.choice((
            *(self._arithmetic,) * 6, *(self._logic,) * 4, *(self._shift,) * 3, self._field, self._field, self._three,
            *(self._compare,) * 3, *(self._select,) * 3, *(self._pack,) * 3, *(self._convert,) * 3, *(self._copy,) * 3,
            self._address, self._outside, self._outside,
        ))()  # fmt: skip

    def _arithmetic(self) -> str:
        draw, width = self.draw, self.draw.choice((16, 32, 32, 64, 64))
        kind, d = draw.choice("us") + str(width), self._register(width)
        a, b = self._source(width), self._source(width)
        name = draw.choice(_ARITHMETIC)
        if name in ("popc", "clz", "brev"):
            width = draw.choice((32, 64))
            d = self._register(32 if name != "brev" else width)
            return f"{name}.b{width} {d}, {self._register(width)}"
        if name in ("neg", "abs"):
            return f"{name}.s{width} {d}, {self._register(width)}"
        if name.endswith(".sat"):
            return f"{name}.s32 {self._register(32)}, {self._source(32)}, {self._source(32)}"
        if name.endswith("wide"):
            width = draw.choice((16, 32))
            read = [self._register(width), self._source(width), self._source(2 * width)][: 3 if "mad" in name else 2]
            return f"{name}.{kind[0]}{width} {self._register(2 * width)}, {', '.join(read)}"
        if name in ("div", "rem"):
            b = str(draw.choice((1, 2, 3, 4, 7, 8, 100, -3))) if draw.random() < 0.8 else self._register(width)
        return f"{name}.{kind} {d}, {self._register(width)}, {b}" + (f", {a}" if "mad" in name else "")

    def _logic(self) -> str:
        draw, width = self.draw, self.draw.choice((16, 32, 32, 64, 64))
        if draw.random() < 0.2:
            name = draw.choice(("and", "or", "xor", "not"))
            read = [self._predicate() for _ in range(1 if name == "not" else 2)]
            return f"{name}.pred {self._predicate()}, {', '.join(read)}"
        name = draw.choice(("and", "and", "or", "or", "xor", "not", "cnot"))
        read = [self._register(width), self._source(width)][: 1 if "not" in name else 2]
        return f"{name}.b{width} {self._register(width)}, {', '.join(read)}"

    def _shift(self) -> str:
        draw, width = self.draw, self.draw.choice((16, 32, 64))
        by = (
            str(draw.choice((0, 1, 2, 4, 10, 16, 31, 32, 33, 62, 64, 100)))
            if draw.random() < 0.7
            else self._register(32)
        )
        if draw.random() < 0.3:
            read = f"{self._source(32)}, {self._source(32)}, {by}"
            return f"shf.{draw.choice('lr')}.{draw.choice(('wrap', 'clamp'))}.b32 {self._register(32)}, {read}"
        name = draw.choice((f"shl.b{width}", f"shr.{draw.choice('bus')}{width}"))
        return f"{name} {self._register(width)}, {self._register(width)}, {by}"

    def _field(self) -> str:
        draw, width = self.draw, self.draw.choice((32, 64))
        where = [str(draw.choice((0, 1, 4, 14, 16, 30, 31, 32, 40, 63, 64, 128, 255))) for _ in range(2)]
        where = [self._register(32) if draw.random() < 0.25 else one for one in where]
        if draw.random() < 0.5:
            return f"bfe.{draw.choice('us')}{width} {self._register(width)}, {self._source(width)}, {', '.join(where)}"
        read = [self._source(width), self._source(width), *where]
        return f"bfi.b{width} {self._register(width)}, {', '.join(read)}"

    def _three(self) -> str:
        draw = self.draw
        read = f"{self._register(32)}, {self._source(32)}"
        if draw.random() < 0.5:
            return f"lop3.b32 {self._register(32)}, {read}, {self._source(32)}, {draw.randrange(256)}"
        mode = draw.choice(("", "", "", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"))
        selector = str(draw.choice((0x3210, 0x7654, 0x5410, 0x7632, 0x1, 0x8888, draw.randrange(1 << 16))))
        return f"prmt.b32{mode} {self._register(32)}, {read}, {selector if draw.random() < 0.8 else self._register(32)}"

    def _compare(self) -> str:
        draw, width = self.draw, self.draw.choice((16, 32, 32, 64))
        letter = draw.choice("bus")
        how = draw.choice({"b": ("eq", "ne"), "s": ("eq", "ne", "lt", "le", "gt", "ge")}.get(
            letter, ("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs")))  # fmt: skip
        d = f"%p{draw.randrange(2)}|%p{draw.randrange(2, 4)}" if draw.random() < 0.3 else self._predicate()
        read = f"{self._register(width)}, {self._source(width)}"
        if draw.random() < 0.3:
            more = draw.choice(("", "!")) + self._predicate()
            return f"setp.{how}.{draw.choice(('and', 'or', 'xor'))}.{letter}{width} {d}, {read}, {more}"
        return f"setp.{how}.{letter}{width} {d}, {read}"

    def _select(self) -> str:
        width = self.draw.choice((16, 32, 32, 64))
        kind = self.draw.choice("bus") + str(width)
        which = self.draw.choice(("", "", "!")) + self._predicate()
        return f"selp.{kind} {self._register(width)}, {self._source(width)}, {self._source(width)}, {which}"

    def _pack(self) -> str:
        draw = self.draw
        whole, many = draw.choice(((64, 2), (64, 2), (64, 4), (32, 2)))
        part = whole // many
        if draw.random() < 0.5:
            return f"mov.b{whole} {self._register(whole)}, {{{', '.join(self._register(part) for _ in range(many))}}}"
        parts = draw.sample([f"{_STEMS[part]}{n}" for n in range(4)], many)
        if draw.random() < 0.3:
            parts[draw.randrange(many)] = "_"
        return f"mov.b{whole} {{{', '.join(parts)}}}, {self._register(whole)}"

    def _convert(self) -> str:
        draw = self.draw
        of, to = draw.choice((16, 32, 64)), draw.choice((16, 32, 64))
        source, target = self._register(of), self._register(to)
        of, to = (draw.choice([n for n in (8, 16, 32, 64) if n <= width]) for width in (of, to))
        sat = ".sat" if to < of and draw.random() < 0.2 else ""
        return f"cvt{sat}.{draw.choice('us')}{to}.{draw.choice('us')}{of} {target}, {source}"

    def _copy(self) -> str:
        draw, width = self.draw, self.draw.choice((16, 32, 64))
        if draw.random() < 0.2:
            return (
                f"mov.pred {self._predicate()}, {draw.choice(('0', '1', self._predicate(), '!' + self._predicate()))}"
            )
        if draw.random() < 0.1:
            return f"mov.b32 %a, {draw.choice(('%laneid', '%tid.x'))}"
        return f"mov.{draw.choice('bus')}{width} {self._register(width)}, {self._source(width)}"

    def _address(self) -> str:
        d, offset = self._register(64), self.draw.choice((0, 16, 64))
        return self.draw.choice((
            "mov.b32 %b, smem", f"mov.b64 {d}, smem", f"mov.u64 {d}, smem",
            f"cvta.shared.u64 {d}, %w", f"cvta.to.shared.u64 {d}, {self._register(64)}", "mov.b64 %w, smem",
            f"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem+{offset}], 32",
            f"ld.shared.b32 {self._register(32)}, [smem+{offset}]",
            f"ld.shared.b32 {self._register(32)}, [%b+{offset}]",
            f"st.shared.b32 [smem+{offset}], {self._register(32)}",
        ))  # fmt: skip

    def _outside(self) -> str:
        r, p = self._register(32), self._predicate()
        return self.draw.choice((
            f"call.uni ({r}), some, ({self._register(32)})", f"bar.red.popc.u32 {r}, 0, {p}",
            f"barrier.cta.red.and.pred {p}, 0, {self._predicate()}", "bar.sync 0", f"nanosleep.u32 {r}",
            f"shfl.sync.idx.b32 {r}, {self._register(32)}, 3, 31, -1",
            f"shfl.sync.bfly.b32 {r}|{p}, {self._register(32)}, 1, 31, -1",
            f"vote.sync.any.pred {p}, {self._predicate()}, -1",
            f"ld.global.v2.b32 {{%r0, %r1}}, [{self._register(64)}]",
            f"atom.global.add.u32 {r}, [{self._register(64)}], 1", "add.f32 %f0, %f1, %f2", f"mov.b32 {r}, %f0",
            f"mov.b32 %f1, {r}", f"selp.f32 %f2, %f0, 0f3F800000, {p}", "mov.f32 %f1, 0f3F800000",
            "fma.rn.f32 %f0, %f1, %f2, %f0", f"st.global.b32 [{self._register(64)}], {r}", f"elect.sync _|{p}, -1",
            f"activemask.b32 {r}", f"cvt.rn.f32.s32 %f0, {r}", f"cvt.rzi.s32.f32 {r}, %f0",
        ))  # fmt: skip


def body(seed: object, length: int = 30) -> str:
    """The body of a drawn function.

    >>> body(1) == body(1)
    True
    """
    return Writer(random.Random(repr(seed)), length).body()


def text(seed: object, length: int = 30) -> str:
    """A whole module, for a reader or an assembler."""
    return f"{HEAD}.visible .entry k(.param .b64 n)\n{{\n{body(seed, length)}\n}}\n"

#!/usr/bin/env python3
"""Write tests/vectors/outputs.json: what the two commands print, for a broad list of command lines.

Usage: python scripts/make_outputs.py [--check]      --check only compares, and exits 1 if the file is out of date

An entry holds the command line, its exit status, and what it wrote; of a long text its number of lines and SHA-256.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts" / "lib")]

from ended import end  # noqa: E402
from generated import write_or_check  # noqa: E402

FILE = ROOT / "tests" / "vectors" / "outputs.json"

#: Characters of text that an entry holds as they are.
LONGEST = 700

K_128 = "--dtype bf16 --major K --swizzle 128B --tile 128x128"
MN_64 = "--dtype bf16 --major MN --swizzle 64B --tile 128x128 --mma 64x16 --order 1,0"
K_96 = "--dtype e2m1 --major K --swizzle 128B --tile 128x768 --mma 128x96 --cta-group 2 --arch sm103"
FAMILY = '--dtype bf16 --major K --swizzle 128B --tile "64*m x 64*k" --mma 64x16 --symbolic'
SW128 = '"S<3,3,3> o 0 o (64,16):(64,1)"'
BF16_K = "--dtype bf16 --major K"

#: What follows ``descriptors``.
DESCRIPTORS = f"""
nothing
derive {K_128} --mma 64x16
derive {K_128} --mma 64x16 --json
derive {K_128} --mma 64x16 --json --no-verify
derive {K_128} --mma 64x16 --explain
derive {K_128} --mma 64x16 --emit cuda
derive {K_128} --mma 64x16 --emit ptx
derive {K_128} --mma 64x16 --emit cutedsl
derive {K_128} --mma 64x16 --emit python
derive {K_128} --mma 64x16 --emit cuda --name a_operand
derive {K_128} --mma 64x16 --emit cuda --name 1a
derive {K_128} --mma 64x16 --name a
derive {K_128} --mma 64x16 --emit rust
derive {K_128} --mma 64x16 --explain --json
derive {K_128} --mma 64x16 --base 0x2000
derive {K_128} --mma 64x16 --base 8
derive {K_128} --mma 64x16 --words
derive {K_128} --mma 64x16 --stages 2 --arch sm90 --words --base 0x8000
derive {K_128} --mma 64x16 --subtile 1,4
derive {K_128} --mma 64x16 --subtile 1,4 --json
derive {K_128} --mma 64x16 --subtile 1,4,1
derive {K_128} --mma 64x16 --subtile 1,8
derive {K_128} --mma 64x16 --subtile 1,4 --words
derive {K_128} --mma 64x16 --words --json
derive --dtype bf17 --tile 64x64 --mma 64x16 --json
derive {K_128} --mma 64x100
derive {K_128}x3 --mma 64x16 --order 1,0,2 --arch sm90 --no-verify
derive {MN_64}
derive {MN_64} --operand B
derive --dtype bf17 --major K --swizzle none --tile 8x8 --mma 8x8
derive --dtype u8 --major K --swizzle none --tile 128x64 --cp 128x256b
derive --dtype bf16 --unit cute --layout "S<3,4,3> o 0 o ((128,16),1,4,6):((64,1),0,16,8192)"
derive {FAMILY}
derive {FAMILY} --format latex
derive {FAMILY} --format python
derive {FAMILY} --format json
derive {FAMILY} --format word
derive {FAMILY} --json
derive {K_96}
derive {K_96} --json
derive {K_96} --explain
derive {K_96} --words --base 0x2000
derive {K_96} --words --base 0x80
derive {K_96} --subtile 0,5 --json
derive {K_96} --emit cuda
derive {K_96} --emit ptx
derive {K_96} --emit python
derive {K_96} --swizzle 64B
decode 0x4010404004000006 --dtype e2m1 --major K --shape 128x96
decode 0x4012404004010401
read 0x4010404004000006 --dtype e2m1 --major K --shape 128x96
match "(64,16):(64,1)" --dtype bf16 --swizzle 128B
match "(64,16):(64,1)" --dtype bf16 --swizzle 128B --json
match "(64,16):(64,1)" --dtype bf16 --swizzle 64B
match 0x4000404000010000 --dtype bf16
match "(64,16):(72,1)" --dtype bf16 --swizzle 128B
emit cuda --dtype bf16 "a: --swizzle K_SW128 --tile 64x64 --mma 64x16" "b: --swizzle MN_SW64 --tile 32x64 --mma 32x16"
emit ptx --dtype bf16 "a: --swizzle K_SW128 --tile 128x60 --mma 64x16"
candidates "(64,16):(64,1)" --dtype bf16
candidates "(64,16):(64,1)" --dtype bf16 --arch sm90 --json
candidates "(64,16" --dtype bf16
decode 0x4000404000010000
decode 0x4000404000010000 {BF16_K} --shape 64x16
decode 0x0010000002001000 --arch sm90
decode 0x0010000002001000 --arch sm90 --json
decode 0x
read 0x4000404000010000 {BF16_K} --shape 64x16
read 0x4000404000010000 {BF16_K} --shape 64x256
read 0x4000404000010000 {BF16_K} --shape 64x256 --all
read 0x4000404000010000 {BF16_K} --shape 8x16 --json
read 0x8000002001000000 --arch sm90 --dtype f16 --major MN --shape 64x16
read 0x4000404000010000 {BF16_K}
diff 0x4000004000010000 {SW128} --arch sm90 {BF16_K}
diff 0x4000002000010000 {SW128} --arch sm90 {BF16_K}
diff 0x4000002000010000 {SW128} --arch sm90 {BF16_K} --json
diff 0x4000404000010004 "S<3,4,3> o 0 o (64,64):(64,1)" --unit cute {BF16_K} --shape 64x16
diff 0x4000404000010004 "S<3,4,3> o 0 o (64,64):(64,1)" --unit cute {BF16_K} --shape 64x16 --json
diff 0x4000004000010040 --tile 64x64 --swizzle 64B --mma 64x16 --arch sm90 {BF16_K}
diff 0x4000004000010040 {SW128} --swizzle 64B --arch sm90 {BF16_K}
diff 0x4000004000010040 {SW128} --tile 64x64 --arch sm90 {BF16_K}
match --tile 64x64 --dtype bf16 --major MN --swizzle 128B --mma 64x16
candidates --tile 128x64 --swizzle 64B --major MN --mma 64x16 --dtype bf16
read --tile 64x64x2 --order 1,0,2 --swizzle 64B --mma 8x16 {BF16_K}
decode 0x4000404000010000 --expect 128B --expect stride_byte_offset=1024
decode 0x4000404000010000 --expect 64B --json
diff 0x4000404000010000 "S<9,9,9> o 0 o (64,16):(64,1)" {BF16_K}
shapes
check docs/kernels/pipeline.ptx
check docs/kernels/no_commit.ptx
check docs/kernels/too_early.ptx --errors
check docs/kernels/no_commit.ptx --json
check docs/kernels/no_commit.ptx --sarif
check docs/kernels/none.ptx
check LICENSE
check docs/kernels/pipeline.ptx --gpu-arch sm_1
explain docs/kernels/pipeline.ptx
explain docs/kernels/pipeline.ptx --json
explain LICENSE --json
shapes --json
shapes --arch sm90
shapes --arch sm90 --kind f16
shapes --arch sm100 --kind mxf4nvf4
shapes --arch sm100 --kind f8f6f4
shapes --arch sm100 --kind f8f6f4 --json
shapes --arch sm100 --kind i8
shapes --kind f17
idesc --a bf16 --m 128 --n 256 --b-major MN
idesc --a e2m1 --m 256 --n 256 --cta-group 2 --scale-dtype ue4m3
idesc --a bf16 --m 128 --n 256 --json
idesc --a bf16 --m 100 --n 256
idesc --m 128 --n 256
decode-idesc 0x08410490 --kind f16
decode-idesc 0xffffffff --kind f16
decode-idesc 0x10401480 --kind mxf4nvf4 --json
decode-idesc word --kind f16
tma {K_128}
tma {K_128} --rank 3
tma {K_128}x2 --order 1,0,2
tma {K_128} --json
tma {K_128} --rank 6
tmem accumulator --m 128 --n 256 --cta-group 2
tmem accumulator --m 64 --n 128 --tiles 2 1 --json
tmem accumulator --m 96 --n 128
tmem operand --m 128 --k 64 --dtype bf16 --cta-group 2
tmem metadata --m 128 --k 64 --dtype bf16
tmem plan --m 128 --n 256 --k 64 --accumulators 2
tmem plan --a e2m1 --scale-dtype ue4m3 --m 128 --n 192 --k 256 --json
tmem plan --m 128 --n 256 --k 64 --accumulators 3
tmem ld 16x256b.x8
tmem ld 16x32bx2.x4.pack::16b --json
tmem ld --m 64 --n 64 --d f16
tmem ld 16x256b --m 128 --n 64 --json
tmem ld 16x256b.x64
tmem cp
tmem cp 64x128b.warpx2::01_23
tmem cp 128x256b --tile 128x64 --dtype bf16 --swizzle 128B
tmem cp 128x256b --tile 128x64 --dtype bf16 --swizzle 128B --json
tmem cp 64x128b
tmem scale-factors --mn 256 --k 256 --vector 32 --step 64
tmem scale-factors --mn 128 --k 64 --vector 16 --json
tmem block-scaled --a e2m1 --scale-dtype ue4m3 --m 128 --n 8 --k 64
tmem block-scaled --a e4m3 --m 256 --n 128 --k 128 --cta-group 2 --json
tmem block-scaled --a bf16 --m 128 --n 8 --k 64
tmem shift --images 2 --height 9 --width 9 --channels 16 --filters 16 --taps 3x3 --padding 1x1
tmem shift --height 1 --width 300 --channels 16 --filters 32 --taps 1x5 --padding 0x2 --start middle --cta-group 2
tmem shift --height 9 --width 9 --channels 16 --filters 16 --taps 3x3 --padding 1x2
tmem check "alloc d 64" relinquish "mma d 64" "ld d 32x32b.x64 warp 0" "dealloc d 64"
tmem check "alloc d 48" "ld d@32 32x32b.x8 warp 0" --json
tmem check "free d"
chain docs/examples/chain.toml
chain docs/examples/chain.toml --json
chain --tile 64x16 "layout (64,16):(16,1)" "ldmatrix.x4 warps=4x1" "fragment wgmma.m64n8k16.A"
chain --tile 64x16 "layout (64,16):(1,64)" "ldmatrix.x4 warps=4x1" "fragment wgmma.m64n8k16.A"
chain --tile 64x16 "layout (64,16):(16,1)" "layuot (64,16):(16,1)"
chain nosuch.toml
plan m64n128k16 bf16 --arch sm90 --tile 128x128x64 --stages 4 --b-major MN
plan m64n16k16 bf16 --tile 64x16x32 --stages 2 --json
plan m256n256k32 e4m3 --cta-group 2 --tile 256x256x128 --stages 2
plan m128n64k64 e2m1 --tile 128x64x256 --kind mxf4nvf4 --scale-vector 16 --stages 2
plan bf16 --tile 128x256x64 --arch sm90
plan bf16 --tile 128x256x64 --arch sm90 --b-major MN --top 1 --json
plan e4m3 --tile 256x256x128 --top 1
plan bf16 --tile 100x256x64
plan m64n128k16 --tile 128x256x64
plan m64n100k16 bf16 --tile 64x100x64
plan m64n128k16 bf16 --tile 128x64x128
plan m64n128k16 bf16 --tile 128x128x64 --stages 8
plan m64n128k32 e4m3 --tile 128x128x64 --b-major MN
search --tile 128x64 --dtype bf16 --mma 64x16
search --tile 128x64 --dtype bf16 --mma 64x16 --stages 4 --smem 32768 --top 3
search --tile 128x64 --dtype bf16 --mma 64x16 --stages 4 --top 3 --json
search --tile 128x64 --dtype bf16 --mma 64x16 --stages 16 --operand A --kind f16 --cta-group 1 --top 1
search --tile 64x32 --dtype tf32 --mma 64x8
search --tile 64x32 --dtype tf32 --mma 64x8 --all
search --tile 64x64 --dtype e2m3 --mma 64x32 --producer columns
search --tile 64x64 --dtype e2m3 --mma 64x32 --producer columns --json
search --tile 96x48 --dtype bf16 --mma 64x16
search --tile 128x48 --dtype bf16 --mma 64x16 --pad --legality lenient
search --tile 128by64 --dtype bf16 --mma 64x16
formulas
formulas --major MN --format markdown
formulas --swizzle 128B --bits 16 --format latex
formulas --swizzle 128B --bits 16 --format json
formulas --format svg
formulas --major J
atlas rows.csv --tile 128x128
"""

#: What follows ``layoutalg``.
LAYOUTALG = """
nothing
eval "zipped_divide(((8,16),(64,2)):((64,512),(1,8192)), (64,16))"
eval "S<3,4,3> o 8 o (8,64):(64,1)" --json
eval "slice_and_offset((_,1), (4,8):(8,1))" --json
eval "make_identity_layout((4,8))" --json
eval "size(4:1)" --json
eval "leading_dim((4,8),(8,2))" --json
eval "S<3,4,3>" --json
eval "((8,16):(1,8))(3,_)"
eval "nosuch(4:1)"
eval "Layout<Shape<_8,_64>,Stride<_64,_1>>"
eval --explain "composition((6,2):(1,7), (3,2):(2,3))"
eval --explain "coalesce((2,(1,6)):(1,(6,2)))" --json
derive --tile 128x64
show "(4,(2,4)):(2,(1,8))"
show "S<2,1,3> o 0 o (8,8):(8,1)" --rows 4 --columns 3
show "(2,(2,2)):(4,(1,2))" --json
show "(2,2):(2,1)" --color
show 17
draw "S<2,1,3> o 0 o (8,8):(8,1)" --colour-by bank --element-bytes 4
draw "(2,(2,2)):(4,(1,2))" --label coord
draw "(4,4):(4,1)" --access "(4,4):(1,4)"
draw "flat_divide((4,4):(4,1), (2,2))" --before "(4,4):(4,1)"
draw "(2,2):(2,1)" --colour-by thread --label value --level 1x2 --title "Two levels" --json
draw "(2,2):(2,1)" --colour-by red
draw "(2,2):(2,1)" --label bank
draw "(2,2):(2,1)" -o picture.png
draw "(1024,1024):(1,1024)" -o picture.svg
draw 17
same "(4,8):(1,4)" "coalesce((4,8):(1,4))"
same "(4,8):(1,4)" "(4,8):(8,1)"
same "(8,m):(1,8)" "(8,m):(1,4*m)"
same 4:1 8:1
ops
ops --json
ops coalesce
ops nosuch
banks "(64,64):(64,1)" --access "(32,8):(1,64)" --element-bytes 2 --bytes 16 --store
banks "S<3,3,3> o 0 o (64,64):(64,1)" --access "(32,8):(1,64)" --element-bytes 2 --bytes 16
banks "(64,64):(64,1)" --access "(32,8):(1,64)" --element-bytes 2 --bytes 16 --json
banks "(64,64):(64,1)" --access "(32,128):(1,32)" --element-bytes 2
banks "S<3,3,3>" --access "(32,8):(1,64)" --element-bytes 2
banks "S<3,3,3> o 0 o (32,64):(64,1)" --access ldmatrix.x4 --access "mma.m16n8k16.C@4B,store" --element-bytes 2
banks "(32,64):(64,1)" --access stmatrix.x2 --element-bytes 2 --json
banks "(8,64):(64,1)" --access ldmatrix.x4 --element-bytes 2
f2 "S<2,1,2> o 0 o (4,8):(8,1)"
f2 mma.m16n8k16.C
f2 "(4,8):(1,0)"
f2 "(4,8):(8,1)" --json
f2 "(4,2):(3,16)"
linear "((2,2),(2,2)):((2,8),(1,4))" --in lane,register --out dim0=4,dim1=4
linear "((2,2),(2,2)):((2,8),(1,4))" --in lane,register --out dim0=4,dim1=4 --json
linear "((2,2),(2,2)):((2,8),(1,4))" --in lane,register --invert
linear "((2,2),(2,2)):((2,8),(1,4))" --in lane=x
find-swizzle "(8,64):(64,1)" --access "(8,8):(1,8)" --element-bytes 2 --bytes 16
find-swizzle "(8,64):(64,1)" --access "(8,8):(1,8)" --element-bytes 2 --bytes 16 --json
find-swizzle "(64,64):(64,1)" --access ldmatrix.x4 --access "(32,8):(1,64)@16B,store" --element-bytes 2
find-swizzle "(64,128):(128,1)" --access ldmatrix.x4 --element-bytes 2
atoms
atoms --json
atoms mma.m16n8k16.A.f16
atoms ldmatrix.x4.trans --json
atoms mma.m16n8k16.A
show mma.m16n8k16.C --rows 4
eval "make_layout_tv((4,8):(8,1), (2,4):(4,1))"
eval tcgen05.ld.16x64b.x4.pack::16b
find-swizzle "(8,64):(64,0)" --access "(8,8):(1,8)" --element-bytes 2 --bytes 16
"""

COMMANDS = [
    f"{program} {line}"
    for program, lines in (("descriptors", DESCRIPTORS), ("layoutalg", LAYOUTALG))
    for line in lines.strip().splitlines()
]


def outcome(command: str) -> dict[str, Any]:
    """What a command line does, run in this process."""
    from descriptors.cli import main as descriptors
    from layoutalg.cli import main as layoutalg

    program, *arguments = shlex.split(command)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = {"descriptors": descriptors, "layoutalg": layoutalg}[program](arguments)
    return {"command": command, "status": status, "out": _kept(out.getvalue()), "err": _kept(err.getvalue())}


def _kept(text: str) -> str | dict[str, Any]:
    if len(text) <= LONGEST:
        return text
    return {"lines": text.count("\n"), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def _lines() -> Iterator[str]:
    yield "["
    yield ",\n".join(json.dumps(outcome(command)) for command in COMMANDS)
    yield "]\n"


def main(arguments: list[str]) -> int:
    return write_or_check(FILE, "\n".join(_lines()), "make_outputs.py", __doc__, arguments)


if __name__ == "__main__":
    end(main, sys.argv[1:])

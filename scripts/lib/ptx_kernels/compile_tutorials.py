"""Compile the CuTe tutorials of CUTLASS for Hopper and Blackwell, without a GPU: ``cutlass_NAME.ptx`` into a folder.

Usage: python compile_tutorials.py FOLDER SOURCE      needs nvcc; SOURCE is cutlass_library/source of nvidia-cutlass
(pip download --no-deps nvidia-cutlass==4.2.0.0, unpacked). They are NVIDIA's: they are tried, and not kept here.
"""

# mypy: ignore-errors
import subprocess
import sys
from pathlib import Path

#: Each takes a minute or two; others of Blackwell took more than five.
TUTORIALS = {
    "sm_90a": ("hopper/wgmma_sm90", "hopper/wgmma_tma_sm90"),
    "sm_100a": ("blackwell/01_mma_sm100", "blackwell/04_mma_tma_2sm_sm100"),
}


def main(folder: str, source: str) -> int:
    tutorials = Path(source) / "examples" / "cute" / "tutorial"
    headers = [Path(source) / name for name in ("include", "tools/util/include", "examples/common")]
    for arch, names in TUTORIALS.items():
        for name in names:
            target = Path(folder) / f"cutlass_{Path(name).name}.ptx"
            line = ["nvcc", "-ptx", "-std=c++17", "-O3", "--expt-relaxed-constexpr", f"-arch={arch}"]
            line += [f"-I{one}" for one in (*headers, tutorials / "blackwell")]
            done = subprocess.run([*line, str(tutorials / f"{name}.cu"), "-o", str(target)], check=False)
            print(target.name, "made" if done.returncode == 0 else "left out", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""As much of the CUDA driver as the probes need, through ``ctypes``: no compiled host code, no framework.

Source: CUDA driver API reference, and ``cuda.h`` for the numbers of the enumerations.
"""

from __future__ import annotations

import ctypes as ct
import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from probes.boxes import Boxes

#: Exit status of a probe that finds no Hopper GPU.
NO_DEVICE = 3

_MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_CAPABILITY_MAJOR, _CAPABILITY_MINOR, _SHARED_OPTIN, _PROCESSORS = 75, 76, 97, 16  # CU_DEVICE_ATTRIBUTE_...


class NoHopperError(RuntimeError):
    """There is no GPU here that the probes can run on; the message says why."""


class CudaError(RuntimeError):
    """A call of the driver failed.

    Attributes:
        code: the driver's number (CUresult).
    """

    def __init__(self, call: str, code: int, name: str) -> None:
        super().__init__(f"{call}: {name} ({code})")
        self.code = code
        self.name = name


class Buffer:
    """Device memory, freed with the object."""

    def __init__(self, device: Device, nbytes: int) -> None:
        self.device, self.nbytes = device, nbytes
        self.pointer = ct.c_uint64()
        device.call("cuMemAlloc_v2", ct.byref(self.pointer), ct.c_size_t(max(nbytes, 16)))

    def put(self, array: np.ndarray) -> Buffer:
        """Copy an array to the device."""
        data = np.ascontiguousarray(array)
        self.device.call("cuMemcpyHtoD_v2", self.pointer, data.ctypes.data_as(ct.c_void_p), ct.c_size_t(data.nbytes))
        return self

    def get(self, dtype: Any, shape: Sequence[int]) -> np.ndarray:
        """Copy an array of this type and shape from the device."""
        data = np.empty(tuple(shape), dtype)
        self.device.call("cuMemcpyDtoH_v2", data.ctypes.data_as(ct.c_void_p), self.pointer, ct.c_size_t(data.nbytes))
        return data

    def fill(self, byte: int) -> Buffer:
        """Set every byte."""
        self.device.call("cuMemsetD8_v2", self.pointer, ct.c_ubyte(byte), ct.c_size_t(self.nbytes))
        return self

    def free(self) -> None:
        """Give the memory back."""
        if self.pointer.value:
            self.device.call("cuMemFree_v2", self.pointer)
            self.pointer.value = 0


class Device:
    """GPU 0, opened.

    Attributes:
        name: as the driver gives it.
        driver: version of the kernel driver.
        processors: number of multiprocessors.
        shared_bytes: most dynamic shared memory a block can have.

    Raises:
        NoHopperError: if there is no GPU or its compute capability is not 9.0.
    """

    def __init__(self) -> None:
        try:
            self._driver = ct.CDLL("libcuda.so.1")
        except OSError:
            raise NoHopperError("no CUDA driver on this machine") from None
        self.call("cuInit", 0, absent="no GPU that the CUDA driver can use")
        device, context, count = ct.c_int(), ct.c_void_p(), ct.c_int()
        self.call("cuDeviceGetCount", ct.byref(count))
        if count.value == 0:
            raise NoHopperError("no GPU on this machine")
        self.call("cuDeviceGet", ct.byref(device), 0)
        name = ct.create_string_buffer(128)
        self.call("cuDeviceGetName", name, 128, device)
        self._device, self.name = device, name.value.decode()
        capability = (self._attribute(_CAPABILITY_MAJOR), self._attribute(_CAPABILITY_MINOR))
        if capability != (9, 0):
            raise NoHopperError(f"{self.name} has compute capability {capability[0]}.{capability[1]}, not Hopper's 9.0")
        self.processors, self.shared_bytes = self._attribute(_PROCESSORS), self._attribute(_SHARED_OPTIN)
        self.driver = _driver_version()
        self.call("cuDevicePrimaryCtxRetain", ct.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self._modules: list[ct.c_void_p] = []

    def call(self, name: str, *arguments: Any, absent: str = "") -> None:
        """Call a function of the driver; an error code becomes an exception."""
        code = getattr(self._driver, name)(*arguments)
        if code == 0:
            return
        if absent:
            raise NoHopperError(absent)
        text = ct.c_char_p()
        self._driver.cuGetErrorName(code, ct.byref(text))
        raise CudaError(name, code, (text.value or b"unknown error").decode())

    def _attribute(self, which: int) -> int:
        value = ct.c_int()
        self.call("cuDeviceGetAttribute", ct.byref(value), which, self._device)
        return value.value

    def load(self, cubin: Path) -> Module:
        """Load a compiled module."""
        handle = ct.c_void_p()
        self.call("cuModuleLoadData", ct.byref(handle), cubin.read_bytes())
        return Module(self, handle)

    def buffer(self, nbytes: int) -> Buffer:
        """Allocate device memory."""
        return Buffer(self, nbytes)

    def upload(self, array: np.ndarray) -> Buffer:
        """Allocate device memory holding an array."""
        return Buffer(self, array.nbytes).put(array)

    def synchronize(self) -> None:
        """Wait for the device; an error of a kernel shows up here."""
        self.call("cuCtxSynchronize")


class Module:
    """A loaded cubin."""

    def __init__(self, device: Device, handle: ct.c_void_p) -> None:
        self.device, self.handle = device, handle

    def kernel(self, name: str, shared_bytes: int = 0) -> Kernel:
        """The kernel of this name, allowed this much dynamic shared memory."""
        function = ct.c_void_p()
        self.device.call("cuModuleGetFunction", ct.byref(function), self.handle, name.encode())
        if shared_bytes:
            self.device.call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, shared_bytes)
        return Kernel(self.device, function, shared_bytes)


class Kernel:
    """A function of a module. Arguments of a launch are ``Buffer``, ``int`` (32 bits) or any ctypes value."""

    def __init__(self, device: Device, function: ct.c_void_p, shared_bytes: int) -> None:
        self.device, self.function, self.shared_bytes = device, function, shared_bytes

    def launch(self, grid: int, block: int, *arguments: Any) -> None:
        """Start the kernel; ``Device.synchronize`` waits for it."""
        values = [_argument(argument) for argument in arguments]
        pointers = (ct.c_void_p * len(values))(*(ct.addressof(value) for value in values))
        self.device.call(
            "cuLaunchKernel", self.function, grid, 1, 1, block, 1, 1, self.shared_bytes, None, pointers, None
        )


class TensorMap(ct.Structure):
    """The 128 opaque bytes of a tensor map; allocated on a 64-byte boundary by :func:`tensor_map`."""

    _fields_ = [("words", ct.c_uint64 * 16)]


def aligned_tensor_map() -> TensorMap:
    """A tensor map of zeros, on a 64-byte boundary as the driver demands."""
    raw = ct.create_string_buffer(128 + 64)
    shift = -ct.addressof(raw) % 64
    made = TensorMap.from_buffer(raw, shift)
    made.keep = raw  # type: ignore[attr-defined]
    return made


def tensor_map(device: Device, data: Buffer, boxes: Boxes) -> TensorMap:
    """Encode the tiled tensor map that some boxes are taken from, over data in device memory.

    Raises:
        CudaError: if the driver refuses the map.
    """
    made = aligned_tensor_map()
    rank = boxes.rank
    device.call(
        "cuTensorMapEncodeTiled",
        ct.byref(made),
        boxes.data_type,
        ct.c_uint32(rank),
        data.pointer,
        (ct.c_uint64 * rank)(*boxes.shape),
        (ct.c_uint64 * max(rank - 1, 1))(*boxes.strides_bytes),
        (ct.c_uint32 * rank)(*boxes.box),
        (ct.c_uint32 * rank)(*boxes.steps),
        0,  # no interleave
        boxes.swizzle,
        0,  # no promotion in the L2 cache
        0,  # zeros outside the array
    )
    return made


def provenance(device: Device, command: str) -> dict[str, str]:
    """What every evidence file says of its origin."""
    return {
        "gpu": device.name,
        "driver": device.driver,
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "command": command,
    }


def _argument(value: Any) -> Any:
    if isinstance(value, Buffer):
        return value.pointer
    return ct.c_int32(value) if isinstance(value, int) else value


def _driver_version() -> str:
    for path, position in (("/sys/module/nvidia/version", 0), ("/proc/driver/nvidia/version", None)):
        try:
            words = Path(path).read_text().split()
        except OSError:
            continue
        if position is not None:
            return words[position]
        return next((word for word in words if word[:1].isdigit() and "." in word), "unknown")
    return "unknown"

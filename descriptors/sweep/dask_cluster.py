"""The workers of a Dask cluster, as an executor of the standard library.

Where nobody answers, the error says what is missing: the package here, or the scheduler there.

>>> with dask_executor("tcp://127.0.0.1:1", timeout=0.1):  # doctest: +ELLIPSIS
...     pass
Traceback (most recent call last):
descriptors.errors.DescriptorError: atlas: --dask needs ...
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from descriptors.errors import DescriptorError
from layoutalg import __version__
from layoutalg.installation import pip_install


@contextmanager
def dask_executor(address: str, timeout: float = 10.0) -> Iterator[Executor]:
    """Connect to a scheduler; its workers must have this version of the package.

    Args:
        address: of the scheduler, as ``tcp://host:8786``.
        timeout: seconds to wait for it.

    Raises:
        DescriptorError: if ``dask[distributed]`` is not installed, nobody answers, or a worker has another version.
    """
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise DescriptorError(
            f"atlas: --dask needs dask[distributed], which is not installed; use {pip_install('dask')}"
        ) from error
    try:
        client: Any = distributed.Client(address, timeout=timeout)
    except (OSError, ValueError) as error:  # a time-out is an OSError too
        raise DescriptorError(f"atlas: --dask needs a scheduler, and none answers at {address}") from error

    def version_there() -> str:
        # Sent as it stands, for a worker without the package cannot look it up by name.
        import importlib

        try:
            return str(importlib.import_module("layoutalg").__version__)
        except ImportError:
            return ""

    with client:
        versions = client.run(version_there)
        if not versions:
            raise DescriptorError(f"atlas: the scheduler at {address} has no workers")
        for worker, version in versions.items():
            if version != __version__:
                raise DescriptorError(
                    f"atlas: worker {worker} has {f'layoutalg {version}' if version else 'no layoutalg'}, but this is "
                    f"{__version__}"
                )
        yield client.get_executor()

"""``python -m descriptors`` is the ``descriptors`` command."""

import sys

from descriptors.cli.command import main

if __name__ == "__main__":
    sys.exit(main())

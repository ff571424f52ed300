"""Run the command ``layoutalg`` for ``python -m layoutalg``."""

import sys

from layoutalg.cli.command import main

if __name__ == "__main__":
    sys.exit(main())

"""``python -m layoutalg`` is the command ``layoutalg``."""

import sys

from layoutalg.cli.command import main

if __name__ == "__main__":
    sys.exit(main())

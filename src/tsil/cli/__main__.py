"""``python -m tsil.cli``."""

import sys

from tsil.cli import main

sys.exit(main())

"""`python -m homenode`: the command line without the script on the path."""

from __future__ import annotations

import sys

from homenode.cli import main

sys.exit(main())

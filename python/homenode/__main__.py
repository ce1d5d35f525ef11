"""`python -m homenode`: the command line without the script on the path."""

import sys

from homenode.cli import main

sys.exit(main())

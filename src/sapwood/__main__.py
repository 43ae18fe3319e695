"""`python -m sapwood` is the command `sapwood`."""

import sys

from sapwood.cli import main

sys.exit(main())

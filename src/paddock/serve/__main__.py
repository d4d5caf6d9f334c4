"""The hub process: `python -m paddock.serve LINK DOORBELL`; the simulation starts it."""

import sys

from paddock.serve.hub import main

if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

"""`python -m paddock`: the command line."""

from paddock.cli.main import main

if __name__ == "__main__":
    main()

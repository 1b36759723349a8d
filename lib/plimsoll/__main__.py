"""`python -m plimsoll` is the command line."""

from plimsoll.cli.main import main

if __name__ == "__main__":
    main()

"""`python -m seesay`."""

from seesay.cli import main

if __name__ == "__main__":
    main()

"""`python -m perrecord.cli` is `perrecord`."""

from perrecord.cli import main

if __name__ == "__main__":
    main()

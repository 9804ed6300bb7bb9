"""`python -m faithboard` is the command `faithboard`."""

from faithboard.cli import main

if __name__ == "__main__":
    main()

"""`python -m airboss` is the command `airboss`."""

from airboss.cli.main import main

main()

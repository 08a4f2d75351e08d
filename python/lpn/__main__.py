"""python3 -m lpn: the command line."""

from lpn.cli.main import main

main()

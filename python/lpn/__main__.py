"""python3 -m lpn: the command line."""

from lpn.cli import main

main()

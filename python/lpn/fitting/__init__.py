"""The unknowns of a net (lpn.unknown) from recordings of what it models: lpn fit."""

"""A model whose function is not called net."""

import lpn


def make():
    return lpn.Net("n")

"""Two types of one name."""

import lpn


def make(top):
    class Item(lpn.Token):
        words: lpn.Int[0, top]

    return Item


net = lpn.Net("n")
net.place("a", make(3))
net.place("b", make(4))

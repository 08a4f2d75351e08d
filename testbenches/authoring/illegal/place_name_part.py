"""A part of a name that begins with a digit."""

import lpn

net = lpn.Net("n")
for port in range(2):
    net.place(f"queue{port}.0")

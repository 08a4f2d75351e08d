"""A misspelt property, which would have no effect."""

import lpn

net = lpn.Net("n")
net.frequenzy = 250e6

"""A value in place of a method."""

import lpn

marking = lpn.Marking(lpn.Net("n"))
marking.add = 3

"""Values of traced functions, by running them: one token in, one token out."""

import _lpn
import lpn


def run_function(function, token, rows, kind="value"):
    """`function` of arc `t` traced once and computed by the interpreter for every row."""

    class Out(lpn.Token):
        y: lpn.Int

    net = lpn.Net("probe")
    inputs = net.place("inputs", token)
    outputs = net.place("outputs", Out, sink=True)
    net.transition("f", take={"t": inputs}, put=[outputs.emit(y=function)], servers=1, delay=1)
    net.done()
    marking = lpn.Marking(net)
    marking.add_rows("inputs", rows)
    interp = _lpn.Interp(net.core, [], marking._core)
    interp.run()
    return interp.tokens(outputs._number)


class Concrete:
    """The same token for Python itself."""

    def __init__(self, names, row):
        for name, value in zip(names, row):
            setattr(self, name, value)

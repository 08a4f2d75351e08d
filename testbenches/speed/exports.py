"""What files of a run cost: a pipeline of three stages and 10^6 firings, as lpn viz writes it.

    testbenches/speed/exports.py [--repeat 5] [--only WORD] [--quick]
"""

import os
import tempfile
import time

from _measure import Report, lpn, options

STAGE = """transition {name} {{
  take j from {source}
  delay {delay}
  servers 1
  put {target}
}}
"""
NET = "".join(
    [
        "lpn 1\nnet line\ntype unit ()\nplace a : unit start\nplace b : unit capacity 4\n",
        "place c : unit capacity 4\nplace d : unit done\n",
        *(
            STAGE.format(name=name, source=source, delay=delay, target=target)
            for name, source, delay, target in (
                ("one", "a", 2, "b"),
                ("two", "b", 3, "c"),
                ("three", "c", 2, "d"),
            )
        ),
        "end\n",
    ]
)


def exports(report, tokens):
    """Rows: seconds of one core to run the net and write the file, and its size."""
    from lpn.runs import models as _load
    from lpn.pages import export as _viz_export
    from lpn.runs import parameter_values

    import _lpn

    with tempfile.TemporaryDirectory(prefix="lpn-") as folder:
        path = os.path.join(folder, "line.lpn")
        with open(path, "w", encoding="ascii") as file:
            file.write(NET)
        net = _load.load(path).net()
        net.done()
        marking = lpn.Marking(net)
        marking.add("a", count=tokens)
        values = parameter_values(net, None)
        library = _lpn.sim.Library.build(net._core, trace=True)
        for name, kind, engine, window in (
            ("VCD", "vcd", library, "0:"),
            ("VCD, interpreter", "vcd", None, "0:"),
            ("VCD, 1000 cycles of it", "vcd", library, "5000:6000"),
            ("Perfetto", "perfetto", library, "0:"),
            ("Perfetto with waits", "perfetto", None, "0:"),
        ):
            target = os.path.join(folder, "run")

            def once(kind=kind, engine=engine, window=window, target=target):
                before = time.process_time()
                run = _viz_export.write_run(
                    kind, net, values, marking, engine, target, _viz_export.Window.parse(window)
                )
                # One token each 3 cycles through the slowest stage.
                assert (run.commits, run.latency, run.stalled) == (
                    3 * tokens,
                    3 * tokens + 4,
                    False,
                )
                return time.process_time() - before

            report.measure(f"{name}, {3 * tokens} firings", "s of one core", once)
            if report.wants(name) and not report.as_json:
                print(f"{'':<52}{'':>9}{os.path.getsize(target) / 1e6:>11.3g}  MB", flush=True)


def main():
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    given = parser.parse_args()
    report = Report(given)
    exports(report, 33_334 if given.quick else 333_334)
    report.finish()


if __name__ == "__main__":
    main()

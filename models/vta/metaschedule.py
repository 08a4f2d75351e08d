"""Runner and cost model in the shape of TVM's MetaSchedule, with the net in place of the hardware.

TVM is not imported: the classes have the methods that tvm.meta_schedule.runner.PyRunner,
RunnerFuture and tvm.meta_schedule.cost_model.PyCostModel call (TVM 0.12 and later); to register
them, derive from both, `class VtaRunner(Runner, PyRunner)`. What a candidate's program is only the
code generator knows: artifacts are files of instructions, candidates go through `program_of`.
"""

import json

import numpy

import lpn
from lpn.runs import written
from models.vta import files
from models.vta.config import DEFAULT
from models.vta.model import marking_of, net


class RunnerResult:
    """`run_secs`: seconds of each repetition, or None; `error_msg`: why there are none, or None."""

    def __init__(self, run_secs, error_msg):
        self.run_secs, self.error_msg = run_secs, error_msg


class RunnerFuture:
    """A result that is there already."""

    def __init__(self, result):
        self._result = result

    def done(self):
        return True

    def result(self):
        return self._result


class _Clocks:
    """Latencies of programs, in batches; for what is no program, the reason."""

    def __init__(self, params=None):
        self.net = net()
        self.params = dict(params or {})

    def of(self, programs):
        """`programs`: functions that return (words, hardware); a list of int or str."""
        answers, ready = [], []
        for number, read in enumerate(programs):
            try:
                ready.append((number, marking_of(self.net, *read(), fetch=False)))
                answers.append(None)
            except (ValueError, OSError) as error:
                answers.append(str(error))
        if ready:
            markings = [marking for _, marking in ready]
            for (number, _), run in zip(ready, lpn.run_batch(self.net, markings, self.params)):
                stalled = "the program waits for ever: " + ", ".join(t for t, *_ in run.blocked)
                answers[number] = stalled if run.stalled else run.latency
        return answers


class Runner:
    """PyRunner: `run` measures artifacts, files of instructions, at a clock of so many hertz.

    `params`: of the net, its latencies of memory.
    """

    def __init__(self, hertz=100e6, params=None, result=RunnerResult):
        if not hertz > 0:
            raise ValueError(f"hertz must be above 0, got {hertz}")
        self._hertz, self._clocks, self._make = hertz, _Clocks(params), result

    def run(self, runner_inputs):
        """A future per input, in order. Input: an object with `artifact_path`."""
        readers = [lambda i=i: files.read(i.artifact_path) for i in runner_inputs]
        return [
            RunnerFuture(
                self._make(None, answer)
                if isinstance(answer, str)
                else self._make([answer / self._hertz], None)
            )
            for answer in self._clocks.of(readers)
        ]


class CostModel:
    """PyCostModel: `predict` scores candidates without measuring them: the fastest has 1, one of
    twice its clocks 0.5, what is no program 0. There is nothing to learn.

    `program_of(context, candidate)`: the words of its program (isa.py). `params`: of the net.
    """

    def __init__(self, program_of, hardware=DEFAULT, params=None):
        self._program_of, self._hardware, self._clocks = program_of, hardware, _Clocks(params)

    def predict(self, context, candidates):
        """A numpy array of a score per candidate; the higher the better."""
        readers = [lambda c=c: (self._program_of(context, c), self._hardware) for c in candidates]
        answers = self._clocks.of(readers)
        known = [answer for answer in answers if isinstance(answer, int)]
        least = min(known, default=0)
        return numpy.array([least / a if isinstance(a, int) else 0.0 for a in answers], float)

    def update(self, context, candidates, results):
        """Measured results change nothing: the net is no fit."""

    def save(self, path):
        """Keeps the parameters of the net."""
        with written(path) as file:
            json.dump(self._clocks.params, file)

    def load(self, path):
        """Takes the parameters that save() kept."""
        with open(path, encoding="utf-8") as file:
            self._clocks.params = json.load(file)

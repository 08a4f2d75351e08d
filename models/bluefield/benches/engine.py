"""Functions that share an engine in software, on this machine's CPU: engine.c, compiled and run."""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass

from .bench import compiled, two_cores

__all__ = ["Client", "EngineBench"]


@dataclass(frozen=True)
class Client:
    """Who asks the engine: bytes of a packet, patterns per MB, request queues; kpps offered, or None
    for as many as its queues take."""

    bytes: int = 1024
    matches: float = 600.0
    queues: int = 1
    kpps: float | None = None

    def argument(self):
        """Of engine.c."""
        return f"{self.bytes}:{self.matches:g}:{self.queues}:{self.kpps or 0:.9g}"


class EngineBench:
    """engine.c compiled; `seconds` of the engine's processor time are counted.

    Raises RuntimeError without a compiler or a second core.
    """

    def __init__(self, seconds=0.5):
        two_cores()
        self.seconds = seconds
        self._folder = tempfile.TemporaryDirectory()
        self._program = os.path.join(self._folder.name, "engine")
        self.regex = compiled("engine.c", self._program)

    def run(self, engine, clients):
        """What clients get from an engine ("regex", "deflate") together: its JSON object.

        Rates [kpps] are per second of the engine's processor time. Raises RuntimeError.
        """
        command = [engine, f"{self.seconds:g}", *(client.argument() for client in clients)]
        ran = subprocess.run([self._program, *command], capture_output=True, text=True)
        if ran.returncode:
            raise RuntimeError(f"engine {' '.join(command)} failed: {ran.stderr.strip()}")
        return json.loads(ran.stdout)

    def rates(self, engine, clients):
        """Requests done [kpps], of each client."""
        return [found["kpps"] for found in self.run(engine, clients)["clients"]]

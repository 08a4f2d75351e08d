"""DRAMsim3 beside the controllers' nets, for who has a checkout of it; it is not part of this project."""

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONFIGS = {
    "ddr4": ("DDR4_8Gb_x8_3200", {}),
    "ddr4close": ("DDR4_8Gb_x8_3200", {"OPEN_PAGE": "CLOSE_PAGE"}),
    "ddr3": ("DDR3_8Gb_x8_1866", {}),
    "gddr5": ("GDDR5_8Gb_x32", {}),
    "gddr6": ("GDDR6_8Gb_x16", {}),
    "hbm2": ("HBM2_8Gb_x128", {"channels = 8": "channels = 2"}),
    "lpddr3": ("LPDDR3_8Gb_x32_1600", {}),
    "lpddr4": ("LPDDR4_8Gb_x16_2400", {}),
}
SOURCES = (
    "bankstate channel_state command_queue common configuration controller dram_system hmc "
    "memory_system refresh simple_stats timing"
).split()


class Simulator:
    """Built from a checkout, with -O3, into a folder that its files are written to as well."""

    def __init__(self, checkout, folder):
        self.folder, self.checkout = Path(folder), Path(checkout)
        command = ["g++", "-O3", "-std=c++11", "-DFMT_HEADER_ONLY=1", "-o", f"{folder}/peer"]
        command += [f"-I{checkout}/{each}" for each in ("src", "ext/fmt/include", "ext/headers")]
        command += [str(HERE / "peer.cc"), *(f"{checkout}/src/{s}.cc" for s in SOURCES)]
        subprocess.run(command, check=True)

    def write(self, trace):
        """The trace and its configuration as files. Of a controller that is a file, the name says of
        which one it is, and the queues that are there are as long as each other.
        """
        if trace.part.endswith(".ini"):
            text = Path(trace.part).read_text()
        else:
            name, changes = CONFIGS[Path(trace.part).stem]
            text = (self.checkout / "configs" / f"{name}.ini").read_text()
            for old, new in {
                **changes,
                "trans_queue_size = 32": f"trans_queue_size = {trace.standard.policy('read_queue')}",
                "cmd_queue_size = 8": f"cmd_queue_size = {trace.standard.policy('bank_queue')}",
            }.items():
                text = text.replace(old, new)
        (self.folder / "config.ini").write_text(text)
        rows = zip(trace.arrive, trace.writes, trace.block)
        (self.folder / "trace.txt").write_text("".join(f"{a} {w:d} {b}\n" for a, w, b in rows))
        return str(trace.standard.controller["request_bytes"])

    def run(self, request_bytes, *times):
        """(processor seconds, cycles) of what was written; None where the simulator hangs."""
        files = [str(self.folder / f) for f in ("config.ini", "", "trace.txt")]
        done = subprocess.run(
            [str(self.folder / "peer"), *files, request_bytes, *times],
            capture_output=True,
            text=True,
            check=True,
        )
        *_, last = done.stdout.splitlines()
        if last == "hangs":
            return None
        seconds, cycles = last.split()
        return float(seconds), int(cycles)

    def times(self, trace):
        """(the cycle of each request's acceptance, that of its completion); None where it hangs."""
        table = self.folder / "times.txt"
        if self.run(self.write(trace), str(table)) is None:
            return None
        rows = [line.split() for line in table.read_text().splitlines()]
        return [int(accepted) for accepted, _ in rows], [int(done) for _, done in rows]

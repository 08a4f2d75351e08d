"""Made-up profiles of a function with a known memory law, for the tests here."""

import math
import random

from models.bluefield.predictor import profile_table
from models.bluefield.predictor.memory import WhiteBox

LAW = WhiteBox(1.2, 0.00002, 0.02, 0.01, 0.0, 6.0, 20_000)
COLUMNS = ["flow_count", *profile_table.COUNTERS]


def memory_rows(count, seed=0, law=LAW, noise=0.01, flows=None):
    """Rows of a function with a known memory law; counters that do not matter are noise of their
    own.
    """
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        row = {name: draw.uniform(1e8, 1e9) for name in profile_table.COUNTERS}
        row |= {
            "comp_ipc": draw.uniform(0.4, 1.5),
            "comp_wss_MB": draw.uniform(0, 12),
            "comp_l2d_rd_per_s": draw.uniform(3e6, 2e8),
            "comp_l2d_wr_per_s": draw.uniform(1e6, 1e8),
            "flow_count": flows or float(round(10 ** draw.uniform(2, 5))),
        }
        row["throughput_kpps"] = 1e3 * law.rate(row) * math.exp(draw.gauss(0, noise))
        rows.append(row)
    return rows


def profile(rows, file="memory.csv", kind="memory", engine=None):
    return profile_table.Profile(file, kind, rows, list(range(2, len(rows) + 2)), engine)


def regex_times(a=0.002, b=0.15, at=(300.0, 600.0)):
    return profile(
        [{"mtbr_matches_per_MB": m, "regex_time_per_pkt_ms": (a * m + b) / 1e3} for m in at],
        "regex.csv",
        "engine times",
        "regex",
    )


def write(path, rows):
    path.write_text(
        "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]) + "\n"
    )
    return str(path)


def row_of(m=450.0, rivals=1.0, seed=21):
    inside = {"comp_l2d_rd_per_s": 1e8, "comp_l2d_wr_per_s": 5e7}
    return {
        **memory_rows(1, seed)[0],
        **inside,
        "mtbr_matches_per_MB": m,
        "comp_regex_sum_nt_ms": rivals / 1e3,
    }

"""A memory as DRAMsim3's configuration files (.ini) have it, as the tables of a controller.

What each key means is the simulator's (commit 2981759, src/configuration.cc, src/timing.cc): its
defaults too, and what it does not read says nothing here. A value that a controller's net has no
place for is refused.
"""

import configparser
import os
import re

from lpn.runs import read_toml, unpacked

from .tables import wrong

__all__ = ["described"]

_BASE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "controllers", "ddr4.toml")
_FIELDS = {
    "ro": "row",
    "ch": "channel",
    "ra": "rank",
    "bg": "bank_group",
    "ba": "bank",
    "co": "column",
}
# Protocol: how many beats of data there are in a cycle.
_BEATS = dict.fromkeys(("DDR3", "DDR4", "LPDDR", "LPDDR3", "LPDDR4", "HBM", "HBM2"), 2)
_BEATS |= {"GDDR5": 4, "GDDR5X": 8, "GDDR6": 16}
_TIMES = {
    "CL": 12,
    "CWL": 12,
    "tCCD_L": 6,
    "tCCD_S": 4,
    "tRTRS": 2,
    "tRTP": 5,
    "tWTR_L": 5,
    "tWTR_S": 5,
    "tWR": 10,
    "tRP": 10,
    "tRRD_L": 4,
    "tRRD_S": 4,
    "tRAS": 24,
    "tRFC": 74,
    "tREFI": 7800,
    "tFAW": 50,
}
_DRAIN_IDLE = 8  # is in its code; a shorter buffer has never more
_PAGES = {"OPEN_PAGE": "open", "CLOSE_PAGE": "closed"}
_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class _Ini:
    """A configuration file: its numbers, names and choices, with the simulator's defaults."""

    def __init__(self, path):
        self.path = path
        parser = configparser.ConfigParser(
            inline_comment_prefixes=(";",), comment_prefixes=("#", ";"), interpolation=None
        )
        try:
            # What is no text can only be in a comment.
            parser.read_string(unpacked(path).decode("utf-8-sig", "replace"))
        except OSError as error:
            raise wrong(f"cannot read {path}: {error.strerror}") from None
        except (ValueError, configparser.Error) as error:
            text = str(error).replace("\n", " ").replace("<string>", "it")
            raise wrong(f"{path} is no configuration of DRAMsim3: {text}") from None
        self._sections = {name.lower(): parser[name] for name in parser.sections()}
        if "dram_structure" not in self._sections:
            raise wrong(f"{path} is no configuration of DRAMsim3: it has no [dram_structure]")

    def refused(self, text):
        """The error of what it says."""
        return wrong(f"{self.path}: {text}")

    def name(self, section, key, default):
        """A text; what stands empty is not there."""
        return self._sections.get(section, {}).get(key, "").strip() or default

    def number(self, section, key, default, least=0):
        """A whole number: the digits that the text begins with, as the simulator reads it."""
        text = self.name(section, key, str(default))
        digits = re.match(r"[0-9]{1,10}(?![0-9.])", text)
        if digits is None or int(digits[0]) < least:
            raise self.refused(f"{key} must be a whole number, {least} or more, got '{text}'")
        return int(digits[0])

    def choice(self, section, key, default):
        """Whether it is so."""
        text = self.name(section, key, default).lower()
        if text not in (*_YES, *_NO):
            raise self.refused(f"{key} must be true or false, got '{text}'")
        return text in _YES


def described(path):
    """The tables of the controller that the file describes. Raises Error "E-dram-part"."""
    ini = _Ini(path)
    protocol = ini.name("dram_structure", "protocol", "DDR3")
    if protocol not in _BEATS:
        raise ini.refused(f"protocol must be one of {', '.join(_BEATS)}, got '{protocol}'")
    _check_policies(ini)
    groups = ini.number("dram_structure", "bankgroups", 2, 1)
    banks = ini.number("dram_structure", "banks_per_group", 2, 1)
    if not ini.choice("dram_structure", "bankgroup_enable", "true"):
        groups, banks = 1, groups * banks
    burst = ini.number("dram_structure", "BL", 8, 1)
    bus = ini.number("system", "bus_width", 64, 8)
    shape = _shape(ini, protocol, groups * banks, burst, bus)
    sizes = {"rank": shape["rank"], "bank_group": groups, "bank": banks}
    channels = ini.number("system", "channels", 1, 1)
    queue = ini.number("system", "trans_queue_size", 32, 1)
    widths = {name: _bits(size) for name, size in {**shape, **sizes, "channel": channels}.items()}
    base = read_toml(_BASE, "E-dram-part")
    return {
        **base,
        "organisations": {"full": sizes},
        "controller": {
            "page": _PAGES[ini.name("system", "row_buf_policy", "OPEN_PAGE")],
            "request_bytes": bus // 8 * burst,
            "channels": channels,
            "dual_command": protocol.startswith("HBM")
            and ini.choice("dram_structure", "hbm_dual_cmd", "true"),
            "address": [[name, widths[name]] for name in _mapping(ini, channels)],
            "read_queue": queue,
            "write_buffer": queue,
            "drain_idle": min(_DRAIN_IDLE, queue),
            "bank_queue": ini.number("system", "cmd_queue_size", 16, 1),
        },
        **_timing(ini, base, protocol, groups, burst // _BEATS[protocol]),
    }


def _check_policies(ini):
    for key, default, known in (
        ("queue_structure", "PER_BANK", ("PER_BANK",)),
        ("row_buf_policy", "OPEN_PAGE", _PAGES),
        ("refresh_policy", "RANK_LEVEL_STAGGERED", ("RANK_LEVEL_STAGGERED",)),
    ):
        text = ini.name("system", key, default)
        if text not in known:
            raise ini.refused(
                f"{key} {text} is not modelled; a controller's net has {' and '.join(known)}"
            )
    for key in ("unified_queue", "enable_self_refresh"):
        if ini.choice("system", key, "false"):
            raise ini.refused(f"{key} is not modelled; write {key} = false")


def _bits(size):
    """Of the largest power of two that is not larger."""
    return size.bit_length() - 1


def _shape(ini, protocol, banks, burst, bus):
    """Rows and columns (requests of a row) of a bank, and ranks of a channel."""
    rows = ini.number("dram_structure", "rows", 1 << 16, 1024)
    columns = ini.number("dram_structure", "columns", 1 << 10, 1)
    width = ini.number("dram_structure", "device_width", 8, 1)
    # Columns of GDDR are as wide as a burst of them, those of HBM as two beats.
    columns *= burst if protocol.startswith("GDDR") else 2 if protocol.startswith("HBM") else 1
    request = bus // 8 * burst
    if request & (request - 1) or bus % 8:
        raise ini.refused(
            f"a request of a bus_width of {bus} and a BL of {burst} is no power of two of bytes, by "
            "which addresses are cut"
        )
    if bus % width != 0 or columns < burst:
        raise ini.refused(
            f"a bus_width of {bus} is no number of devices of a device_width of {width}, or a burst "
            f"of {burst} is longer than a row of {columns} columns"
        )
    megabytes = columns * width // 8 * (rows // 1024) // 1024 * banks * (bus // width)
    if megabytes == 0:
        raise ini.refused("a rank has less than a megabyte, from which its ranks are counted")
    ranks = max(1, ini.number("system", "channel_size", 1024, 1) // megabytes)
    return {"row": rows, "column": columns // burst, "rank": ranks}


def _mapping(ini, channels):
    """The fields of an address, from the lowest bits on."""
    text = ini.name("system", "address_mapping", "chrobabgraco")
    pairs = [text[k : k + 2] for k in range(0, len(text), 2)]
    if sorted(pairs) != sorted(_FIELDS):
        raise ini.refused(
            f"address_mapping must have each of {', '.join(_FIELDS)} once, got {text}"
        )
    return [_FIELDS[pair] for pair in reversed(pairs) if channels > 1 or pair != "ch"]


def _timing(ini, base, protocol, groups, burst):
    """Parameters, rules and windows. `base`: those of DDR4."""

    def time(key, default):
        return ini.number("timing", key, default)

    found = {key: time(key, default) for key, default in _TIMES.items()}
    if groups == 1:  # as the simulator has it
        found |= {f"{key}_L": found[f"{key}_S"] for key in ("tCCD", "tWTR", "tRRD")}
    additive, graphics = time("AL", 0), protocol.startswith("GDDR")
    for key in ("CL", "CWL", "tRTP"):
        found[key] += additive
    found["burst"] = burst
    found["tPPD"] = time("tPPD", 0) if graphics or protocol == "LPDDR4" else 0
    rules, windows = base["rules"], base["windows"]
    if graphics or protocol.startswith("HBM"):
        found |= {"tRCDRD": time("tRCDRD", 24), "tRCDWR": time("tRCDWR", 20)}
        rows = [row for row in rules["same"] if row[2] != "tRCD"]
        rows += [["ACT", "RD RDA", "tRCDRD"], ["ACT", "WR WRA", "tRCDWR"]]
        rules = {**rules, "same": rows}
    else:
        found["tRCD"] = time("tRCD", 10) - additive
    if graphics:
        found["t32AW"] = time("t32AW", 330)
        windows = {**windows, "t32AW": {"slots": 32, "cycles": "t32AW"}}
    return {"parameters": found, "rules": rules, "windows": windows}

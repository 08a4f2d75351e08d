"""The sizes of a VTA: its JSON configuration (vta_config.json), and what a beat and a buffer hold.

Fields as in apache/tvm-vta's config/vta_config.json: LOG_x is the logarithm of x; widths are in
bits, buffer sizes in bytes.
"""

from dataclasses import dataclass

from lpn.runs import json_data, unpacked

BEAT_BYTES = 8  # the 64-bit memory port
UOP_BYTES = 4  # uopBits of core/Configs.scala

# Field -> smallest and largest value that makes sense in hardware that can be elaborated.
_FIELDS = {
    "LOG_INP_WIDTH": (3, 5),
    "LOG_WGT_WIDTH": (3, 5),
    "LOG_ACC_WIDTH": (3, 6),
    "LOG_BATCH": (0, 4),
    "LOG_BLOCK": (0, 7),
    "LOG_UOP_BUFF_SIZE": (3, 20),
    "LOG_INP_BUFF_SIZE": (3, 24),
    "LOG_WGT_BUFF_SIZE": (3, 24),
    "LOG_ACC_BUFF_SIZE": (3, 24),
}
_TEXT = ("TARGET", "HW_VER")


@dataclass(frozen=True)
class Config:
    """Bytes of one element and number of elements of each memory, by name: uop, wgt, inp, acc,
    out; `batch` and `block` in values.
    """

    bytes: dict
    depth: dict
    batch: int
    block: int

    def beats(self, memory: str) -> float:
        """Beats of the memory port per element; below 1 where several share a beat."""
        return self.bytes[memory] / BEAT_BYTES


def make(fields: dict) -> Config:
    """The Config of a JSON object's fields. Raises ValueError for what is missing, unknown, no
    whole number or out of range.
    """
    if not isinstance(fields, dict):
        raise ValueError(f"a hardware configuration is a JSON object, got {type(fields).__name__}")
    unknown = sorted(set(fields) - set(_FIELDS) - set(_TEXT))
    if unknown:
        raise ValueError(f"a hardware configuration has no field {unknown[0]!r}")
    for name, (low, high) in _FIELDS.items():
        if name not in fields:
            raise ValueError(f"the hardware configuration lacks {name}")
        value = fields[name]
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"{name} must be a whole number, {low}..{high}, got {value!r}")
    batch, block = 1 << fields["LOG_BATCH"], 1 << fields["LOG_BLOCK"]
    log = {name: fields[f"LOG_{name.upper()}_WIDTH"] for name in ("inp", "wgt", "acc")}
    bits = {
        "inp": batch * block << log["inp"],
        "wgt": block * block << log["wgt"],
        "acc": batch * block << log["acc"],
        "out": batch * block << log["inp"],  # outBits is inpBits
    }
    size = {"uop": UOP_BYTES, **{name: number // 8 for name, number in bits.items()}}
    depth = {
        name: (1 << fields[f"LOG_{name.upper()}_BUFF_SIZE"]) // size[name]
        for name in ("uop", "inp", "wgt", "acc")
    }
    empty = [name for name, number in depth.items() if number < 1]
    if empty:
        raise ValueError(
            f"LOG_{empty[0].upper()}_BUFF_SIZE={fields[f'LOG_{empty[0].upper()}_BUFF_SIZE']} holds "
            f"no element of {size[empty[0]]} bytes"
        )
    depth["out"] = depth["acc"]
    return Config(size, depth, batch, block)


def read(path: str) -> Config:
    """The Config of a JSON file. Raises OSError, and ValueError with the reason."""
    data = unpacked(path)
    try:
        fields = json_data(data)
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    try:
        return make(fields)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


# config/vta_config.json and CoreConfig of core/Configs.scala.
DEFAULT = make(
    {
        "LOG_INP_WIDTH": 3,
        "LOG_WGT_WIDTH": 3,
        "LOG_ACC_WIDTH": 5,
        "LOG_BATCH": 0,
        "LOG_BLOCK": 4,
        "LOG_UOP_BUFF_SIZE": 13,
        "LOG_INP_BUFF_SIZE": 15,
        "LOG_WGT_BUFF_SIZE": 18,
        "LOG_ACC_BUFF_SIZE": 17,
    }
)

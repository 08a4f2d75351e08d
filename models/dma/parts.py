"""The parts of verilog-axi for nets of your own; README.md shows how they are joined."""

from .bench import descriptors, read_master, sink, words_of, write_master
from .channels import Channel, Port, Word
from .crossbar import axi_crossbar
from .fifo import axi_fifo
from .memories import axi_ram, delay_memory
from .movers import axi_cdma, axi_dma_rd, axi_dma_wr
from .stages import Copy, Move

__all__ = [
    "Channel",
    "Copy",
    "Move",
    "Port",
    "Word",
    "axi_cdma",
    "axi_crossbar",
    "axi_dma_rd",
    "axi_dma_wr",
    "axi_fifo",
    "axi_ram",
    "delay_memory",
    "descriptors",
    "read_master",
    "sink",
    "words_of",
    "write_master",
]

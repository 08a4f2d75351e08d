"""What a system joins: an accelerator's own net, and the tokens of an input around it."""

import os
from dataclasses import dataclass, field

import lpn
from lpn.runs import Model

from .ports import fill_ports, streams_of
from .trips import cycles_of, wrong

__all__ = ["Own", "fill", "own_of"]

# The shell of the JPEG decoder (jpeg_decoder.v): 16-bit pixels, written row by row of a block.
_ROW_BYTES, _ROWS = 16, 8


@dataclass
class Own:
    """The accelerator's net and how it exchanges data.

    inputs: {place: bytes of each token, or the property that says so}: tokens wait for them.
    outputs: {place: bytes of each token}. finished: {place: how many of its tokens end a job, or the
    start place that has as many}. pattern: the output that goes with Pattern tokens, in runs of
    `packets`. ahead: tokens of an input that it holds at once. parameters: of the net, bound. ports:
    it has ports to its memory; streams: (port, id) of accesses whose lines its model tells.
    """

    model: Model
    net: lpn.Net
    parameters: dict
    inputs: dict = field(default_factory=dict)
    outputs: dict = field(default_factory=dict)
    finished: dict = field(default_factory=dict)
    pattern: str | None = None
    packets: int = 1
    ahead: int = 1
    streams: list = field(default_factory=list)
    ports: bool = False

    def type_of(self, name):
        """The token type of one of its places, for a place to join; None: its tokens count."""
        core = self.net.core
        kind = core.types[next(p.type for p in core.places if p.name == name)]
        if not kind.fields:
            return None
        ranges = {
            f.name: lpn.Int if f.range is None else lpn.Int[tuple(f.range)] for f in kind.fields
        }
        return type(kind.name, (lpn.Token,), {"__annotations__": ranges})


def own_of(system) -> Own:
    """The accelerator of a System. Raises Error "E-system-file" where the file does not fit it."""
    about = system.accelerator
    model, net = _loaded(system)
    if net.frequency is not None and net.frequency * about.period != 10**12:
        mhz = f"{net.frequency / 1e6:g}"
        raise wrong(
            system,
            f"accelerator.clock_mhz is {10**6 // about.period}, but the net of '{about.model}' says that it has "
            f"{mhz} (net.frequency); write clock_mhz = {mhz}, or leave net.frequency out there",
        )
    trips = {name: cycles_of(system, kind) for name, kind in about.round_trips}
    for name in trips:
        if name not in net.params:
            raise wrong(
                system,
                f"accelerator.round_trips: '{about.model}' has no parameter '{name}'; it has: "
                f"{', '.join(net.params) or 'none'}",
            )
        if name in dict(about.parameters):
            raise wrong(
                system,
                f"accelerator.parameters and round_trips both say '{name}': leave one of them out",
            )
    own = Own(model, net, {**net.bound, **trips})
    if about.model == "jpeg" and system.memory.model == "dram":
        raise wrong(
            system,
            'memory.model = "dram" needs the address of each write; of the JPEG decoder\'s rows of pixels '
            "only the level of the memory is known: leave out memory.model",
        )
    if about.model == "jpeg":
        return _jpeg(system, own)
    own.inputs, own.outputs = dict(about.inputs), dict(about.outputs)
    own.finished, own.ahead = dict(about.finished), about.ahead
    _check_places(system, own)
    if about.ports:
        own.ports, own.streams = True, streams_of(system, own)
    return own


def _loaded(system):
    """(model, net) that the file names; mistakes are said with the file's name."""
    about = system.accelerator
    if about.model == "system" or about.model.endswith(".toml"):
        raise wrong(
            system,
            f"accelerator.model is '{about.model}', a system itself; write the accelerator's own net, "
            "a model's name, a file.py or a .lpn file",
        )
    beside = os.path.join(system.folder, about.model)
    try:
        model = lpn.load(beside if os.path.isfile(beside) else about.model)
        return model, model.net(**dict(about.parameters))
    except lpn.Error as error:
        if error.code not in ("E-model", "E-param"):
            raise
        said = str(error).split("\n", 1)[0].removesuffix(f" [{error.code}]")
        raise wrong(system, f"[accelerator]: {said}") from None


def _check_places(system, own):
    core, name = own.net.core, system.accelerator.model
    flags = {p.name: (p.start, p.done) for p in core.places}
    start = [p for p, (starts, _) in flags.items() if starts]
    done = [p for p, (_, ends) in flags.items() if ends]
    for table, places, known in (
        ("inputs", own.inputs, start),
        ("outputs", own.outputs, done),
        ("finished", own.finished, done),
    ):
        for place in places:
            if place not in known:
                raise wrong(
                    system,
                    f"accelerator.{table}: '{place}' is not one of {name}'s "
                    f"{'start' if table == 'inputs' else 'done'} places: "
                    f"{', '.join(known) or 'none'}",
                )
    for place, size in own.outputs.items():
        if not isinstance(size, int) or size < 1:
            raise wrong(system, f"accelerator.outputs.{place} must be a number of bytes from 1 on")
        if size > system.writes.buffer:
            raise wrong(
                system,
                f"writes.buffer has {system.writes.buffer} bytes, less than a token of "
                f"accelerator.outputs.{place}, {size}",
            )
        if size % system.writes.bytes and (system.link.packets or system.memory.model == "dram"):
            raise wrong(
                system,
                f"writes.bytes must divide accelerator.outputs.{place}, {size}, got "
                f"{system.writes.bytes}: each token is written by itself, and each write is whole",
            )
    for place, size in own.inputs.items():
        if isinstance(size, str) and size not in own.net[place].fields:
            raise wrong(
                system,
                f"accelerator.inputs.{place}: its tokens have no property '{size}'; they have: "
                f"{', '.join(own.net[place].fields) or 'none'}",
            )
    if not own.inputs:
        raise wrong(
            system,
            "accelerator.inputs says which tokens wait for the start of the device, and for how "
            f"many bytes of data each; {name}'s start places: {', '.join(start) or 'none'}",
        )
    if not own.finished:
        raise wrong(
            system,
            "accelerator.finished says how many tokens of which done place end a job: a number or "
            f"the start place that has as many; {name}'s done places: {', '.join(done) or 'none'}",
        )
    for place in own.outputs:
        if place not in own.finished:
            raise wrong(
                system,
                f"accelerator.outputs.{place} is not in accelerator.finished, but its writes end the job, "
                "too: say how many of its tokens there are",
            )
    for place, many in own.finished.items():
        if not isinstance(many, int) and many not in start:
            raise wrong(
                system,
                f"accelerator.finished.{place} must be a number or a start place of {name}, "
                f"{', '.join(start) or 'none'}; got '{many}'",
            )


def _jpeg(system, own):
    size = system.writes.bytes
    if _ROW_BYTES % size:
        raise wrong(
            system,
            f"writes.bytes must divide {_ROW_BYTES}, got {size}: the decoder writes rows of 8 pixels of "
            "2 bytes",
        )
    for key in ("inputs", "outputs", "finished", "round_trips"):
        if getattr(system.accelerator, key):
            raise wrong(system, f"jpeg is known: leave out accelerator.{key}")
    row = _ROW_BYTES // size
    if system.writes.outstanding % row:
        raise wrong(
            system,
            f"writes.outstanding must be a multiple of {row}, got {system.writes.outstanding}: a row of 8 "
            f"pixels is {row} writes of {size} bytes, which leave together",
        )
    own.inputs = {"header": "size", "coded": 0}
    own.ahead = 2  # the block that is decoded and the one whose bits are in the bit buffer
    own.outputs = {"pixels": _ROW_BYTES * _ROWS}
    own.pattern, own.packets = "pixels", row
    return own


def fill(system, own, marking, path, earlier):
    """Adds the tokens of an input. Raises what the accelerator's own workload raises."""
    # What was set for its parameters in the system's net, its workload is to know.
    begin = "accelerator."
    given = {k[len(begin) :]: v for k, v in marking.net.bound.items() if k.startswith(begin)}
    own.net.bound = {**own.parameters, **given}
    if own.pattern:
        return _fill_image(system, own, marking, path, _warm(path, _image_bytes) if earlier else 0)
    input = _rounds(system, own, path)
    if own.ports:
        fill_ports(system, own, marking, input, earlier)
    elif earlier:
        marking.add("writes.warm", at=_warm(path, _output_of(system, own)))
    tokens = own.model.workload(input, own.net)
    position = 0
    for place in own.net.places:
        rows = tokens.rows(place)
        if late := next((t for t in tokens.times(place) if t), 0):
            raise ValueError(
                f"a token of {place} arrives in cycle {late}; in a system tokens wait for their data, or are there "
                "from the start: leave out at="
            )
        if place not in own.inputs:
            if rows:
                marking.add_rows(f"accelerator.{place}", rows)
            continue
        size = own.inputs[place]
        at = None if isinstance(size, int) else own.net[place].fields.index(size)
        needs = []
        for row in rows:
            end = position + (size if at is None else row[at])
            needs.append((_reads(system, end) - _reads(system, position),))
            position = end
        if needs:
            _check_room(system, marking, max(needs)[0], f"a token of {place} waits")
        marking.add_rows(f"device.waiting.{place}", rows)
        marking.add_rows(f"device.needs.{place}", needs)
    if tokens.done_count is not None or own.net.done_count is not None:
        marking.done_count = 1  # a part of it never stops: the run ends when the driver knows
    ends = 0
    for place, many in own.finished.items():
        count = many if isinstance(many, int) else tokens.count(many)
        ends += count * (
            -(-own.outputs[place] // system.writes.bytes) if place in own.outputs else 1
        )
    return _add_job(system, marking, position, ends)


def _rounds(system, own, path):
    """The input as often as the driver asks for it."""
    number = system.host.rounds
    if number == 1:
        return path
    several = getattr(own.model.module, "several", None)
    if several is None:
        raise wrong(
            system,
            f"host.rounds is {number}, but '{system.accelerator.model}' cannot repeat an input: its module "
            "has no function several(input, number); leave out host.rounds",
        )
    return several(path, number)


def _reads(system, bytes):
    return -(-bytes // system.reads.bytes)


def _add_job(system, marking, bytes, ends):
    if ends < 1:
        raise ValueError("nothing would end the job: there is no token that the end is counted in")
    total = _reads(system, bytes)
    first = min(total, _reads(system, system.reads.start))
    _check_room(system, marking, first, "reads.start waits")
    marking.add("host.job", reads=total, first=first, ends=ends)


def _check_room(system, marking, reads, what):
    """That so many reads at once fit into the buffer. Raises ValueError: they would be waited for for ever."""
    net = marking.net
    if "reads.buffer" not in net.params:
        return  # of a net with ports
    room = net.bound.get("reads.buffer", net.params["reads.buffer"])
    if reads > room:
        size = system.reads.bytes
        raise ValueError(
            f"{what} for {reads} reads of {size} bytes at once, and reads.buffer holds {room} of them; write "
            f"reads.buffer = {reads * size} or more"
        )


def _fill_image(system, own, marking, path, warm):
    from lpn_models_native import _jpeg, _system  # here, so that the net alone needs no libjpeg

    with open(path, "rb") as file:
        data = file.read(_jpeg.MAX_FILE_BYTES + 1)
    image = _jpeg.read(data, own.net.bound.get("writable_tables", 0) != 0)
    memory, size = system.memory, system.reads.bytes
    marking.add(
        "device.waiting.header",
        size=image.header_bytes,
        table_stalls=image.table_stalls,
        first_word=image.first_word_clocks,
    )
    marking.add_columns(
        "device.waiting.coded", symbols=image.symbols, waits=image.waits, completes=image.completes
    )
    header = _reads(system, image.header_bytes)
    _check_room(system, marking, header, "the header waits")
    marking.add("device.needs.header", at=header)
    total = _reads(system, len(data))
    needs = _system.shares(image.bits, 8 * image.header_bytes, 8 * size, header, total)
    marking.add_columns("device.needs.coded", at=needs)
    patterns = _system.levels(
        width=image.width,
        height=image.height,
        mcu=16 if image.sampling == "420" else 8,
        line=memory.line,
        cache_lines=memory.cache_lines,
        warm_bytes=warm,
        read_lines=-(-len(data) // memory.line),
        row_bytes=memory.row_bytes,
        banks=memory.banks,
        open_rows=memory.page == "open",
    )
    marking.add_columns("writes.patterns", rows=patterns)
    _add_job(system, marking, len(data), _ROWS * len(patterns))


def _warm(path, size):
    """Bytes of the output buffer that the inputs before wrote: files of the same folder and ending whose
    names stand before this one's in the order of strings. `size`: bytes of a file's output.
    """
    folder, name = os.path.split(os.path.abspath(path))
    ending = os.path.splitext(name)[1]
    before = [n for n in os.listdir(folder) if n < name and n.endswith(ending)]
    return max((size(os.path.join(folder, other)) for other in before), default=0)


def _image_bytes(path):
    """What the JPEG decoder writes of an image: whole MCUs from above, at the image's own width."""
    from lpn_models_native import _jpeg

    with open(path, "rb") as file:
        width, height = _jpeg.size(file.read(_jpeg.MAX_FILE_BYTES))
    return 2 * width * (-(-height // 16) * 16)


def _output_of(system, own):
    """A function: an input's file -> bytes of its output."""
    size = getattr(own.model.module, "output_bytes", None)
    latency = system.memory.output == "dram" and system.memory.model != "dram"
    if size is None or not own.outputs or not latency:
        raise ValueError(
            "'earlier' is for outputs in DRAM that is a latency (memory.output, memory.model), of the JPEG "
            "decoder or of a model with a function output_bytes(input)"
        )
    return size

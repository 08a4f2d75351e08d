"""Large workloads for the reference's nets: generated, always the same, and run to the end."""

import random
from array import array

from _measure import ROOT, SEED, SHARED, lpn

LTC = ROOT / "testbenches" / "ltc"
IMAGE = ROOT / "models" / "jpeg" / "demo" / "plasma12_512x384_q50_420.jpg"  # for models/jpeg


def reference_net(name):
    """The module of a net of ../ltc, and the net."""
    model = lpn.load(LTC / f"{name}.py")
    return model, model.net()


def largest_jpeg():
    """Path of the reference's largest image, or None."""
    files = (SHARED / "truth" / "ltc" / "tokens" / "jpeg").glob("*.tok")
    return max(files, key=lambda path: path.stat().st_size, default=None)


def jpeg(net, mcus=16_666):
    """Six blocks per MCU, most of them nearly empty as in photos; 28 firings per MCU."""
    rng = random.Random(SEED)
    blocks = 6 * mcus
    marking = lpn.Marking(net)
    marking.add("tasks", count=blocks)
    nonzero = (min(63, int(rng.expovariate(0.15))) for _ in range(blocks))
    marking.add_columns("coded", nonzero=array("q", nonzero))
    return marking


def menshen(net, packets=20_000):
    """Packets of 64 to 1,500 bytes on a bus of 32; one in twenty is control or dropped."""
    rng = random.Random(SEED)
    words, control, drop = array("q"), array("q"), array("q")
    for _ in range(packets):
        words.append(rng.choice((2, 2, 2, 4, 8, 18, 46, 47)))
        lost = rng.random()
        control.append(lost < 0.03)
        drop.append(0.03 <= lost < 0.05)
    marking = lpn.Marking(net)
    marking.add_columns(
        "arrived",
        n_words=words,
        is_control=control,
        is_data=array("q", (1 - c for c in control)),
        is_drop=drop,
    )
    return marking


def vta(model, net, instructions=64_000):
    """The reference's program again and again, or our own one where ../shared is not there.

    A program that completes leaves no fewer dependencies than it found, so it may be repeated.
    """
    own = LTC / "tokens" / "vta" / "load_gemm_store.tok"
    path = SHARED / "truth" / "ltc" / "tokens" / "vta" / "reference.tok"
    path = path if path.exists() else own
    columns = {}
    for name, _, values in model.module._tok.read(path):
        if name == "pnumInsn":
            columns = values
    times = max(1, instructions // len(columns["opcode"]))
    marking = lpn.Marking(net)
    marking.add_columns("program", **{key: column * times for key, column in columns.items()})
    marking.add("launch", total_insn=times * len(columns["opcode"]))
    return marking, f"{path.name} x {times}"


def protoacc(model, net, messages=1_500):
    """Messages of one to three submessages, each a run of scalars, strings and repeated fields."""
    rng = random.Random(SEED)
    kind = model.module.Kind
    control_type, control_range = array("q"), array("q")
    field_type, field_num, sizes = array("q"), array("q"), array("q")

    def run_of_fields(end):
        fields = rng.randint(1, 8)
        for _ in range(fields):
            what = rng.choice((kind.SCALAR, kind.SCALAR, kind.NONSCALAR))
            num = 1 if rng.random() < 0.8 else rng.randint(2, 6)
            field_type.append(what)
            field_num.append(num)
            for _ in range(num):
                sizes.append(rng.randint(1, 8) if what == kind.SCALAR else rng.randint(4, 200))
        field_type.append(end)
        field_num.append(1)
        sizes.append(1)
        control_type.append(kind.NONSUBMESSAGE)
        control_range.append(fields + 1)

    for _ in range(messages):
        for _ in range(rng.randint(0, 2)):
            control_type.append(kind.SUBMESSAGE)
            control_range.append(0)
            run_of_fields(kind.END_OF_MESSAGE)
        run_of_fields(kind.END_OF_MESSAGE_TOP_LEVEL)
    marking = lpn.Marking(net)
    marking.add_columns("messages", type=control_type, control_range=control_range)
    marking.add_columns("fields", type=field_type, num=field_num)
    marking.add_columns("elements", bytes=sizes)
    return marking

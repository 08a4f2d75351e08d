"""cost(program) -> cycles in C (native/vta_cost.h): the demo's program, compiled by a C compiler."""

import ctypes
import shutil
import subprocess

import pytest
from conftest import BUILD, DEMO, REPO
from models.vta import config, isa, schedule

pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None or not (BUILD / "lib" / "liblpn_vta_cost.so").exists(),
    reason="needs a C compiler and the build's lpn_vta_cost",
)
NATIVE = REPO / "models" / "vta" / "native"
CONV = schedule.Conv(h=7, w=7, ci=32, co=32, k=3, pad=1)


class Options(ctypes.Structure):
    """lpn_vta_options."""

    _fields_ = [
        ("bytes", ctypes.c_int64 * 5),
        ("depth", ctypes.c_int64 * 5),
        ("read_latency", ctypes.c_int64),
        ("write_ack_latency", ctypes.c_int64),
        ("fetch", ctypes.c_int32),
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The net and the program `cost`, in a folder."""
    folder = tmp_path_factory.mktemp("cost")
    lpn = [str(BUILD / "bin" / "lpn"), "compile", "vta", "-o", str(folder / "vta.so")]
    subprocess.run(lpn, check=True, capture_output=True, timeout=300)
    cc = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", str(DEMO / "cost.c"), f"-I{NATIVE}"]
    lib = BUILD / "lib"
    link = [f"-L{lib}", "-llpn_vta_cost", f"-Wl,-rpath,{lib}", "-o", str(folder / "cost")]
    subprocess.run([*cc, *link], check=True, capture_output=True, timeout=60)
    return folder


@pytest.fixture
def cost(made):
    def run(*programs, net="vta.so", status=0):
        done = subprocess.run(
            [str(made / "cost"), str(made / net), *map(str, programs)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == status, done
        return (done.stdout or done.stderr).splitlines()

    return run


def test_as_many_cycles_as_python_has(vta, cost, tmp_path):
    import lpn

    net = vta.net()
    chosen = schedule.space(CONV)[::30]
    assert len(chosen) >= 5
    files, expected = [], []
    for number, one in enumerate(chosen):
        words, _ = schedule.program(CONV, one)
        files.append(tmp_path / f"{number}.bin")
        files[-1].write_bytes(isa.to_bytes(words))
        exact, quick = (
            lpn.simulate(net, vta.module.marking_of(net, words, fetch=fetch)).latency
            for fetch in (True, False)
        )
        expected.append(f"{files[-1]}: {exact} cycles, {quick} without fetch")
    assert cost(*files) == expected


def test_no_answer_has_its_reason(cost, tmp_path):
    def program(name, *instructions, cut=0):
        words = isa.program([isa.encode(op, **fields) for op, fields in instructions])
        path = tmp_path / name
        path.write_bytes(isa.to_bytes(words)[: -cut or None])
        return path

    finish = (isa.FINISH_OP, {})
    cut = program("cut", finish, finish, cut=3)
    empty = program("empty")
    waits = program("waits", (isa.FINISH_OP, {"pop_prev": 1}))
    wide = program("wide", (isa.LOAD_OP, {"mem": isa.INP, "x": 2049, "y": 1}), finish)
    ends = program("ends", finish)
    assert cost(cut, empty, waits, wide, ends) == [
        f"{cut}: the stream is cut in instruction 1: 29 bytes are no multiple of 16",
        f"{empty}: the program has no instruction",
        f"{waits}: the program waits for ever",
        f"{wide}: instruction 0: it fills inp up to element 2049, of which there are "
        f"{config.DEFAULT.depth['inp']}",
        f"{ends}: 28 cycles, 28 without fetch",
    ]


def test_other_libraries_are_refused(cost, made, tmp_path):
    (made / "other.py").write_text(
        "import lpn\n\ndef net():\n    net = lpn.Net('other')\n"
        "    net.transition('t', take=[net.place('a', start=True)], delay=1)\n    return net\n"
    )
    other = [str(BUILD / "bin" / "lpn"), "compile", str(made / "other.py"), "-o"]
    subprocess.run([*other, str(made / "other.so")], check=True, capture_output=True, timeout=300)
    (made / "text.so").write_text("no library")
    (tmp_path / "p").write_bytes(b"")
    assert cost(tmp_path / "p", net="other.so", status=2) == [
        "a compiled net, but not that of models/vta"
    ]
    assert cost(tmp_path / "p", net="text.so", status=2)[0].endswith("file too short")
    lib = BUILD / "lib" / "liblpn_vta_cost.so"
    shutil.copy(lib, made / "foreign.so")
    assert cost(tmp_path / "p", net="foreign.so", status=2) == [
        f"{made / 'foreign.so'} is no compiled net of this version"
    ]


def test_the_defaults_are_those_of_python(made):
    """lpn_vta_defaults against config.DEFAULT."""
    library, options = ctypes.CDLL(str(BUILD / "lib" / "liblpn_vta_cost.so")), Options()
    library.lpn_vta_defaults(ctypes.byref(options))
    for of, mine in ((config.DEFAULT.bytes, options.bytes), (config.DEFAULT.depth, options.depth)):
        assert [of[name] for name in isa.MEMORIES] == list(mine)
    assert (options.read_latency, options.write_ack_latency, options.fetch) == (20, 20, 1)


def test_calls_that_cannot_be(made):
    """What a careless host passes is refused in words."""
    library = ctypes.CDLL(str(BUILD / "lib" / "liblpn_vta_cost.so"))
    library.lpn_vta_open.restype = ctypes.c_void_p
    library.lpn_vta_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    library.lpn_vta_cost.restype = ctypes.c_int64
    library.lpn_vta_cost.argtypes = [
        *(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t),
        *(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t),
    ]
    why = ctypes.create_string_buffer(200)
    assert library.lpn_vta_open(None, why, 200) is None and why.value == b"no library is named"
    assert library.lpn_vta_open(b"/", None, 0) is None
    assert library.lpn_vta_open(b"/nowhere/vta.so", why, 8) is None and len(why.value) == 7
    vta = library.lpn_vta_open(str(made / "vta.so").encode(), why, 200)
    finish = isa.to_bytes(isa.program([isa.encode(isa.FINISH_OP)]))

    def cost(handle, program, size, change=None):
        options = Options()
        library.lpn_vta_defaults(ctypes.byref(options))
        if change is not None:
            change(options)
        found = library.lpn_vta_cost(handle, program, size, ctypes.byref(options), why, 200)
        return found if found >= 0 else why.value.decode()

    def deep(options):
        options.depth[2] = 0

    def wide(options):
        options.bytes[1] = 1 << 21

    def slow(options):
        options.read_latency = -1

    assert cost(vta, finish, len(finish)) == 28
    assert cost(None, finish, 16) == "no net is open: lpn_vta_open answered NULL"
    assert cost(vta, None, 16) == "the program is NULL"
    said = ": its elements must be 1 to 2^20 bytes, and at least one of them"
    assert cost(vta, finish, 16, deep) == "memory inp" + said
    assert cost(vta, finish, 16, wide) == "memory wgt" + said
    assert cost(vta, finish, 16, slow).startswith("no net with these latencies")
    cycles = (ctypes.c_int64 * 2)()
    programs, sizes = (ctypes.c_char_p * 2)(finish, b"cut"), (ctypes.c_size_t * 2)(16, 3)
    library.lpn_vta_costs.argtypes = [
        *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p),
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p),
    ]
    library.lpn_vta_costs(vta, 2, programs, sizes, None, 1, cycles)
    assert list(cycles) == [28, -1]
    library.lpn_vta_costs(None, 2, programs, sizes, None, 1, cycles)
    assert list(cycles) == [-1, -1]
    library.lpn_vta_costs(vta, 0, None, None, None, 1, None)
    library.lpn_vta_close.argtypes = [ctypes.c_void_p]
    library.lpn_vta_close(vta)
    library.lpn_vta_close(None)

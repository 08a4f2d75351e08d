"""The rules of the house: who may use whom, and where each library lives. Only what the tree itself
cannot tell is written here; headers, libraries of CMake, packages and models are read from it."""

import re

# Component -> what it may use beside itself. `*` stands for the name of one model. A test folder
# (X/test) may use X and all that X may use. What lies in none of them (docs, files at the top) is
# not looked at.
ALLOWED = {
    "lpn-core": set(),
    "lpn2sim": {"lpn-core", "lpn2sim/runtime"},
    "lpn2sim/runtime": set(),  # what generated code includes: knows nobody, not even lpn-core
    "lpn2smt": {"lpn-core"},
    "lpn2pi": {"lpn-core"},
    "lpnviz": {"lpn-core"},
    "lpnwave": {"lpn-core"},
    "python/bindings": {"lpn-core", "lpn2sim", "lpn2sim/runtime", "lpn2smt", "lpn2pi", "lpnviz", "lpnwave"},
    "python/lpn": {"python/bindings"},
    "models/*": {"python/lpn", "models/*/native"},  # and another model: see IMPORTED_MODELS
    # Of lpn2smt its view of a solver, bitvectors.h; of the runtime the C interface, abi.h.
    "models/*/native": {"lpn-core", "lpn2smt", "lpn2sim/runtime"},
    "testbenches": {
        "lpn-core", "lpn2sim", "lpn2sim/runtime", "lpn2smt", "lpn2pi", "lpnviz", "lpnwave",
        "python/bindings", "python/lpn", "models/*", "models/*/native",
    },
}  # fmt: skip
IMPORTED_MODELS = {"dram", "pcie"}  # the models that others build on
# What models may import of the package.
PUBLIC_MODULES = {"lpn", "lpn.command", "lpn.lib", "lpn.plots", "lpn.runs"}

# Folders inside a part, from the ground up: a folder may use those on floors below its own, and
# itself. Folders of one floor do not know each other. "" is what lies in the part's own folder.
FLOORS = {
    "lpn-core": [
        ["base"],
        ["graph", "expr"],
        ["net"],
        ["text"],
        ["run", "structure"],
        ["classes"],
        ["reach"],
    ],
    "lpn2sim/src": [["plan"], ["write"], ["library"], ["main"]],
    "python/lpn": [
        ["source", "interrupt", "words"],
        ["errors"],
        ["json_file", "output_file", "source_digest"],
        ["authoring", "csv_file", "plots", "parallel", "toml_file"],
        ["lib", "spaces", "captures", "traffic"],
        ["runs"],
        ["command", "sweeps", "tuning", "pages", "proofs", "waves"],
        ["interfaces", "fitting"],
        ["cli"],
        ["__init__"],
        ["__main__"],
    ],
}
MOST_FILES = 16  # in one folder of python/lpn: more is a cellar

# Include prefix or Python module -> where it may be used. One folder each, except that pybind11
# also binds what a device needs (models/<device>/native), and doctest is wherever C++ is tested.
THIRD_PARTY = {
    "boost/": ("lpn2sim/runtime/",),
    "xxhash.h": ("lpn2sim/src/",),
    "jpeglib.h": ("models/jpeg/",),
    "jerror.h": ("models/jpeg/",),
    "pybind11/": ("python/bindings/", "models/*/native/"),
    "z3": ("lpn2smt/",),
    "glpk.h": ("lpn2smt/src/",),
    "nlohmann/": ("lpn2smt/src/", "lpnviz/src/", "lpnviz/test/"),
    "Python.h": ("lpn2pi/",),
    "linux/": ("models/bpf/demo/",),  # sources of programs for the kernel, which no build compiles
    "bpf/": ("models/bpf/demo/",),
    "zlib.h": ("models/bluefield/benches/",),
    "hs/": ("models/bluefield/benches/",),
    "doctest/": ("*/test/", "models/*/native/test/", "testbenches/"),
    "verilated": ("testbenches/accuracy/",),
    "Vjpeg_core": ("testbenches/accuracy/",),
    "VGACTTop": ("testbenches/accuracy/",),
    "Vrmt_wrapper": ("testbenches/accuracy/",),
    "configuration.h": ("testbenches/accuracy/dram/",),  # DRAMsim3, where there is a checkout
    "dram_system.h": ("testbenches/accuracy/dram/",),
}
FMT_FREE = {"lpn2sim/runtime"}  # generated code must compile with a compiler alone
POSIX_FREE = {"lpn-core"}  # the standard library and fmt
POSIX = re.compile(r"(unistd|dirent|dlfcn|fcntl|signal|spawn|poll|pthread|regex|time|sys/\w+)\.h$")
C_HEADERS = {"stdint.h", "stddef.h", "string.h", "stdio.h", "stdlib.h", "setjmp.h"}
PYTHON_PARTY = {
    "click": ("python/lpn/", "python/test/", "models/"),  # a device's own commands
    "rich": ("python/lpn/",),
    "PIL": ("python/lpn/", "testbenches/"),
    "google": ("models/protoacc/",),  # protobuf: messages of a .proto file
    "clang": ("testbenches/",),  # libclang: the places of a mutation test
    "pytest": ("testbenches/", "python/test/", "models/"),
    "selenium": ("testbenches/viz/",),
    "sklearn": ("models/bluefield/", "python/lpn/tuning/"),  # only training
    "sympy": ("lpn2pi/", "testbenches/"),
    "z3": ("lpn2smt/", "models/bpf/"),
    "elftools": ("models/bpf/",),  # sections, symbols, relocations of eBPF objects
}
LINK_PARTY = {
    "JPEG::JPEG": ("models/jpeg/",),
    "pybind11::": ("python/bindings/", "models/*/native/"),
    "Boost::": ("lpn2sim/",),
    "z3": ("lpn2smt/",),
    "nlohmann_json::": ("lpn2smt/", "lpnviz/"),
    "Python3::": ("lpn2pi/",),
}

# "Bindings bind": a function of python/bindings that is no list of definitions (bind_...) converts
# values and calls; what is longer than this computes, and belongs below.
LONGEST_CONVERSION = 40
LONGEST_BINDING_FILE = 320

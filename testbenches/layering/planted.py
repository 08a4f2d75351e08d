"""For the self-test: code that obeys every rule, and code that breaks one each."""

INNOCENT = {
    "lpn-core/CMakeLists.txt": "add_library(lpn_core STATIC a.cc)\nadd_library(lpn::core ALIAS lpn_core)\n",
    "lpn-core/include/lpn/base/error.h": "#include <string>\n",
    "lpn-core/include/lpn/net/net.h": '#include <vector>\n#include "lpn/base/error.h"\n',
    "lpn-core/src/net/net.cc": '#include "lpn/net/net.h"\n',
    "lpn-core/test/net_test.cc": '#include <doctest/doctest.h>\n#include "lpn/net/net.h"\n',
    "lpn-core/src/net/switch.cc": (
        'int f() { switch (op) { case Op::kAdd: return "default: {"[0];\n'
        "case Op::kSub: switch (x) { case 1: default: return 2; } } }\n"
        "// switch (op) { case Op::kAdd: default: break; }\n"
    ),
    "lpn2sim/CMakeLists.txt": "add_library(lpn::sim ALIAS lpn_sim)\ntarget_link_libraries(lpn_sim PUBLIC lpn::core)\n",
    "lpn2sim/include/lpn/sim/library.h": '#include "lpn/net/net.h"\n#include <fmt/format.h>\n',
    "lpn2sim/runtime/lpnrt/runtime.h": "#include <boost/heap/d_ary_heap.hpp>\n#include <stdint.h>\n",
    "lpn2sim/src/write/writer.h": "#include <string>\n",
    "lpn2sim/test/plan_test.cc": '#include "lpn/sim/library.h"\n#include "lpn/net/net.h"\n#include <unistd.h>\n',
    "python/bindings/bind.h": '#include <pybind11/pybind11.h>\n#include "lpn/sim/library.h"\n',
    "python/bindings/long.cc": "void bind_all(int m) {\n" + "  m.def(1);\n" * 200 + "}\n",
    "python/lpn/__init__.py": "from .runs.run import Run\n\n\ndef __getattr__(n):\n    from .proofs import question\n",
    "python/lpn/errors.py": "import _lpn\n",
    "python/lpn/runs/run.py": "import _lpn, click\nfrom ..errors import mistake\nfrom ..authoring import x\n",
    "python/lpn/proofs/question.py": "from ..runs.run import Run\n",
    "python/lpn/cli/main.py": "from ..proofs import question\nfrom . import sim\n",
    "python/lpn/cli/sim.py": "import click\n",
    "python/test/test_errors.py": "import pytest, lpn, _lpn\n",
    "models/toy/model.py": "import lpn\nfrom models.pcie import link\nfrom models.toy import x\n",
    "models/toy/native/ok.cc": '#include "lpn/net/net.h"\n',
    "models/jpeg/native/ok.cc": "#include <jpeglib.h>\n",
    "testbenches/ok.py": "import models.toy, lpn, _lpn\n",
    "lpn2smt/CMakeLists.txt": "target_link_libraries(lpn_smt PUBLIC lpn::core z3)\n",
}

_SWITCH = "void f() { switch (n.op) {\n  case Op::kAdd: return;\n  default: break;\n} }\n"

# Files together, and a word of what the check has to say.
PLANTED = [
    ({"lpn-core/src/net/a.cc": '#include "lpn/sim/library.h"\n'}, "lpn-core must not use lpn2sim"),
    ({"lpn-core/src/net/b.cc": "#include <unistd.h>\n"}, "standard C++ and fmt only"),
    ({"lpn-core/src/net/c.cc": "#include <boost/heap/d_ary_heap.hpp>\n"}, "only lpn2sim/runtime/"),
    ({"lpn-core/src/net/switch.cc": _SWITCH}, "default: in a switch over operators"),
    ({"testbenches/switch.cc": _SWITCH}, "default: in a switch over operators"),
    ({"lpn-core/src/base/up.cc": '#include "lpn/net/net.h"\n'}, "base must not use net"),
    ({"lpn-core/src/attic/x.cc": "#include <string>\n"}, "'attic' has no floor"),
    (
        {"lpn2sim/src/write/x.h": '#include "write/writer.h"\n',
         "lpn2sim/src/write/writer.h": '#include "write/x.h"\n'},
        "a circle of files",
    ),  # fmt: skip
    ({"lpn2sim/runtime/lpnrt/r.h": "#include <fmt/format.h>\n"}, "a compiler alone"),
    ({"lpn2sim/runtime/lpnrt/s.h": '#include "lpn/net/net.h"\n'}, "runtime must not use lpn-core"),
    ({"lpn2sim/src/write/d.cc": "#  include <z3++.h>\n"}, "only lpn2smt/"),
    ({"lpn2sim/src/write/e.cc": '#include "bind.h"\n'}, "lpn2sim must not use python/bindings"),
    ({"lpn2sim/src/write/f.cc": "#include <jpeglib.h>\n"}, "only models/jpeg/"),
    ({"lpn2sim/src/write/g.cc": "#include <pybind11/pybind11.h>\n"}, "models/*/native/"),
    ({"lpn2sim/src/write/h.cc": "#include <vendor/thing.h>\n"}, "in no list"),
    ({"lpn2sim/src/write/i.cc": '#include "lpn/gone.h"\n'}, "which no folder has"),
    ({"lpn2sim/src/write/j.cc": "#include <doctest/doctest.h>\n"}, "only */test/"),
    ({"models/toy/q.py": "from sklearn.ensemble import x\n"}, "only models/bluefield/"),
    ({"testbenches/j.cc": "#include <xxhash.h>\n"}, "only lpn2sim/src/"),
    ({"models/toy/native/k.cc": '#include "lpn/sim/library.h"\n'}, "native must not use lpn2sim"),
    ({"python/lpn/runs/l.py": "import models.toy\n"}, "python/lpn must not use models"),
    (
        {"python/lpn/runs/m.py": "def f():\n    from testbenches import x\n"},
        "python/lpn must not use testbenches",
    ),
    ({"python/lpn/runs/n.py": "from ..proofs.question import x\n"}, "runs must not use proofs"),
    ({"python/lpn/proofs/o.py": "def f():\n    from ..cli import sim\n"}, "proofs must not use cli"),
    ({"models/toy/cmd.py": "from lpn.cli.main import table\n"}, "models use lpn, lpn.command"),
    (
        {"python/lpn/proofs/a.py": "from .b import x\n", "python/lpn/proofs/b.py": "def f():\n    from . import a\n"},
        "a circle of files",
    ),
    ({f"python/lpn/spaces/m{k}.py": "" for k in range(17)}, "17 files: a folder per concept"),
    (
        {"python/bindings/long.cc": "int sum(int m) {\n" + "  m += 1;\n" * 50 + "}\n"},
        "sum has 52 lines: bindings bind",
    ),
    ({"models/toy/n.py": "from models.other import net\n"}, "shared are only dram, pcie"),
    ({"models/toy/o.py": "import _lpn\n"}, "use the package lpn"),
    ({"python/bindings/p.py": "import click\n"}, "only python/lpn/ and python/test/ and models/"),
    (
        {"lpn-core/CMakeLists.txt": "add_library(lpn::core ALIAS x)\ntarget_link_libraries(x PUBLIC\n  lpn::sim)\n"},
        "lpn-core must not use lpn2sim",
    ),
    ({"lpn2sim/src/CMakeLists.txt": "target_link_libraries(x PRIVATE JPEG::JPEG)\n"}, "only models/jpeg/"),
]  # fmt: skip

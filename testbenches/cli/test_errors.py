"""Every error code has an entry in docs/errors.md."""

import re

from conftest import REPO


def test_every_code_is_explained():
    codes = set()
    for folder in ("lpn-core", "lpn2sim", "lpn2smt", "lpn2pi", "lpnviz", "python", "models"):
        for path in (REPO / folder).rglob("*"):
            if path.suffix in (".cc", ".h", ".py") and "test" not in path.parts:
                codes |= set(re.findall(r'"([EW]-[a-z][a-z-]+)"', path.read_text(encoding="utf-8")))
    explained = re.findall(
        r"^## (\S+)$", (REPO / "docs" / "errors.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert explained == sorted(explained)
    assert sorted(codes - set(explained)) == []

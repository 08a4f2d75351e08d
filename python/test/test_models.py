"""Bundled models beside other packages of the name `models`."""

import os
import subprocess
import sys

import lpn

LOAD = "import lpn, os; model = lpn.load('dma').module; "
WHERE = "print(os.path.realpath(model.__file__)); print(os.path.realpath(parts.__file__))"
OURS = [os.path.realpath(lpn.load("dma").module.__file__)]
OURS += [os.path.join(os.path.dirname(OURS[0]), "parts.py")]


def other_tree(folder):
    """A folder with a model `dma` of another tree."""
    models = folder / "models" / "dma"
    models.mkdir(parents=True)
    for name in ("model", "parts"):
        (models / f"{name}.py").write_text("def net():\n    raise SystemExit('another tree')\n")
    return models.parent


def python(folder, code):
    package = os.path.dirname(os.path.dirname(os.path.abspath(lpn.__file__)))
    path = os.pathsep.join([package, "."])
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    return run.stdout.splitlines() or run.stderr.splitlines()


def test_models_of_another_tree_do_not_hide_ours(tmp_path):
    other_tree(tmp_path)
    assert python(tmp_path, LOAD + "from models.dma import parts; " + WHERE) == OURS


def test_what_was_imported_from_another_tree_before_is_not_ours(tmp_path):
    other_tree(tmp_path)
    code = "from models.dma import parts; " + LOAD + "from models.dma import parts; " + WHERE
    assert python(tmp_path, code) == OURS


def test_a_package_of_the_user_is_shared(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "__init__.py").write_text("")
    (tmp_path / "models" / "own.py").write_text("net = 1\n")
    code = "from models import own; " + LOAD + "from models.dma import parts; " + WHERE
    assert python(tmp_path, code) == OURS


def test_a_model_that_the_user_hides_is_refused(tmp_path):
    (other_tree(tmp_path) / "__init__.py").write_text("")
    said = python(tmp_path, LOAD)
    assert any("model 'dma' is hidden by" in line for line in said), said
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "models.py").write_text("")
    said = python(tmp_path / "more", LOAD)
    assert any("model 'dma' is hidden by another package models" in line for line in said), said

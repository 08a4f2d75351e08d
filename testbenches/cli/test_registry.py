"""Commands of one device are found in models/NAME/commands.py or commands/, and imported only when
called.
"""

import os
import subprocess
import sys
import textwrap


def lpn(root, *arguments):
    """Runs `lpn` with the models of the folder root/models."""
    start = (
        "import sys; from lpn.runs import models as _load; from lpn.cli import main as cli; _load._MODELS = sys.argv[1]; "
        "cli.main(sys.argv[2:])"
    )
    return subprocess.run(
        [sys.executable, "-c", start, str(root / "models"), *arguments],
        capture_output=True,
        text=True,
    )


def device(root, name, text):
    (root / "models" / name).mkdir(parents=True)
    (root / "models" / name / "commands.py").write_text(textwrap.dedent(text))


def test_a_device_adds_its_commands(tmp_path):
    device(
        tmp_path,
        "toaster",
        '''
        """Questions about toasters.

        More than a line."""

        import click

        from models.toaster import crumbs


        @click.group()
        def command():
            """Toasters."""


        @command.command()
        def crumb():
            click.echo(crumbs.COUNT)
    ''',
    )
    (tmp_path / "models" / "toaster" / "crumbs.py").write_text("COUNT = 17\n")
    device(
        tmp_path, "broken", '"""Never imported by the others."""\nraise RuntimeError("imported")\n'
    )
    shown = lpn(tmp_path, "--help")
    assert shown.returncode == 0, shown.stderr
    assert "toaster" in shown.stdout and "Questions about toasters.\n" in shown.stdout
    assert "Never imported by the others." in shown.stdout
    ran = lpn(tmp_path, "toaster", "crumb")
    assert (ran.returncode, ran.stdout) == (0, "17\n"), ran.stderr
    failed = lpn(tmp_path, "broken")
    assert failed.returncode == 2 and "commands.py:2" in failed.stderr
    assert lpn(tmp_path, "fridge").returncode == 2


def test_the_commands_of_a_device_may_be_a_folder(tmp_path):
    folder = tmp_path / "models" / "oven" / "commands"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text('"""Questions about ovens."""\nfrom .bake import command\n')
    (folder / "bake.py").write_text(
        "import click\n\n\n@click.command()\ndef command():\n    click.echo('baked')\n"
    )
    assert "Questions about ovens." in lpn(tmp_path, "--help").stdout
    ran = lpn(tmp_path, "oven")
    assert (ran.returncode, ran.stdout) == (0, "baked\n"), ran.stderr


def test_a_shell_completes_and_sees_no_error(tmp_path):
    """click answers a shell by ending the program itself."""
    environment = {
        **os.environ,
        "_LPN_COMPLETE": "bash_complete",
        "COMP_WORDS": "lpn s",
        "COMP_CWORD": "1",
    }
    start = "import sys; sys.argv = ['lpn']; from lpn.cli import main as cli; cli.main()"
    shown = subprocess.run(
        [sys.executable, "-c", start], capture_output=True, text=True, env=environment
    )
    assert shown.returncode == 0 and shown.stderr == ""
    assert {"plain,sim", "plain,sweep", "plain,smt"} <= set(shown.stdout.split())

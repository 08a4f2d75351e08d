"""lpn tune MODEL ...: the command `tune` of a device, which knows what there is to choose."""

import click

from ..runs import models


class _Devices(click.Group):
    """The devices that have a command `tune`."""

    def list_commands(self, ctx):
        return [name for name in models.commands() if self.get_command(ctx, name) is not None]

    def get_command(self, ctx, name):
        if name not in models.commands():
            return None
        device = models.command(name)
        return device.get_command(ctx, "tune") if isinstance(device, click.Group) else None


@click.command(cls=_Devices)
def tune():
    """The best way to use a device: schedules, tried on its simulated net.

    `lpn tune DEVICE ...` is `lpn DEVICE tune ...`; a search of your own is lpn.tune in Python.
    """

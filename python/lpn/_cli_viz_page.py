"""The page of lpn viz: a net, and runs of it, as one HTML file."""

import os

import click

from ._cli_common import load_model, print_json
from ._viz import page
from ._viz_export import start_of


def write_page(model, name, params, output, as_json):
    """Writes the page of a model, and of its run on an input when one is given."""
    loaded, net, values = load_model(model, params)
    text = page(net, values, start_of(loaded, net, name), {"title": loaded.name, "subtitle": name or ""})
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)
    size = os.path.getsize(output)
    if as_json:
        print_json({"model": loaded.name, "input": name, "file": output, "format": "page", "bytes": size})
    else:
        click.echo(f"{output}: {loaded.name}, {size / 1e6:.1f} MB")
    return 0

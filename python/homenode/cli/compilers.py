"""`homenode cc`, `c++` and `fortran` in the list of commands: `start` runs them."""

import click

from homenode.cli.start import LANGUAGES

compilers = {
    name: click.Command(
        name,
        help=f"Compile and link as the {name} compiler does, so that homenode record can run it.",
    )
    for name in LANGUAGES
}

"""`homenode cc`, `c++` and `fortran`: drop-in compiler wrappers."""

from collections.abc import Callable

import click


class _PassThrough(click.Command):
    """A command that hands on every argument as it is, including ``--help`` and ``--``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params["argv"] = list(args)
        ctx.args = []
        return []


def _compiler(language: str) -> Callable[[list[str]], int]:
    def compile_(argv: list[str]) -> int:
        from homenode.capture import compilers

        return int(compilers.compile(language, argv))

    return compile_


def _wrapper(language: str, name: str) -> click.Command:
    return _PassThrough(
        name,
        callback=_compiler(language),
        add_help_option=False,
        help=f"Compile and link as the {name} compiler does, so that homenode record can run it.",
    )


compilers = {
    "cc": _wrapper("c", "cc"),
    "c++": _wrapper("c++", "c++"),
    "fortran": _wrapper("fortran", "fortran"),
}

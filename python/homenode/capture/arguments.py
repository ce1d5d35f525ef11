"""Reads a compiler's command line as far as the wrapper needs to understand it.

It needs to know whether the line links, which words are sources, and which belong to only one of
the two steps, compiling and linking. Every other word is passed on in its place.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["CommandLine", "Source", "UsageError", "parse"]

# Options that take the next word as their argument.
_WITH_ARGUMENT = frozenset(
    "-o -I -D -U -L -x -include -imacros -isystem -iquote -idirafter -iprefix -iwithprefix "
    "-isysroot --sysroot -MF -MT -MQ -Xlinker -Xpreprocessor -Xassembler -Xclang -T -u -z -e -l "
    "-B -A --param -aux-info -wrapper -J -target -arch -mllvm -dumpdir -dumpbase -h -soname "
    "-rpath -specs".split()
)

# Words for the linker only; all others go to both steps.
_LINK_ONLY = ("-Wl,", "-l", "-L")
_LINK_ONLY_WORDS = frozenset(
    "-shared -static -static-pie -pie -no-pie -rdynamic -s -r -nostdlib -nodefaultlibs "
    "-nostartfiles -static-libgcc -static-libstdc++ -static-libgfortran -shared-libgcc".split()
)
_LINK_ONLY_WITH_ARGUMENT = frozenset(["-Xlinker", "-T", "-u", "-z", "-e", "-l", "-L"])

# These end before linking, so no runtime is needed.
_NO_LINK = frozenset(["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"])

_SOURCE_SUFFIXES = frozenset(
    ".c .i .ii .cc .cp .cxx .cpp .CPP .c++ .C .m .mm .s .S .sx "
    ".f .for .ftn .F .FOR .fpp .FPP .FTN .f90 .f95 .f03 .f08 .F90 .F95 .F03 .F08".split()
)
# Sanitizers that replace functions of the C library and its allocator, as the runtime does.
_OTHER_RUNTIMES = frozenset("address leak memory hwaddress kernel-address safe-stack".split())
# Compiling one of these alone makes a precompiled header.
_HEADER_SUFFIXES = frozenset([".h", ".hh", ".hpp", ".hxx", ".H", ".h++", ".hp", ".HPP", ".tcc"])


class UsageError(Exception):
    """A request the wrapper cannot serve."""


@dataclass(frozen=True)
class Source:
    """A source file, its position, and the words that name it (with its language, if set)."""

    path: str
    position: int
    words: tuple[str, ...]


@dataclass
class CommandLine:
    """A compiler's command line, parsed."""

    all_words: list[str] = field(default_factory=list)
    compile_words: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    links: bool = True
    assembles: bool = False
    asks_only: bool = False
    shared: bool = False
    static: bool = False
    relocatable: bool = False
    openmp: bool = False
    headers: bool = False
    outputs: list[str] = field(default_factory=list)
    library_dirs: list[str] = field(default_factory=list)
    _link: list[tuple[int, str]] = field(default_factory=list)

    @property
    def output(self) -> str:
        """What a link writes."""
        return self.outputs[-1] if self.outputs else "a.out"

    def object_of(self, source: Source) -> str:
        """What compiling a source alone writes."""
        return self.outputs[-1] if self.outputs else f"{Path(source.path).stem}.o"

    def link_words(self, objects: Mapping[int, str]) -> list[str]:
        """The words of the linking step, with objects in place of their sources."""
        return [objects.get(position, word) for position, word in self._link]


def parse(argv: Sequence[str]) -> CommandLine:
    """Parses a command line.

    >>> line = parse(["-O2", "a.c", "b.o", "-lm", "-o", "prog"])
    >>> line.compile_words, [s.path for s in line.sources]
    (['-O2'], ['a.c'])
    >>> line.link_words({1: "tmp.o"})
    ['-O2', 'tmp.o', 'b.o', '-lm', '-o', 'prog']
    >>> parse(["--version"]).asks_only
    True
    """
    words = [word for word in _expanded(argv) if not _dropped(word)]
    line = CommandLine(all_words=words)
    line.links = not any(word in _NO_LINK for word in words)
    line.shared = "-shared" in words
    line.static = "-static" in words or "-static-pie" in words
    line.relocatable = "-r" in words
    line.openmp = "-fopenmp" in words
    line.assembles = "-c" in words
    inputs = _assign_to_steps(words, line)
    line.links &= not line.headers
    line.asks_only = inputs == 0 or "-###" in words
    if not line.asks_only:
        _refuse_what_cannot_run(words)
    return line


def _refuse_what_cannot_run(words: Sequence[str]) -> None:
    for word in words:
        option, _, names = word.partition("=")
        if word == "-m32":
            raise UsageError("-m32: the recorder runs 64-bit programs only; drop the option")
        if option == "-fsanitize" and not _OTHER_RUNTIMES.isdisjoint(names.split(",")):
            raise UsageError(
                f"{word}: the sanitizer replaces the same functions as the recorder's runtime; "
                "drop the option"
            )


def _expanded(argv: Sequence[str]) -> list[str]:
    """The words with response files (``@file``) in place of their names."""
    words: list[str] = []
    for word in argv:
        if word.startswith("@") and Path(word[1:]).is_file():
            words += _expanded(shlex.split(Path(word[1:]).read_text()))
        else:
            words.append(word)
    return words


def _dropped(word: str) -> bool:
    """Options that would undo what the wrapper does.

    The sanitizer's flag on a link would bring libtsan in; link-time optimisation would move the
    instrumentation to the link; ``-z defs`` would refuse libraries whose hooks are in the program.
    """
    return word.startswith(("-flto", "-fsanitize=thread")) or word in (
        "-fwhole-program",
        "-Wl,-z,defs",
        "-Wl,--no-undefined",
        "-Wl,-no-undefined",
    )


def _assign_to_steps(words: Sequence[str], line: CommandLine) -> int:
    """Assigns each word to one or both steps; returns how many are inputs."""
    inputs = 0
    language = "none"
    position = 0
    while position < len(words):
        word = words[position]
        pair = [word]
        if word in _WITH_ARGUMENT and position + 1 < len(words):
            pair.append(words[position + 1])
        here = position
        position += len(pair)
        if word == "-x" or (word.startswith("-x") and len(word) > 2):
            language = pair[1] if len(pair) == 2 else word[2:]
            continue
        if word.startswith("-") and word != "-":
            _place_option(pair, here, line)
            continue
        inputs += 1
        suffix = Path(word).suffix
        line.headers |= language.endswith("-header") or (
            language == "none" and suffix in _HEADER_SUFFIXES
        )
        if language != "none" or word == "-" or suffix in _SOURCE_SUFFIXES:
            prefix = () if language == "none" else ("-x", language)
            line.sources.append(Source(word, here, (*prefix, word)))
        line._link.append((here, word))
    return inputs


def _place_option(pair: Sequence[str], position: int, line: CommandLine) -> None:
    word = pair[0]
    for option, values in (("-o", line.outputs), ("-L", line.library_dirs)):
        if word.startswith(option):
            values.append(pair[1] if len(pair) == 2 else word[2:])
    line._link += [(position, part) for part in pair]
    link_only = (
        word in _LINK_ONLY_WORDS
        or word in _LINK_ONLY_WITH_ARGUMENT
        or word.startswith(_LINK_ONLY)
        or word == "-o"
    )
    # -o names the result of the last step; everything else may matter to the first.
    if not link_only:
        line.compile_words += pair

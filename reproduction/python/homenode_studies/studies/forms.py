"""The counting and interleaving of references in a publication.

The ACE's tracer stepped all processors at the same pace and counted words (Bolosky, sections 2.3.1
and 4.1.2). A recording has references as the program's instructions make them, in turns of several
references, which is ten times faster to record. It is converted to a trace of words in turns of
one, in which all synchronisation keeps its order.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homenode.trace import Trace
from homenode.trace.transforms import transform
from homenode_studies.studies.programs import Progress


@dataclass(frozen=True)
class TraceForm:
    """The conversion of a recording before it is used.

    Attributes:
        word_bytes: bytes of a word in which references are counted; None counts them as recorded.
        quantum: references of a processor's turn; None leaves turns as recorded.
        without_kernel: whether references of the kernel are left out.
        common_areas: whether all processors share the kernel's per-processor data.
        own_frames: whether processes have frames of their own for memory that others reuse.
        rotated: the seed of the place where a mix begins; None begins it as recorded.
    """

    word_bytes: int | None = None
    quantum: int | None = None
    without_kernel: bool = False
    common_areas: bool = False
    own_frames: bool = False
    rotated: int | None = None

    def steps(self) -> dict[str, dict[str, Any]]:
        """The transforms, in their order, with their parameters.

        >>> TraceForm(4, 1).steps()
        {'words': {'word_bytes': 4}, 'reinterleave': {'quantum': 1}}
        """
        found: dict[str, dict[str, Any]] = {}
        if self.rotated is not None:
            found["rotate"] = {"seed": self.rotated}
        if self.without_kernel:
            found["select"] = {"kernel": "without"}
        if self.common_areas:
            found["common-areas"] = {}
        if self.own_frames:
            found["own-frames"] = {}
        if self.word_bytes is not None:
            found["words"] = {"word_bytes": self.word_bytes}
        if self.quantum is not None:
            found["reinterleave"] = {"quantum": self.quantum}
        return found

    def suffix(self) -> str:
        """The suffix of files of this form.

        >>> TraceForm(4, 1).suffix(), TraceForm().suffix()
        ('-words4-turns1', '')
        """
        rotated = "" if self.rotated is None else f"-rotated{self.rotated}"
        kernel = "-without-kernel" if self.without_kernel else ""
        areas = "-common-areas" if self.common_areas else ""
        frames = "-own-frames" if self.own_frames else ""
        words = "" if self.word_bytes is None else f"-words{self.word_bytes}"
        turns = "" if self.quantum is None else f"-turns{self.quantum}"
        return f"{rotated}{kernel}{areas}{frames}{words}{turns}"

    def provenance(self) -> dict[str, Any]:
        """The options that are set, as plain data."""
        chosen = {
            "word_bytes": self.word_bytes,
            "turns": self.quantum,
            "without_kernel": self.without_kernel or None,
            "common_areas": self.common_areas or None,
            "own_frames": self.own_frames or None,
            "rotated": self.rotated,
        }
        return {name: value for name, value in chosen.items() if value is not None}


AS_RECORDED = TraceForm()
"""References as instructions make them, turns as recorded."""


def formed(recorded: Trace, form: TraceForm, folder: Path, progress: Progress = None) -> Trace:
    """A recording in a form, from the folder if it is there.

    Raises:
        TraceError: when the recording is damaged or the new trace cannot be written.
    """
    if not form.steps():
        return recorded
    path = folder / f"{recorded.path.stem}{form.suffix()}.hnt"
    if path.exists():
        return Trace.open(path)
    # A killed study must not leave an incomplete trace: it gets its name when it is complete.
    unfinished = path.with_name(f"making-{path.name}")
    *before, (last, parameters) = form.steps().items()
    made = recorded
    for kind, chosen in before:
        made = transform(kind, made, progress=progress, **chosen)
    transform(last, made, unfinished, progress=progress, **parameters)
    return Trace.open(unfinished.replace(path))

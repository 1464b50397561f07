"""Defects that are planted to show that this check notices them: the environment of a build with the feature `faults`, and the number
of states within which it must be red."""
from dataclasses import dataclass

VARIABLE = "COGRAPH_TEST_FAULT"


@dataclass(frozen=True)
class Planted:
    """A defect: its name in `src/faults/fault.rs`, within how many states of all projects it must show, and what else it
    needs: shares of killed and of several processes, and changes to make alone where others seldom show it."""

    name: str
    states: int = 60
    kill: int = 10
    several: int = 10
    just: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        return {VARIABLE: self.name}


PLANTED: list[Planted] = [
    Planted("shifted_answers"),
    Planted("lost_file"),
    Planted("missed_removal"),
    Planted("missed_dependent"),
    Planted("stale_key"),
    Planted("stale_count"),
    Planted("unsorted_files", just=("file copied", "file moves", "directory copied")),
    Planted("kept_target"),
    Planted("kept_edges"),
    Planted("kept_imports", just=("file moves", "file deleted", "file copied")),
    Planted("stale_project_file", just=("project file", "import changes")),
    Planted("unmarked_names"),
    Planted("unmarked_words"),
    # A use and its definition must come to the same process, one after the other.
    Planted("stale_footprint", states=120),
]

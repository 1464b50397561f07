"""What people and their tools do to files: each change is a function that does it to a tree and says what it was, or gives None where
it cannot be done. The changes are in `text_changes`, `use_changes`, `file_changes` and
`many_changes`."""
import file_changes  # noqa: F401
import many_changes  # noqa: F401
import text_changes  # noqa: F401
import use_changes  # noqa: F401
from tree import CHANGES, Begun, Tree

__all__ = ["CHANGES", "Begun", "Tree", "some"]


def some(tree: Tree, without: frozenset[str] = frozenset()) -> str:
    """Does one change that can be done. Gives what it was."""
    while True:
        name, _, function = tree.rng.choices(CHANGES, [weight for _, weight, _ in CHANGES])[0]
        if name in without:
            continue
        try:
            said = function(tree)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, FileExistsError):
            continue  # what was chosen is not there any more
        if said is not None:
            return f"{name}: {said}"

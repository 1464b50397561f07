"""Why a task was not found: causes that a program can tell from the list and the bodies of the functions."""
from rivals import words
from score import CALLABLE, TYPES

PAGE = 10
# In the order in which they are asked: the first that holds is the cause.
CAUSES = {
    "part": "several functions change, and a part of them is listed",
    "later": f"the function is listed after place {PAGE}",
    "member": "a class gets a new member; others of its members are listed, the class is not",
    "sibling": "the file is listed, the function is not",
    "type": "the file is not listed; a type changes outside of its functions, or gets a new member",
    "words": "the file is not listed; at most two words of the task are in the function",
    "rank": "the file is not listed, though more words of the task are in the function",
}


def cause(task, found, common):
    """The cause of a miss at function@10; `common` is how many words of the task the changed functions have, None without one."""
    functions = list(dict.fromkeys(item for item in found if item.kind in CALLABLE | TYPES))
    listed = {f"{item.path}:{item.name}" for item in functions}
    wanted = set(task.functions)
    if wanted <= listed:
        return "later"
    if wanted & listed:
        return "part"
    if any(one.startswith(f"{name}.") for name in wanted for one in listed):
        return "member"
    if set(task.files) <= {item.path for item in found}:
        return "sibling"
    if common is None:
        return "type"
    return "words" if common <= 2 else "rank"


def shared_words(state, task):
    """How many different words of a task are in the bodies of the functions that it changes; None if these are none."""
    asked, most = set(words(task.text)), None
    for path, first, last, name, container in state.functions():
        if f"{path}:{container + '.' if container else ''}{name}" in task.functions:
            lines = (state.tree / path).read_text("utf-8", "replace").splitlines()[first - 1:last]
            most = max(most or 0, len(asked & set(words("\n".join(lines)))))
    return most

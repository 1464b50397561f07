"""A disk of bounded size for a cache: a file system in memory, in a mount namespace of this process's own."""
import os
import subprocess
import sys
from pathlib import Path

MARK = "SOAK_MOUNTS_ITS_OWN_DISK"


def enter_namespace() -> str | None:
    """Starts this program again in a mount namespace of its own. Gives why it cannot, or none if it is in one already."""
    if os.environ.pop(MARK, None):
        return None
    if os.geteuid() != 0:
        return "only root may mount"
    command = ["unshare", "--mount", "--propagation", "private"]
    try:
        if subprocess.run([*command, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False).returncode != 0:
            return "mounting is not allowed here"
    except OSError as error:
        return str(error)
    os.environ[MARK] = "1"
    os.execvp(command[0], [*command, sys.executable, *sys.orig_argv[1:]])


class Disk:
    """A directory that has so much room and no more."""

    def __init__(self, place: Path, size: int):
        self.place, self.size = place, size
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._mount("-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs")

    def _mount(self, *arguments: str) -> None:
        subprocess.run(["mount", *arguments, str(self.place)], check=True, capture_output=True)

    def used(self) -> int:
        status = os.statvfs(self.place)
        return (status.f_blocks - status.f_bfree) * status.f_frsize

    def fill(self, spare: int = 0) -> None:
        """No room is left, or so much."""
        for _ in range(20):
            try:
                self._mount("-o", f"remount,size={max(4096, self.used() + spare)}")
                return
            except subprocess.CalledProcessError:
                continue  # it has grown meanwhile
        raise OSError(f"{self.place} cannot be made full")

    def make_room(self) -> None:
        self._mount("-o", f"remount,size={self.size}")

    def close(self) -> None:
        subprocess.run(["umount", "-l", str(self.place)], check=False, capture_output=True)

"""Archives whose bytes follow from their contents alone: sorted names, one time for all, no owner, two modes. Knows no format of a package."""
import gzip
import io
import tarfile
import zipfile
from pathlib import Path
from time import gmtime

# What zip can express begins here.
ZIP_BEGIN = 315532800


class Entry:
    """A file of an archive."""

    def __init__(self, data: bytes, executable: bool = False):
        self.data = data
        self.executable = executable

    @classmethod
    def of(cls, path: Path) -> "Entry":
        return cls(path.read_bytes())

    @property
    def mode(self) -> int:
        return 0o755 if self.executable else 0o644


def tarball(path: Path, entries: dict[str, Entry], epoch: int) -> None:
    """A compressed tar archive."""
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, entry in sorted(entries.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(entry.data), entry.mode, epoch
            archive.addfile(member, io.BytesIO(entry.data))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(inner.getvalue(), compresslevel=9, mtime=epoch))


def zipped(path: Path, entries: dict[str, Entry], epoch: int) -> None:
    """A zip archive, in the order of `entries`."""
    time = gmtime(max(epoch, ZIP_BEGIN))[:6]
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, entry in entries.items():
            member = zipfile.ZipInfo(name, time)
            member.create_system = 3  # Unix: the mode counts
            member.external_attr = (0o100000 | entry.mode) << 16
            archive.writestr(member, entry.data, zipfile.ZIP_DEFLATED, 9)


def zip_entries(path: Path) -> dict[str, Entry]:
    """The files of a zip archive."""
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        return {member.filename: Entry(archive.read(member), bool(member.external_attr >> 16 & 0o111)) for member in members}

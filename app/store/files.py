"""The system calls that the store makes, as one object, so that a test can script a failing device."""

from __future__ import annotations

import fcntl
import os


class Files:
    """The real file system. Every method is one system call and raises OSError like it."""

    def open(self, path: str, flags: int, mode: int = 0o600, *, parent: int | None = None) -> int:
        return os.open(path, flags | os.O_CLOEXEC, mode, dir_fd=parent)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def write(self, descriptor: int, data: bytes) -> int:
        return os.write(descriptor, data)

    def pwrite(self, descriptor: int, data: bytes, offset: int) -> int:
        return os.pwrite(descriptor, data, offset)

    def pread(self, descriptor: int, size: int, offset: int) -> bytes:
        return os.pread(descriptor, size, offset)

    def truncate(self, descriptor: int, length: int) -> None:
        os.ftruncate(descriptor, length)

    def fdatasync(self, descriptor: int) -> None:
        os.fdatasync(descriptor)

    def fsync(self, descriptor: int) -> None:
        os.fsync(descriptor)

    def forget(self, descriptor: int) -> None:
        """Drop the file's clean pages from the cache, so that the next read comes from the device."""
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)

    def lock(self, descriptor: int) -> None:
        """Take the exclusive lock or raise BlockingIOError; the kernel frees it when its holder dies."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def unlock(self, descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def fstat(self, descriptor: int) -> os.stat_result:
        return os.fstat(descriptor)

    def lstat(self, path: str, *, parent: int | None = None) -> os.stat_result:
        return os.stat(path, dir_fd=parent, follow_symlinks=False)

    def exists(self, path: str) -> bool:
        return os.access(path, os.F_OK)

    def chmod(self, descriptor: int, mode: int) -> None:
        os.fchmod(descriptor, mode)

    def mkdir(self, name: str, parent: int) -> None:
        """Make a directory that is 0700 whatever the umask."""
        os.mkdir(name, 0o700, dir_fd=parent)
        os.chmod(name, 0o700, dir_fd=parent)

    def make_tree(self, path: str) -> None:
        os.makedirs(path, 0o700, exist_ok=True)

    def link(self, name: str, new_name: str, parent: int) -> None:
        os.link(name, new_name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)

    def rename(self, name: str, new_name: str, parent: int) -> None:
        """Give a file another name in its directory, in place of what has that name."""
        os.rename(name, new_name, src_dir_fd=parent, dst_dir_fd=parent)

    def unlink(self, name: str, parent: int) -> None:
        os.unlink(name, dir_fd=parent)

    def names(self, directory: int) -> list[str]:
        """What stands in a directory."""
        return os.listdir(directory)

    def is_mount(self, path: str) -> bool:
        return os.path.ismount(path)

    def free_bytes(self, descriptor: int) -> int:
        space = os.fstatvfs(descriptor)
        return space.f_bavail * space.f_frsize


def read_exactly(files: Files, descriptor: int, size: int, offset: int) -> bytes:
    """`size` bytes at `offset`, or fewer only where the file ends."""
    data = files.pread(descriptor, size, offset)
    while len(data) < size:
        more = files.pread(descriptor, size - len(data), offset + len(data))
        if not more:
            break
        data += more
    return data

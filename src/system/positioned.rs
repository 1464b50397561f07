//! Reading and writing at an offset, without the position of the file: several threads share one.

use std::fs::File;
use std::io;

#[cfg(unix)]
use std::os::unix::fs::FileExt;

/// Fills the buffer with what is at an offset; fails if the file ends before.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return file.read_exact_at(buffer, offset);
    #[cfg(windows)]
    windows::read_exact_at(file, buffer, offset)
}

/// Writes all bytes at an offset.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return file.write_all_at(bytes, offset);
    #[cfg(windows)]
    windows::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
mod windows {
    use std::fs::File;
    use std::io::{Error, ErrorKind, Result};
    use std::os::windows::fs::FileExt;

    pub(super) fn read_exact_at(file: &File, mut rest: &mut [u8], mut at: u64) -> Result<()> {
        while !rest.is_empty() {
            match file.seek_read(rest, at) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    rest = &mut rest[count..];
                    at += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) fn write_all_at(file: &File, mut rest: &[u8], mut at: u64) -> Result<()> {
        while !rest.is_empty() {
            match file.seek_write(rest, at) {
                Ok(0) => return Err(Error::from(ErrorKind::WriteZero)),
                Ok(count) => {
                    rest = &rest[count..];
                    at += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

//! Takes over standard input and output for the protocol. Afterwards descriptor 0 is the null
//! device and descriptor 1 is standard error, for this process and its children, so no other code
//! can interfere.

use crate::transport::Stream;
use cograph_faults::{Fault, planted};
use cograph_system::streams;
use std::io;

/// Moves descriptors 0 and 1. Must be called once, before any thread starts. The new descriptors
/// are close-on-exec.
pub(crate) fn take() -> io::Result<Stream> {
    let (input, output) = (streams::own_input()?, streams::own_output()?);
    streams::empty_input()?;
    if !planted(Fault::NoFdRedirect) {
        streams::output_to_errors()?;
    }
    Ok(Stream { input: input.into(), output: output.into() })
}

/// Result of a wait for a descriptor, without an interruption: the caller tries again anyway. Only
/// after `EAGAIN`, for descriptors that the client left in non-blocking mode: all bytes read so far
/// are with the dispatcher, so no buffer above this wait holds data.
pub(super) fn waited<T>(result: io::Result<T>) -> io::Result<()> {
    match result {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        Err(error) => Err(error),
    }
}

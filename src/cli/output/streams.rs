//! Results on stdout, diagnostics on stderr.

use crate::output::stop::Stop;
use cograph_server::for_terminal;
use std::io::{self, Write};
use std::io::{BufWriter, StdoutLock};

/// Lets `write` fill stdout, and flushes. A closed pipe is `Stop::Closed`.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where the command line writes its results"
)]
pub(crate) fn to_stdout(
    write: impl FnOnce(&mut BufWriter<StdoutLock<'static>>) -> io::Result<()>,
) -> Result<(), Stop> {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// Prints a diagnostic, escaped. Write errors are ignored.
pub(crate) fn note(message: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", for_terminal(message));
}

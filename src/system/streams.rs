//! Standard streams and pipes to child processes as descriptors, reads with a timeout, and whether
//! the other end is closed.
//!
//! On Unix a descriptor is a file, a pipe, a socket or a terminal alike, and can be polled. On
//! Windows each kind has a type of its own and reads block: a read with a timeout is that of a
//! thread, and a closed end is seen by the write that fails. The standard streams stay where they
//! are there: every child process of this program is started with streams of its own.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
pub use unix::{
    ChildInput, Descriptor, TimedReader, empty_input, input_of, is_abandoned, is_closed_terminal,
    output_to_errors, own_errors, own_input, own_output, read, wait_readable, wait_writable, write,
    write_to_output,
};
#[cfg(not(unix))]
pub use windows::{
    ChildInput, Descriptor, TimedReader, empty_input, input_of, is_abandoned, is_closed_terminal,
    output_to_errors, own_errors, own_input, own_output, read, wait_readable, wait_writable, write,
    write_to_output,
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    /// A process that passes the line of the test on.
    fn echo() -> Command {
        let words: &[&str] = if cfg!(windows) { &["find", "a line"] } else { &["cat"] };
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).stdout(Stdio::piped());
        command
    }

    #[test]
    fn a_read_with_a_timeout_ends_without_input_and_has_what_comes_later() {
        let mut command = echo();
        let (mut child, mut input) = input_of(&mut command).expect("the program exists");
        let mut output = TimedReader::new(child.stdout.take().expect("it is piped"))
            .expect("a thread can be started");
        let mut buffer = [0; 3];
        let short = Duration::from_millis(20);
        assert_eq!(output.read(&mut buffer, short).expect("it is open"), None);
        input.write_all(b"a line\n").expect("it is open");
        drop(input);
        let (mut whole, long) = (Vec::new(), Duration::from_secs(20));
        while let Some(count @ 1..) = output.read(&mut buffer, long).expect("it is open") {
            whole.extend_from_slice(&buffer[..count]);
        }
        assert_eq!(String::from_utf8_lossy(&whole).trim_end(), "a line");
        child.wait().expect("it has ended");
    }

    #[test]
    fn the_input_of_a_process_ends_for_all_its_owners() {
        let mut command = echo();
        let (mut child, mut input) = input_of(&mut command).expect("the program exists");
        let mut other = input.try_clone().expect("it can be shared");
        other.write_all(b"a line\n").expect("it is open");
        other.shutdown(std::net::Shutdown::Write).expect("it is open");
        let mut text = String::new();
        let output = child.stdout.as_mut().expect("it is piped");
        output.read_to_string(&mut text).expect("it is text");
        assert_eq!(text.trim_end(), "a line");
        assert!(input.write_all(b"more\n").is_err(), "nothing is taken after the end");
        child.wait().expect("it has ended");
    }
}

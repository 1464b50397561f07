//! Commands as a shell reads them.

use cograph_query::impact::TestCommand;

/// The words of a command, quoted where they have to be.
pub(super) fn command_line(command: &TestCommand) -> String {
    let words = command.arguments.iter().map(|word| {
        // A word with a NUL cannot be an argument at all.
        shlex::try_quote(word).map_or_else(|_| "''".to_owned(), |quoted| quoted.into_owned())
    });
    words.collect::<Vec<String>>().join(" ")
}

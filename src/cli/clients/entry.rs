//! Entries of this server in the configuration of a client.

/// Name of this server in the configuration.
pub(crate) const NAME: &str = "cograph";

/// Scope of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Scope {
    /// For this user, in all projects
    User,
    /// For everyone who works on this project: the file is in its directory
    Project,
}

/// Member of an entry: name and value.
pub(crate) type Member = (&'static str, Literal);

/// Value of a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Literal {
    True,
    Text(&'static str),
    Texts(&'static [&'static str]),
}

/// Entry of a stdio server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ServerEntry {
    /// Executable.
    pub(crate) command: String,
    /// Arguments.
    pub(crate) arguments: Vec<String>,
}

impl Scope {
    /// Name of a scope.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

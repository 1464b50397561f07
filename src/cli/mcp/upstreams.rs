//! Several upstreams, of the command line or of a file: their names, targets and tokens.

use crate::mcp::target::{AUTO, named};
use crate::output::stop::Stop;
use crate::serve::token;
use cograph_config::{Config, NamedTarget, NamedTargets, User, upstreams};
use cograph_server::{BearerToken, Name, Target};
pub(super) use cograph_server::{Upstreams, run_federated};
use std::path::PathBuf;

/// Names and targets.
pub(crate) fn all(upstreams: &Upstreams) -> impl Iterator<Item = (&Name, &Target)> {
    upstreams.all()
}

/// Upstreams of the command line, each with its name.
pub(super) fn from_arguments(texts: &[String], token_files: &[String]) -> Result<Upstreams, Stop> {
    let split = |text: &String| {
        let (name, target) = named(text)
            .ok_or_else(|| format!("of several upstreams each needs a name: NAME={text}"))?;
        Ok(NamedTarget { name: name.to_owned(), target: target.to_owned(), token_file: None })
    };
    let mut given: NamedTargets =
        texts.iter().map(split).collect::<Result<_, String>>().map_err(Stop::Usage)?;
    for text in token_files {
        let (name, file) = named(text).ok_or_else(|| {
            Stop::Usage(format!("of several upstreams a token needs the name of one: NAME={text}"))
        })?;
        let upstream = given.iter_mut().find(|upstream| upstream.name == name);
        let upstream = upstream.ok_or_else(|| {
            Stop::Usage(format!("--token-file {text}: no upstream is named {name}"))
        })?;
        if upstream.token_file.replace(PathBuf::from(file)).is_some() {
            return Err(Stop::Usage(format!("--token-file: {name} has one already")));
        }
    }
    checked(given).map_err(Stop::Usage)
}

/// Validates names, targets and tokens of upstreams.
pub(crate) fn checked(given: NamedTargets) -> Result<Upstreams, String> {
    Upstreams::new(given.into_iter().map(target_of).collect::<Result<_, String>>()?)
        .map_err(|error| error.to_string())
}

fn target_of(given: NamedTarget) -> Result<(String, Target), String> {
    let NamedTarget { name, target, token_file } = given;
    if target == AUTO {
        return Err(format!("{name}: `{AUTO}` is for one upstream alone; name the socket"));
    }
    let token = token_file.map(|file| {
        let text =
            Config::secret(&file).map_err(|error| format!("{name}: {error}; {}", error.hint()))?;
        BearerToken::new(&text)
            .ok_or_else(|| format!("{name}: {}: {}", file.display(), token::TOO_SHORT))
    });
    let token = token.transpose()?;
    let has_token = token.is_some();
    match Target::parse(&target, token).map_err(|error| error.to_string())? {
        Target::Socket(_) | Target::Command(_) if has_token => {
            Err(format!("{name}: a token is shown to http(s) addresses only"))
        }
        target => Ok((name, target)),
    }
}

/// Upstreams in a file, by default the user's own.
pub(super) fn from_file(file: Option<PathBuf>) -> Result<Upstreams, Stop> {
    let path = file.or_else(|| User::from_environment().upstreams_file());
    let path =
        path.ok_or_else(|| Stop::Usage("--upstreams needs a file: HOME is not set".to_owned()))?;
    let failure = |message: String| Stop::Failure {
        message,
        hint: "docs/runtime.md describes the format of the file".to_owned(),
    };
    let named = upstreams(&path).map_err(|error| failure(error.to_string()))?;
    let named = named.ok_or_else(|| failure(format!("there is no file {}", path.display())))?;
    checked(named).map_err(|why| failure(format!("cannot use {}: {why}", path.display())))
}

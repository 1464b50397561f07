//! `cograph publish` and `cograph pull`: the index of a commit on its way to an object store, and
//! from there to a checkout, which then applies its own differences.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::ask::{TerminalHost, repositories};
use crate::base::root::RootArgument;
use crate::output::numbers::bytes;
use crate::output::stop::Stop;
use crate::output::streams::{note, to_stdout};
use cograph_config::{Config, Repository};
use cograph_history::{self as history, Checkout};
use cograph_index as index;
use cograph_model::cancel::CancelToken;
use cograph_publish::{
    Publication, PublishError, Remote, Retention, Sent, Wanted, find, publish as send,
    pull as receive, retain,
};
use cograph_server as server;
use cograph_store::{Location, depart};

/// Time of waiting for another process that writes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Branches that are tried where references cannot be listed.
const USUAL_BRANCHES: [&str; 2] = ["main", "master"];

/// Digits of a commit in a message.
const SHORT: usize = 12;

/// Arguments of `publish`.
#[derive(Debug, clap::Args)]
pub(crate) struct PublishArguments {
    /// Where to: a directory, or s3://BUCKET/PREFIX with credentials in the environment
    /// (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT)
    #[arg(value_name = "URL")]
    url: String,
    /// Branch of the commit [default: the one that is checked out]
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Keep this number of commits of each branch, and remove what only older ones need
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    keep: Option<u32>,
    #[command(flatten)]
    root: RootArgument,
}

/// Arguments of `pull`.
#[derive(Debug, clap::Args)]
pub(crate) struct PullArguments {
    /// Where from: a directory, s3://BUCKET/PREFIX, or https://HOST/PATH
    #[arg(value_name = "URL")]
    url: String,
    /// Only commits that were published for this branch [default: all branches; where they cannot
    /// be listed the present one, that of the remote repository, main and master]
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    #[command(flatten)]
    root: RootArgument,
}

fn failed(error: &PublishError) -> Stop {
    let message = server::one_line(&error.to_string());
    match error {
        PublishError::Nothing(_) => Stop::NothingFound(format!("{message}; {}", error.hint())),
        PublishError::Address { .. } => Stop::Usage(message),
        _ => Stop::Failure { message, hint: error.hint().to_owned() },
    }
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

fn place(repository: &Repository) -> Location {
    Location::new(&repository.cache, &repository.root).under(repository.rules)
}

/// What is checked out at the root of a repository.
fn checkout(root: &Path) -> Result<Checkout, Stop> {
    let found = history::checkout(root, &CancelToken::new()).map_err(|error| Stop::Failure {
        message: server::one_line(&error.to_string()),
        hint: "an index is published and pulled by commit: run it in a git repository".to_owned(),
    })?;
    if !found.prefix.is_empty() {
        return Err(Stop::Usage(format!(
            "the root is the directory `{}` of a repository: an index is published and pulled of \
             the whole",
            server::one_line(&found.prefix)
        )));
    }
    Ok(found)
}

/// Publishes the index.
pub(crate) fn publish(config: &Config, arguments: &PublishArguments) -> Result<(), Stop> {
    let repository = arguments.root.repository(config)?;
    let remote = Remote::open(&arguments.url, &config.store_variables, true)
        .map_err(|error| failed(&error))?;
    let before = committed(&repository.root)?;
    let branch = arguments.branch.clone().or_else(|| before.branch.clone());
    let branch = branch.ok_or_else(|| {
        Stop::Usage("a commit is checked out by itself: name its branch with --branch".to_owned())
    })?;
    let repositories = repositories(config, repository.root.clone());
    drop(repositories.up_to_date_snapshot(&TerminalHost::new())?);
    drop(repositories);
    let departure = {
        let lock = place(&repository).lock(PATIENCE).map_err(PublishError::from);
        let lock = lock.map_err(|error| failed(&error))?;
        depart(&lock).map_err(|error| failed(&error.into()))?
    };
    // The index was copied between these two comparisons of the files.
    if committed(&repository.root)?.ancestors.first() != before.ancestors.first() {
        return Err(Stop::Failure {
            message: "another commit was checked out meanwhile".to_owned(),
            hint: "publish again".to_owned(),
        });
    }
    let commit = before.ancestors.first().map_or("", String::as_str);
    let publication = Publication { commit, branch: &branch, program: env!("CARGO_PKG_VERSION") };
    let sent = send(&remote, &departure, &publication).map_err(|error| failed(&error))?;
    let Sent { new_pieces, pieces, stored, store, .. } = sent;
    let commit = short(commit);
    let branch = server::one_line(&branch);
    to_stdout(|out| {
        writeln!(
            out,
            "published {commit} on {branch}: {} sent, {new_pieces} of {pieces} pieces are new; {} \
             to pull, an index of {}",
            bytes(sent.bytes),
            bytes(stored),
            bytes(store)
        )
    })?;
    if let Some(commits) = arguments.keep {
        let removed = retain(&remote, &Retention::of(commits as usize));
        let removed = removed.map_err(|error| failed(&error))?;
        if removed.manifests + removed.pieces > 0 {
            let (manifests, pieces) = (removed.manifests, removed.pieces);
            note(&format!("note: {manifests} manifests and {pieces} pieces were removed"));
        }
    }
    Ok(())
}

/// What is checked out, if the files are those of the commit.
fn committed(root: &Path) -> Result<Checkout, Stop> {
    let found = checkout(root)?;
    match &found.changed {
        None => Ok(found),
        Some(changed) => Err(Stop::Failure {
            message: format!(
                "`{}` is not as in the commit: its content would be published",
                server::one_line(changed)
            ),
            hint: "commit the changes, remove them, or ignore the file".to_owned(),
        }),
    }
}

/// Pulls an index.
pub(crate) fn pull(config: &Config, arguments: &PullArguments) -> Result<(), Stop> {
    let repository = arguments.root.repository(config)?;
    let checkout = checkout(&repository.root)?;
    let remote = Remote::open(&arguments.url, &config.store_variables, false)
        .map_err(|error| failed(&error))?;
    let location = place(&repository);
    let fingerprint = index::fingerprint(&config.limits, location.directory());
    let mut branches: Vec<String> = match &arguments.branch {
        Some(branch) => vec![branch.clone()],
        None => checkout.branch.iter().chain(&checkout.default_branch).cloned().collect(),
    };
    if arguments.branch.is_none() {
        branches.extend(USUAL_BRANCHES.map(str::to_owned));
    }
    let mut seen = std::collections::BTreeSet::new();
    branches.retain(|branch| seen.insert(branch.clone()));
    let wanted = Wanted {
        ancestors: &checkout.ancestors,
        branches: &branches,
        only_these: arguments.branch.is_some(),
        fingerprint,
    };
    let found = find(&remote, &wanted).map_err(|error| failed(&error))?;
    let lock = location.lock(PATIENCE).map_err(PublishError::from);
    let lock = lock.map_err(|error| failed(&error))?;
    let pulled = receive(&remote, &found, fingerprint, &lock).map_err(|error| failed(&error))?;
    drop(lock);
    for dropped in index::enforce_quota(&location, &config.limits) {
        let root = server::one_line(&dropped.root.to_string_lossy());
        note(&format!("note: the index of {root} was removed to make room"));
    }
    let behind = match found.behind {
        0 => "the commit that is checked out".to_owned(),
        1 => "1 commit before the one that is checked out".to_owned(),
        many => format!("{many} commits before the one that is checked out"),
    };
    to_stdout(|out| {
        writeln!(
            out,
            "pulled {}, {behind}: {} in {} pieces, an index of {}",
            short(&found.commit),
            bytes(pulled.bytes),
            pulled.pieces,
            bytes(pulled.store)
        )
    })?;
    // What differs here is an ordinary change.
    repositories(config, repository.root).up_to_date_snapshot(&TerminalHost::new())?;
    Ok(())
}

//! What the process does with repositories, for `status`: open stores, index runs, watches,
//! failures and removed stores.

use super::Repositories;
use super::progress::{about_to_start, failed, report};
use super::progress::{directory_name, name_of};
use crate::base::escape::SafeLine;
use crate::workspace::metrics::Activity;
use cograph_index::JobState;
use cograph_store::Pool;

impl Repositories {
    /// Stores and index runs of this process.
    pub(crate) fn activity(&self) -> Activity {
        let stores = self
            .shared
            .pool
            .get()
            .and_then(|pool| pool.as_ref().ok())
            .map(Pool::counts)
            .unwrap_or_default();
        let runs = self.shared.jobs.current().into_iter().filter_map(|job| {
            let progress = match job.state() {
                JobState::Running(progress) => report(progress),
                JobState::Queued => about_to_start(),
                JobState::Done(_) => return None,
            };
            Some((name_of(&job), progress))
        });
        let watches = self.shared.watches.all().into_iter().map(|(location, watched)| {
            let watched = match watched {
                Ok(directories) => format!("{directories} directories watched"),
                Err(reason) => {
                    format!(
                        "not watched, all files are compared for every question: {}",
                        SafeLine::new(&reason, 300)
                    )
                }
            };
            (directory_name(&location), watched)
        });
        let dropped = self.shared.jobs.dropped().into_iter().map(|dropped| {
            let name = dropped.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (
                SafeLine::new(&name, 80).to_string(),
                "removed to make room; built again for the next question".to_owned(),
            )
        });
        let failures = self.shared.jobs.failures().into_iter().map(|failure| {
            let reason = failed(&failure.error, Some(&failure));
            let reason = SafeLine::new(&reason, 300).to_string();
            (directory_name(failure.location()), format!("not indexed: {reason}"))
        });
        let repositories = failures.chain(watches).chain(dropped).collect();
        Activity { stores, runs: runs.collect(), repositories }
    }
}

//! Hooks in the settings of a client: added on request, removed with the server.

use std::io::Write;
use std::path::Path;

use super::config_file::ConfigFile;
use crate::clients::Client;
use crate::clients::entry::Scope;
use crate::clients::hooks::{HookFile, own_hooks};
use crate::install::config_file::diff;
use crate::output::numbers::shown;
use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::User;
use cograph_server::for_terminal;

/// Settings of a client with a place for hooks.
pub(super) struct HookSettings {
    client: &'static Client,
    hooks: &'static HookFile,
    scope: Scope,
    place: ConfigFile,
    dry_run: bool,
}

impl HookSettings {
    /// Reads the settings; none if hooks of the client are not supported.
    pub(super) fn read(
        client: &'static Client,
        scope: Scope,
        user: &User,
        directory: &Path,
        dry_run: bool,
    ) -> Result<Option<Self>, Stop> {
        let Some(hooks) = client.hooks else { return Ok(None) };
        let Some(path) = hooks.file(scope, user, directory) else { return Ok(None) };
        let within = (scope == Scope::Project).then_some(directory);
        let place = ConfigFile::read(&path, within)?;
        Ok(Some(Self { client, hooks, scope, place, dry_run }))
    }

    /// Adds the hooks, which run this program.
    pub(super) fn install(&self, program: &str) -> Result<(), Stop> {
        let before = self.place.text();
        let wanted = self.hooks.with(before, program).map_err(|why| self.unusable(&why))?;
        if wanted == before {
            return self.print("nothing to do: the hooks are there already");
        }
        if self.dry_run {
            return self.print(&format!("{}nothing was written", diff(before, &wanted)));
        }
        let copy = self.place.keep(&wanted)?;
        self.place.write(&wanted)?;
        let kept =
            copy.map_or(String::new(), |copy| format!("; what was there before: {}", shown(&copy)));
        self.print(&format!(
            "{}hooks installed{kept}\nnext: {}",
            diff(before, &wanted),
            self.hooks.next
        ))
    }

    /// Removes the hooks. Prints nothing if there are none.
    pub(super) fn uninstall(&self) -> Result<(), Stop> {
        let before = self.place.text();
        if own_hooks(before).map_err(|why| self.unusable(&why))?.is_empty() {
            return Ok(());
        }
        let original = self.place.original(before, |text| Some(!own_hooks(text).ok()?.is_empty()));
        let is_last = original.is_none() && self.hooks.has_only_own(before);
        let after = match &original {
            Some((_, text)) => text.clone(),
            None if is_last => String::new(),
            None => self.hooks.without(before).map_err(|why| self.unusable(&why))?,
        };
        let change = diff(before, &after);
        if self.dry_run {
            let what = if is_last { "the file would be removed; " } else { "" };
            return self.print(&format!("{change}{what}nothing was written"));
        }
        if is_last {
            self.place.remove()?;
            return self.print(&format!(
                "{change}hooks uninstalled; the file had nothing else and was removed"
            ));
        }
        self.place.write(&after)?;
        if let Some((copies, _)) = original {
            for copy in copies {
                // Best effort: the file is unchanged, so a remaining backup has the same contents.
                let _ = std::fs::remove_file(copy);
            }
        }
        self.print(&format!("{change}hooks uninstalled"))
    }

    fn unusable(&self, why: &str) -> Stop {
        Stop::Failure {
            message: format!("cannot change {}: {why}", shown(self.place.path())),
            hint: "correct the file and run this again; it is as it was".to_owned(),
        }
    }

    fn print(&self, message: &str) -> Result<(), Stop> {
        let (title, scope) = (self.client.title, self.scope.word());
        to_stdout(|out| {
            writeln!(
                out,
                "{title} hooks, {scope} scope: {}\n{}",
                shown(self.place.path()),
                for_terminal(message)
            )
        })
    }
}

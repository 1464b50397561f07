//! The baseline: what was found when it was written and is not new. It only gets shorter.

use std::collections::BTreeMap;
use std::path::Path;

use super::finding::Finding;
use super::rules_file::MOST_BYTES;
use crate::output::stop::Stop;
use cograph_config::FileRules;
use cograph_server as server;
use serde_json::{Value, json};

/// Where it is, below the root, unless an argument says otherwise.
pub(super) const BASELINE: &str = ".cograph/baseline.json";

const VERSION: u64 = 1;

/// Known findings by their key, with the value of those that have one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Baseline(BTreeMap<String, Option<u32>>);

/// Entry that is to be taken out or lowered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Outdated {
    pub(super) key: String,
    /// Value in the file and now, if it is only lower.
    pub(super) lower: Option<(u32, u32)>,
}

impl Baseline {
    /// Reads a file; none if there is none.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, Stop> {
        let at = |problem: &str| {
            Stop::Usage(server::one_line(&format!("{}: {problem}", path.display())))
        };
        let text = FileRules::settings(MOST_BYTES).read(path);
        match text.map_err(|error| at(&error.to_string()))? {
            None => Ok(None),
            Some(text) => Self::parse(&text).map(Some).map_err(|error| at(&error)),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if value["version"].as_u64() != Some(VERSION) {
            return Err(format!("it is no baseline of version {VERSION}"));
        }
        let entries = value["entries"].as_array().ok_or("`entries` must be a list")?;
        let mut known = BTreeMap::new();
        for (place, entry) in entries.iter().enumerate() {
            let key = entry["key"].as_str();
            let number = match &entry["value"] {
                Value::Null => Some(None),
                number => number.as_u64().and_then(|number| u32::try_from(number).ok()).map(Some),
            };
            let (Some(key), Some(number)) = (key, number) else {
                return Err(format!("entries[{place}] must have a `key`, and a number as `value`"));
            };
            known.insert(key.to_owned(), number);
        }
        Ok(Self(known))
    }

    /// All findings.
    pub(super) fn of(findings: &[Finding]) -> Self {
        Self(findings.iter().map(|one| (one.key.clone(), one.value)).collect())
    }

    /// True for a finding that is known, and not greater than it was.
    pub(super) fn knows(&self, finding: &Finding) -> bool {
        self.0.get(&finding.key).is_some_and(|known| finding.value <= *known)
    }

    /// What is to be taken out or lowered.
    pub(super) fn outdated(&self, findings: &[Finding]) -> Vec<Outdated> {
        let now = Self::of(findings);
        let judged = self.0.iter().filter_map(|(key, known)| {
            let lower = match (now.0.get(key), known) {
                (None, _) => None,
                (Some(Some(value)), Some(known)) if value < known => Some((*known, *value)),
                (Some(_), _) => return None,
            };
            Some(Outdated { key: key.clone(), lower })
        });
        judged.collect()
    }

    /// The same without what is gone, and with the lower values.
    pub(super) fn lowered(&self, findings: &[Finding]) -> Self {
        let now = Self::of(findings);
        let kept = self.0.iter().filter_map(|(key, known)| {
            let value = now.0.get(key)?;
            Some((key.clone(), if known.is_some() { (*known).min(*value) } else { None }))
        });
        Self(kept.collect())
    }

    /// Text of the file: an entry a line.
    pub(super) fn text(&self) -> String {
        let entry = |(key, value): (&String, &Option<u32>)| match value {
            Some(value) => json!({"key": key, "value": value}).to_string(),
            None => json!({"key": key}).to_string(),
        };
        let entries: Vec<String> = self.0.iter().map(entry).collect();
        format!("{{\"version\": {VERSION}, \"entries\": [\n{}\n]}}\n", entries.join(",\n"))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Kind;
    use super::*;

    fn finding(key: &str, value: Option<u32>) -> Finding {
        Finding { kind: Kind::Unused, key: key.into(), value, ..Finding::default() }
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let baseline = Baseline::of(&[finding("b \"1\"", None), finding("a", Some(7))]);
        assert_eq!(Baseline::parse(&baseline.text()), Ok(baseline.clone()));
        assert_eq!(baseline.text().lines().count(), 4);
        assert_eq!(Baseline::parse(&Baseline::default().text()), Ok(Baseline::default()));
    }

    #[test]
    fn it_only_gets_shorter_and_lower() {
        let known = Baseline::of(&[finding("a", Some(7)), finding("b", None), finding("c", None)]);
        let now = [finding("a", Some(6)), finding("c", None), finding("new", None)];
        let outdated = known.outdated(&now);
        assert_eq!(outdated.len(), 2);
        assert_eq!((outdated[0].key.as_str(), outdated[0].lower), ("a", Some((7, 6))));
        assert_eq!((outdated[1].key.as_str(), outdated[1].lower), ("b", None));
        assert_eq!(known.lowered(&now), Baseline::of(&[finding("a", Some(6)), finding("c", None)]));
        let risen = [finding("a", Some(8)), finding("b", None), finding("c", None)];
        assert_eq!((known.lowered(&risen), known.outdated(&risen)), (known.clone(), Vec::new()));
        assert!(known.knows(&finding("a", Some(7))) && !known.knows(&finding("a", Some(8))));
        assert!(known.knows(&finding("b", None)) && !known.knows(&finding("new", None)));
    }

    #[test]
    fn what_is_no_baseline_is_refused() {
        for (text, expected) in [
            ("{", "EOF"),
            ("{\"version\": 2, \"entries\": []}", "version 1"),
            ("{\"version\": 1}", "`entries` must be a list"),
            ("{\"version\": 1, \"entries\": [{\"value\": 1}]}", "entries[0] must have a `key`"),
            ("{\"version\": 1, \"entries\": [{\"key\": \"a\", \"value\": -1}]}", "entries[0]"),
        ] {
            let error = Baseline::parse(text).expect_err(text);
            assert!(error.contains(expected), "{error}");
        }
    }
}

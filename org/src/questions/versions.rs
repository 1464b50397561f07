//! Which versions of a package are in use, by how many repositories, and by which.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use datafusion::logical_expr::lit;
use datafusion::prelude::col;
use serde_json::{Value, json};

use super::Answer;
use super::rows::{Rows, batches};
use super::text::{count, state};
use crate::escape::escaped;
use crate::session::{Failed, Tables};

/// Maximum number of rows of one package.
const MAX_USES: usize = 1_000_000;

/// The question.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) package: String,
    /// Repositories to name, of all versions together.
    pub(crate) rows: usize,
}

/// Version, and the repositories that use it; empty if none is stated.
type Versions = Vec<(String, Vec<String>)>;

/// Repositories that define a package, and those that use it by version.
type Uses = (Vec<String>, BTreeMap<String, Vec<String>>);

/// Package of one manager.
struct Package {
    manager: String,
    owners: Vec<String>,
    versions: Versions,
}

pub(crate) async fn answer(question: Question, tables: Tables) -> Result<Answer, Failed> {
    let columns = ["manager", "version", "role", "repository"].map(col);
    let order = columns.iter().map(|column| column.clone().sort(true, false)).collect();
    let frame = tables.context.table("packages").await?;
    let frame = frame.filter(col("name").eq(lit(question.package.as_str())))?;
    let frame = frame.select(columns)?.sort(order)?.limit(0, Some(MAX_USES + 1))?;
    let mut managers: BTreeMap<String, Uses> = BTreeMap::new();
    for batch in batches(frame, MAX_USES, &question.package).await? {
        let rows = Rows(&batch);
        for row in 0..batch.num_rows() {
            let (owners, versions) = managers.entry(rows.text(0, row)?.to_owned()).or_default();
            let repository = rows.text(3, row)?.to_owned();
            if rows.text(2, row)? == "own" {
                owners.push(repository);
            } else {
                versions.entry(rows.text(1, row)?.to_owned()).or_default().push(repository);
            }
        }
    }
    let packages = managers.into_iter().map(|(manager, (mut owners, versions))| {
        owners.dedup();
        let mut versions: Versions = versions.into_iter().collect();
        for (_, repositories) in &mut versions {
            repositories.dedup();
        }
        versions.sort_by(|left, right| compare(&right.0, &left.0));
        Package { manager, owners, versions }
    });
    let packages: Vec<Package> = packages.collect();
    let compacted = tables.compacted.as_deref();
    Ok(Answer {
        text: text(&question, &packages) + &state(compacted),
        json: as_json(&question, &packages, compacted),
    })
}

/// Order of versions: numbers by their value, and a release after what precedes it.
fn compare(left: &str, right: &str) -> Ordering {
    let parts = |version: &str| -> Vec<(bool, u64, String)> {
        let mut parts = Vec::new();
        let version = version.strip_prefix('v').unwrap_or(version);
        for part in version.split(|c: char| !c.is_ascii_alphanumeric()).filter(|p| !p.is_empty()) {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = part.split_at(digits);
            if digits > 0 {
                parts.push((true, number.parse().unwrap_or(u64::MAX), String::new()));
            }
            if !rest.is_empty() {
                parts.push((false, 0, rest.to_owned()));
            }
        }
        // The end is after a word and before a number.
        parts.push((true, 0, String::new()));
        parts
    };
    parts(left).cmp(&parts(right)).then_with(|| left.cmp(right))
}

fn text(question: &Question, packages: &[Package]) -> String {
    let name = escaped(&question.package);
    if packages.is_empty() {
        return format!("no repository has or uses a package `{name}`\n");
    }
    let (mut text, mut left) = (String::new(), question.rows);
    for Package { manager, owners, versions } in packages {
        let uses: usize = versions.iter().map(|(_, users)| users.len()).sum();
        let (uses, number) = (count(uses, "use"), count(versions.len(), "version"));
        text += &format!("{name} ({}): {uses} of {number}\n", escaped(manager));
        if !owners.is_empty() {
            text += &format!("  defined in {}\n", listed(owners, &mut left));
        }
        for (version, users) in versions {
            let version = if version.is_empty() { "no version" } else { version };
            let number = count(users.len(), "repository");
            text += &format!("  {}  {number}: {}\n", escaped(version), listed(users, &mut left));
        }
    }
    text
}

/// Names as far as they may be listed.
fn listed(repositories: &[String], left: &mut usize) -> String {
    let shown = repositories.len().min(*left);
    *left -= shown;
    let names = repositories[..shown].iter().map(|name| escaped(name).into_owned());
    let mut text = names.collect::<Vec<_>>().join(", ");
    if shown < repositories.len() {
        text += if shown > 0 { ", … " } else { "… " };
        text += &format!("{} more", repositories.len() - shown);
    }
    text
}

fn as_json(question: &Question, packages: &[Package], compacted: Option<&str>) -> Value {
    let mut left = question.rows;
    let mut some = |repositories: &[String]| {
        let shown = repositories.len().min(left);
        left -= shown;
        repositories[..shown].to_vec()
    };
    let mut all = Vec::new();
    for Package { manager, owners, versions } in packages {
        let owners = some(owners);
        let mut listed = Vec::new();
        for (version, users) in versions {
            let version = Some(version).filter(|version| !version.is_empty());
            let names = some(users);
            let more = users.len() - names.len();
            listed.push(json!({
                "version": version, "repositories": users.len(), "names": names, "more": more,
            }));
        }
        all.push(json!({"manager": manager, "defined_in": owners, "versions": listed}));
    }
    json!({"package": question.package, "compacted": compacted, "managers": all})
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn versions_have_an_order() {
        let mut versions = ["2.10.0", "2.9.1", "v2.11", "", "2.10.0rc1", "1", "2.10.0.1"];
        versions.sort_by(|left, right| compare(left, right));
        assert_eq!(versions, ["", "1", "2.9.1", "2.10.0rc1", "2.10.0", "2.10.0.1", "v2.11"]);
    }
}

//! Who calls it: by repository, with the place, the caller and the version in use.

use datafusion::logical_expr::{Expr, SortExpr, lit};
use datafusion::prelude::{DataFrame, col};
use serde_json::{Value, json};

use super::Answer;
use super::callees::{CalleeUses, Counting};
use super::rows::{Rows, batches};
use super::text::{count, state};
use super::wanted::Wanted;
use crate::escape::escaped;
use crate::schema::{CALLEES, CALLERS};
use crate::session::{Failed, Tables};
use crate::symbol::{self, plain, qualified};

/// Maximum number of callees and versions of one name.
const MAX_CALLEES: usize = 200_000;
/// Maximum number of callees that an answer lists.
const MAX_LISTED: usize = 20;
/// Maximum number of versions that an answer lists for each.
const MAX_VERSIONS: usize = 12;

/// The question.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) name: String,
    pub(crate) package: Option<String>,
    pub(crate) rows: usize,
}

/// A call.
struct Call {
    callee: [String; 3],
    repository: String,
    path: String,
    line: i64,
    version: String,
    caller: Option<String>,
    verdict: String,
}

pub(crate) async fn answer(question: Question, tables: Tables) -> Result<Answer, Failed> {
    let wanted = Wanted::new(&question.name, question.package.as_deref())?;
    let mut found = callees(&wanted, &tables).await?;
    let named = found.len();
    found.retain(|one| wanted.matches(&one.callee));
    if let Some(version) = &wanted.version {
        found.retain(|one| one.versions.contains_key(version));
    }
    found.sort_by(|left, right| {
        (right.all.repositories, right.all.calls)
            .cmp(&(left.all.repositories, left.all.calls))
            .then_with(|| left.callee.cmp(&right.callee))
    });
    let total: u64 = found.iter().map(|one| calls_of(one, &wanted)).sum();
    let calls = if found.is_empty() {
        Vec::new()
    } else {
        calls(&question, &wanted, &found, named, &tables).await?
    };
    let more = usize::try_from(total).unwrap_or(usize::MAX).saturating_sub(calls.len());
    let compacted = tables.compacted.as_deref();
    Ok(Answer {
        text: text(&question, &found, &calls, more, compacted),
        json: as_json(&question, &found, &calls, total, more, compacted),
    })
}

fn calls_of(one: &CalleeUses, wanted: &Wanted) -> u64 {
    match &wanted.version {
        Some(version) => one.versions.get(version).map_or(0, |uses| uses.calls),
        None => one.all.calls,
    }
}

/// Callees of the name, in order.
async fn callees(wanted: &Wanted, tables: &Tables) -> Result<Vec<CalleeUses>, Failed> {
    let context = &tables.context;
    let of_name = |frame: DataFrame| {
        let frame = frame.filter(col("name").eq(lit(wanted.name.as_str())))?;
        match &wanted.package {
            Some(package) => frame.filter(col("package").eq(lit(package.as_str()))),
            None => Ok(frame),
        }
    };
    let mut found = Vec::new();
    if tables.compacted.is_some() {
        let frame = of_name(context.table(CALLEES.name).await?)?.limit(0, Some(MAX_CALLEES + 1))?;
        for batch in batches(frame, MAX_CALLEES, &wanted.name).await? {
            let rows = Rows(&batch);
            for row in 0..batch.num_rows() {
                let mut texts = Vec::new();
                for column in 0..5 {
                    texts.push(rows.text(column, row)?.to_owned());
                }
                let [name, manager, package, descriptors, version] =
                    texts.try_into().unwrap_or_default();
                let callee = super::callees::Callee { name, manager, package, descriptors };
                let is_same = |last: &CalleeUses| last.callee == callee;
                if !found.last().is_some_and(is_same) {
                    let all = rows.uses(7, row)?;
                    found.push(CalleeUses { callee, all, ..CalleeUses::default() });
                }
                if let Some(last) = found.last_mut() {
                    last.versions.insert(version, rows.uses(5, row)?);
                }
            }
        }
        return Ok(found);
    }
    let keys = ["name", "manager", "package", "descriptors", "repository", "version"].map(col);
    let count = datafusion::functions_aggregate::expr_fn::count(lit(1_i64)).alias("calls");
    let frame = of_name(context.table(CALLERS.name).await?)?
        .aggregate(keys.to_vec(), vec![count])?
        .sort(keys.iter().map(ascending).collect())?
        .limit(0, Some(MAX_CALLEES + 1))?;
    let mut counting = Counting::default();
    for batch in batches(frame, MAX_CALLEES, &wanted.name).await? {
        let rows = Rows(&batch);
        for row in 0..batch.num_rows() {
            let callee =
                [rows.text(0, row)?, rows.text(1, row)?, rows.text(2, row)?, rows.text(3, row)?];
            let calls = u64::try_from(rows.number(6, row)?).unwrap_or_default();
            found.extend(counting.add(callee, rows.text(4, row)?, rows.text(5, row)?, calls));
        }
    }
    found.extend(counting.finish());
    Ok(found)
}

fn ascending(column: &Expr) -> SortExpr {
    column.clone().sort(true, false)
}

/// The first calls, those of the callees that most repositories use.
async fn calls(
    question: &Question,
    wanted: &Wanted,
    found: &[CalleeUses],
    named: usize,
    tables: &Tables,
) -> Result<Vec<Call>, Failed> {
    let mut frame = tables.context.table(CALLERS.name).await?;
    frame = frame.filter(col("name").eq(lit(wanted.name.as_str())))?;
    if let Some(package) = &wanted.package {
        frame = frame.filter(col("package").eq(lit(package.as_str())))?;
    }
    let mut enough = 0;
    let shown = found.iter().take(MAX_LISTED).take_while(|one| {
        let is_needed = enough < question.rows as u64;
        enough += calls_of(one, wanted);
        is_needed
    });
    let shown: Vec<_> = shown.collect();
    if shown.len() < named {
        let of = |one: &&CalleeUses| {
            let callee = &one.callee;
            col("descriptors")
                .eq(lit(callee.descriptors.as_str()))
                .and(col("package").eq(lit(callee.package.as_str())))
                .and(col("manager").eq(lit(callee.manager.as_str())))
        };
        if let Some(any) = shown.iter().map(of).reduce(Expr::or) {
            frame = frame.filter(any)?;
        }
    }
    if let Some(version) = &wanted.version {
        frame = frame.filter(col("version").eq(lit(version.as_str())))?;
    }
    let order = CALLERS.order.iter().map(|name| ascending(&col(*name))).collect();
    let frame = frame.sort(order)?.limit(0, Some(question.rows))?;
    let mut calls = Vec::new();
    for batch in batches(frame, question.rows, &wanted.name).await? {
        let rows = Rows(&batch);
        for row in 0..batch.num_rows() {
            let text = |column| rows.text(column, row).map(str::to_owned);
            calls.push(Call {
                callee: [text(1)?, text(2)?, text(3)?],
                repository: text(4)?,
                path: text(5)?,
                line: rows.number(6, row)?,
                version: text(7)?,
                caller: rows.optional(8, row)?.map(str::to_owned),
                verdict: text(9)?,
            });
        }
    }
    Ok(calls)
}

/// A version as it is shown.
fn shown_version(version: &str) -> String {
    let version = plain(version);
    if version.is_empty() { "no version".to_owned() } else { version }
}

fn versions_text(one: &CalleeUses) -> String {
    let mut versions: Vec<_> = one.versions.iter().collect();
    versions.sort_by_key(|version| std::cmp::Reverse(version.1.repositories));
    let listed = versions.iter().take(MAX_VERSIONS);
    let listed =
        listed.map(|(version, uses)| format!("{} ({})", shown_version(version), uses.repositories));
    let mut text = listed.collect::<Vec<_>>().join(", ");
    if let Some(more) = versions.len().checked_sub(MAX_VERSIONS).filter(|more| *more > 0) {
        text += &format!(" and {}", count(more, "other"));
    }
    text
}

fn text(
    question: &Question,
    found: &[CalleeUses],
    calls: &[Call],
    more: usize,
    compacted: Option<&str>,
) -> String {
    let mut text = String::new();
    if found.is_empty() {
        let package = question.package.as_deref();
        let of = package.map_or_else(String::new, |package| format!(" of `{}`", escaped(package)));
        text = format!("no calls of `{}`{of}\n", escaped(&question.name));
        return text + &state(compacted);
    }
    for one in found.iter().take(MAX_LISTED) {
        let name = qualified(&one.callee.package, &one.callee.descriptors);
        let calls = count(usize::try_from(one.all.calls).unwrap_or(usize::MAX), "call");
        let repositories = usize::try_from(one.all.repositories).unwrap_or(usize::MAX);
        let repositories = count(repositories, "repository");
        let versions = versions_text(one);
        text += &escaped(&format!("{name}: {calls} in {repositories}; at {versions}"));
        text.push('\n');
    }
    if let Some(other) = found.len().checked_sub(MAX_LISTED).filter(|other| *other > 0) {
        text += &format!(
            "… {} of that name: add the package or a longer name\n",
            count(other, "more callee")
        );
    }
    let mut group = None;
    for call in calls {
        let here = (&call.repository, &call.callee, &call.version);
        if group != Some(here) {
            group = Some(here);
            let [_, package, descriptors] = &call.callee;
            let name =
                if found.len() > 1 { qualified(package, descriptors) } else { plain(package) };
            let version = shown_version(&call.version);
            let head = format!("{}  {name} {version}", call.repository);
            text += &format!("\n{}\n", escaped(head.trim_end()));
        }
        let caller = call.caller.as_deref().and_then(symbol::own_name).unwrap_or_default();
        let verdict = match call.verdict.as_str() {
            "likely" => " (likely)",
            _ => "",
        };
        let line = format!("{}:{}  {caller}", call.path, call.line);
        text += &format!("  {}{verdict}\n", escaped(line.trim_end()));
    }
    if more > 0 {
        text += &format!("\n… {}: --limit or `limit` shows more\n", count(more, "more call"));
    }
    text + &state(compacted)
}

fn as_json(
    question: &Question,
    found: &[CalleeUses],
    calls: &[Call],
    total: u64,
    more: usize,
    compacted: Option<&str>,
) -> Value {
    let callees = found.iter().take(MAX_LISTED).map(|one| {
        let callee = &one.callee;
        let versions = one.versions.iter().map(|(version, uses)| {
            let version = Some(plain(version)).filter(|version| !version.is_empty());
            json!({"version": version, "calls": uses.calls, "repositories": uses.repositories})
        });
        json!({
            "name": qualified(&callee.package, &callee.descriptors),
            "manager": plain(&callee.manager),
            "package": plain(&callee.package),
            "descriptors": callee.descriptors,
            "calls": one.all.calls,
            "repositories": one.all.repositories,
            "versions": versions.collect::<Vec<_>>(),
        })
    });
    let calls = calls.iter().map(|call| {
        let [manager, package, descriptors] = &call.callee;
        let version = Some(plain(&call.version)).filter(|version| !version.is_empty());
        json!({
            "repository": call.repository,
            "path": call.path,
            "line": call.line,
            "caller": call.caller,
            "callee": format!("cograph {manager} {package} {} {descriptors}", call.version),
            "package": plain(package),
            "version": version,
            "verdict": call.verdict,
        })
    });
    json!({
        "name": question.name,
        "compacted": compacted,
        "callees": callees.collect::<Vec<_>>(),
        "more_callees": found.len().saturating_sub(MAX_LISTED),
        "total": total,
        "calls": calls.collect::<Vec<_>>(),
        "more": more,
    })
}

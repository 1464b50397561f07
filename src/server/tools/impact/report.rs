//! Forms of an answer for reviews and continuous integration, made from its JSON, so that they are
//! the same whichever process answered.

mod items;
mod markdown;
mod sarif;

pub use sarif::address as relative_reference;
use serde_json::Value;

/// What an answer says about breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing breaks, and nothing is left open.
    Fits,
    /// Something certainly or likely breaks.
    Breaks,
    /// Nothing that is known breaks, and not everything is known.
    Unknown,
}

/// Form of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportForm {
    /// Markdown, for a comment in a review.
    Markdown,
    /// SARIF 2.1.0, for the annotations of a code host.
    Sarif,
}

/// What the JSON of an answer of `impact` says about breaks.
pub fn verdict(json: &str) -> Verdict {
    let Ok(answer) = serde_json::from_str::<Value>(json) else { return Verdict::Unknown };
    let is_sure = |found: &Value| found["certainty"] == "certain" || found["certainty"] == "likely";
    let is_current = answer["index"]["up_to_date"] == true;
    match (answer["breaks"].as_array(), answer["unjudged"].as_array()) {
        (Some(breaks), _) if breaks.iter().any(is_sure) => Verdict::Breaks,
        (Some(_), Some(open)) if open.is_empty() && is_current => Verdict::Fits,
        _ => Verdict::Unknown,
    }
}

/// The JSON of an answer of `impact` in another form; none if it is no such answer.
pub fn report(json: &str, form: ReportForm) -> Option<String> {
    let answer: Value = serde_json::from_str(json).ok()?;
    answer["breaks"].as_array()?;
    Some(match form {
        ReportForm::Markdown => markdown::markdown(&answer),
        ReportForm::Sarif => sarif::sarif(&answer).to_string(),
    })
}

//! `completion/complete`: a prompt argument or a template variable. Parses the request only; the
//! answer needs the index and comes from the tool `complete`.

use super::prompts;
use super::resources::{TEMPLATES, is_listed};
use crate::base::escape::SafeLine;
use crate::tools::arguments::complete;
use cograph_query::complete::Wanted;
use serde_json::{Map, Value};

/// What is to be completed.
#[derive(Debug)]
pub(super) enum Subject {
    /// An indexed name: the arguments of `complete`.
    Name(Map<String, Value>),
    /// Free text: no completions.
    Anything,
}

/// Parses the parameters of `completion/complete`.
pub(super) fn subject(params: &Map<String, Value>) -> Result<Subject, String> {
    let text = |member: &str, name: &str| {
        params.get(member).and_then(|object| object.get(name)).and_then(Value::as_str)
    };
    let argument = text("argument", "name").ok_or("`argument.name` must be a string")?;
    let typed = text("argument", "value").ok_or("`argument.value` must be a string")?;
    let wanted = match text("ref", "type") {
        Some("ref/prompt") => {
            let name = text("ref", "name").ok_or("`ref.name` must be the name of a prompt")?;
            let prompt = prompts::prompt(name)?;
            let all = prompt.arguments.iter().map(|argument| (argument.name, argument.wanted));
            choose(argument, &all.collect::<Vec<_>>())?
        }
        Some("ref/resource") => {
            let address =
                text("ref", "uri").ok_or("`ref.uri` must be the address of a template")?;
            match TEMPLATES.iter().find(|template| template.address() == address) {
                Some(template) => choose(argument, &[(template.variable, Some(template.wanted))])?,
                None if is_listed(address) => choose(argument, &[])?,
                None => {
                    let all: Vec<String> =
                        TEMPLATES.iter().map(|template| template.address()).collect();
                    return Err(format!(
                        "unknown template `{}`; the templates are: {}",
                        SafeLine::new(address, 80),
                        all.join(", ")
                    ));
                }
            }
        }
        _ => return Err("`ref.type` must be ref/prompt or ref/resource".to_owned()),
    };
    let Some(wanted) = wanted else { return Ok(Subject::Anything) };
    let word = match wanted {
        Wanted::Symbol => complete::SYMBOL,
        Wanted::Path => complete::PATH,
    };
    let mut arguments = Map::from_iter([("wanted".to_owned(), Value::from(word))]);
    if !typed.trim().is_empty() {
        arguments.insert("typed".to_owned(), Value::from(typed));
    }
    Ok(Subject::Name(arguments))
}

fn choose(argument: &str, all: &[(&str, Option<Wanted>)]) -> Result<Option<Wanted>, String> {
    let found = all.iter().find(|(name, _)| *name == argument).map(|(_, wanted)| *wanted);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        format!("there is no argument `{}`; there are: {names}", SafeLine::new(argument, 80))
    })
}

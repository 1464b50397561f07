//! What a question about callers names: a symbol of SCIP, or a name with some of what it is in.

use crate::error::{OrgError, Result};
use crate::questions::callees::Callee;
use crate::symbol::{parse, qualified};

/// Callees that are asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    /// Name of the last descriptor.
    pub(crate) name: String,
    /// As in symbols.
    pub(crate) package: Option<String>,
    pub(crate) version: Option<String>,
    exact: Option<Callee>,
    /// Qualified name with points, if it has more than one part.
    suffix: Option<String>,
}

impl Wanted {
    pub(crate) fn new(text: &str, package: Option<&str>) -> Result<Self> {
        let package = package.map(|name| name.replace(' ', "  "));
        if let Some(symbol) = parse(text) {
            let exact = Callee {
                name: symbol.name.clone(),
                manager: symbol.manager.to_owned(),
                package: symbol.package.to_owned(),
                descriptors: symbol.descriptors.to_owned(),
            };
            let version = (symbol.version != ".").then(|| symbol.version.to_owned());
            let package = package.or_else(|| Some(exact.package.clone()));
            return Ok(Self {
                name: symbol.name,
                package,
                version,
                exact: Some(exact),
                suffix: None,
            });
        }
        let dotted = dotted(text);
        let name = dotted.rsplit('.').next().unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err(OrgError::Question(format!("`{text}` is no name of a callable")));
        }
        let suffix = (dotted != name).then_some(dotted);
        Ok(Self { name, package, version: None, exact: None, suffix })
    }

    /// True if a callee of the name is meant.
    pub(crate) fn matches(&self, callee: &Callee) -> bool {
        if let Some(exact) = &self.exact {
            return exact == callee;
        }
        let Some(suffix) = &self.suffix else { return true };
        let full = dotted(&qualified(&callee.package, &callee.descriptors));
        full.strip_suffix(suffix.as_str())
            .is_some_and(|before| before.is_empty() || before.ends_with('.'))
    }
}

/// A qualified name of any language with points between its parts.
fn dotted(text: &str) -> String {
    let text = text.trim().replace("()", "").replace("->", ".").replace("::", ".");
    let parts = text.split(['.', '#', '/', '\\', ':']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::Wanted;
    use crate::questions::callees::Callee;

    #[track_caller]
    fn check(text: &str, symbol: &str, expected: bool) {
        let parsed = crate::symbol::parse(symbol).expect("a symbol");
        let callee = Callee {
            name: parsed.name.clone(),
            manager: parsed.manager.to_owned(),
            package: parsed.package.to_owned(),
            descriptors: parsed.descriptors.to_owned(),
        };
        let wanted = Wanted::new(text, None).expect("a name");
        let matches = wanted.name == callee.name && wanted.matches(&callee);
        assert_eq!(matches, expected, "{text} and {symbol}");
    }

    #[test]
    fn names_are_matched_from_their_end() {
        let route = "cograph pip flask 3.0.1 Flask#route.";
        for text in ["route", "Flask.route", "flask.Flask.route", "Flask::route()", "Flask#route"] {
            check(text, route, true);
        }
        for text in ["run", "lask.route", "django.Flask.route", "a.flask.Flask.route"] {
            check(text, route, false);
        }
        let get = "cograph go net/http . Client#Get.";
        for text in ["net/http.Client.Get", "http.Client.Get", "Get"] {
            check(text, get, true);
        }
        check(route, route, true);
        check("cograph pip flask . Flask#route.", route, true);
        check(route, "cograph pip flask 3.0.1 Blueprint#route.", false);
        assert!(Wanted::new("::", None).is_err());
    }
}

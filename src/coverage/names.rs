//! TestNames of tests in the contexts of coverage tools. Pure.

/// Ends of the contexts of the phases of a test.
const PHASES: [&str; 3] = ["|run", "|setup", "|teardown"];

/// Name of the test of a context: without its phase, the static context before it, and the
/// parameters of the test. None for a context that is no test.
///
/// ```text
/// py312|tests/test_a.py::TestB::test_c[1-2]|run  ->  tests/test_a.py::TestB::test_c
/// ```
pub(super) fn of_context(context: &str) -> Option<&str> {
    let context = context.trim();
    let whole = PHASES.iter().find_map(|phase| context.strip_suffix(phase)).unwrap_or(context);
    let parameters = whole.find("::").and_then(|at| Some(at + whole[at..].find('[')?));
    let name = &whole[..parameters.unwrap_or(whole.len())];
    let name = name.rsplit('|').next().unwrap_or(name).trim();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::of_context;

    #[test]
    fn a_context_names_a_test() {
        for (context, name) in [
            ("tests/test_a.py::TestB::test_c|run", Some("tests/test_a.py::TestB::test_c")),
            ("tests/test_a.py::test_c[x|y]|setup", Some("tests/test_a.py::test_c")),
            ("ci|tests/test_a.py::test_c[x::y]|teardown", Some("tests/test_a.py::test_c")),
            ("tests.test_a.TestB.test_c", Some("tests.test_a.TestB.test_c")),
            ("", None),
            ("ci|", None),
        ] {
            assert_eq!(of_context(context), name, "{context}");
        }
    }
}

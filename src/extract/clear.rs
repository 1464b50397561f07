//! Source as a parser can read it: in languages with a preprocessor, text that only the preprocessor understands is blanked.
//!
//! Lengths and lines stay as they are, so that every position of the tree is one of the source. `branches` settles conditions
//! that cut through statements, `attributes` takes out words that stand for attributes; both work on the pieces of `tokens`.

mod attributes;
mod branches;
mod tokens;

use crate::grammar::Preprocessor;
use std::borrow::Cow;
use std::ops::Range;

/// What is left for the parser, and what was taken away.
pub(super) struct Cleared<'s> {
    pub(super) source: Cow<'s, [u8]>,
    /// Uses of macros: the name, and whether it has arguments.
    pub(super) uses: Vec<(Range<usize>, bool)>,
    /// Code of branches that could not be read beside the one that was.
    pub(super) dropped: Vec<Range<usize>>,
}

/// Blanks what the parser cannot read. Without a preprocessor the source is as it was.
pub(super) fn clear<'s>(rules: &Preprocessor, source: &'s [u8]) -> Cleared<'s> {
    let mut cleared = Cleared { source: Cow::Borrowed(source), uses: Vec::new(), dropped: Vec::new() };
    if rules.directive.is_none() {
        return cleared;
    }
    let mut tokens = tokens::tokens(rules, source);
    let (blanks, dropped) = branches::settle(source, &tokens);
    if !blanks.is_empty() {
        blank(&mut cleared.source, &blanks);
        tokens::remove(&mut tokens, blanks);
    }
    cleared.dropped = dropped;
    let found = attributes::find(&cleared.source, &tokens);
    let blanks: Vec<Range<usize>> = found.iter().map(|found| found.whole.clone()).collect();
    blank(&mut cleared.source, &blanks);
    cleared.uses = found.into_iter().map(|found| (found.name, found.has_arguments)).collect();
    cleared
}

fn blank(source: &mut Cow<'_, [u8]>, ranges: &[Range<usize>]) {
    for range in ranges {
        for byte in &mut source.to_mut()[range.clone()] {
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> &'static Preprocessor {
        let languages = crate::grammar::all();
        let language = languages.iter().rev().find(|language| language.manifest.preprocessor.directive.is_some());
        &language.expect("a language with a preprocessor is in the table").manifest.preprocessor
    }

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let cleared = clear(rules(), source.as_bytes());
        assert_eq!(cleared.source.len(), source.len());
        let text = String::from_utf8(cleared.source.into_owned()).expect("blanks are ASCII");
        let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(folded(&text), folded(expected));
    }

    #[test]
    fn words_that_stand_for_attributes_are_blanked() {
        check("class API_EXPORT Door : public Base {};", "class Door : public Base {};");
        check("LIB_API struct state *open_door(int n);", "struct state *open_door(int n);");
        check("LIB_API void (shut)(int n);", "void (shut)(int n);");
        check("LIB_API size (length) (state *s);", "size (length) (state *s);");
        check("static FORCE_INLINE UNUSED_ATTR size_t count(void) { return 1; }", "static size_t count(void) { return 1; }");
        check("class Q { int n_ GUARDED_BY(mu_); void f() REQUIRES(mu_) { g(); } };", "class Q { int n_ ; void f() { g(); } };");
        check("DEFINE_FLAG(int, limit, 1 << 10);\nint f();", "; int f();");
        check("BEGIN_SPACE\nnamespace a { int x; }\n", "namespace a { int x; }");
    }

    #[test]
    fn types_and_calls_in_capitals_stay() {
        for source in [
            "DWORD\nopen(HANDLE h);",
            "U32 const* at(U32 n);",
            "void f() { int n = (int)MAX; CHECK(n); if (n) STOP(n); }",
            "struct FOO bar;",
        ] {
            check(source, source);
        }
    }

    #[test]
    fn conditions_between_statements_stay() {
        let source = "#if A\nint f(void) { return 1; }\n#else\nint f(void) { return 2; }\n#endif\n";
        check(source, source);
    }

    #[test]
    fn a_condition_that_cuts_through_a_block_keeps_its_first_branch() {
        check("void f() {\n#ifdef A\n if (a) {\n#else\n if (b) {\n#endif\n  g();\n }\n}\n", "void f() { if (a) { g(); } }");
        check(
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif\n",
            "extern \"C\" { int f(void); }",
        );
        check("int a[] = {\n#ifdef A\n 1,\n#else\n 2,\n#endif\n};", "int a[] = { 1, 2, };");
        let cleared = clear(rules(), b"void f() {\n#ifdef A\n if (a) {\n#else\n if (b) {\n#endif\n }\n}\n");
        assert_eq!(cleared.dropped.len(), 1);
    }
}

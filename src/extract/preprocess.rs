//! Masking: in languages with a preprocessor, text that only the preprocessor understands is
//! replaced by blanks before parsing; so is markup around code.
//!
//! Lengths and lines are kept, so that positions in the tree are positions in the source.
//! `conditionals` handles conditions that cut through statements, `attributes` removes other
//! unparsable text; both work on the tokens of `tokens`.

pub(super) mod annotations;
pub(super) mod attributes;
pub(super) mod brackets;
pub(super) mod code;
pub(super) mod conditionals;
pub(super) mod declared;
pub(crate) mod edits;
pub(super) mod generated;
pub(super) mod invoked;
pub(super) mod lines;
pub(super) mod markup;
pub(crate) mod placeholders;
pub(super) mod tokens;
pub(super) mod words;

use cograph_grammar::Language;
use cograph_model::SiteKind;
use edits::Edit;
pub(super) use edits::{Made, Use, blank};
use std::borrow::Cow;
use std::ops::Range;

/// Masked source, and the removed parts.
pub(super) struct Cleared<'s> {
    pub(super) source: Cow<'s, [u8]>,
    /// Names in removed parts: macros, names in their arguments, and components of markup.
    pub(super) uses: Vec<Use>,
    /// Code of branches that could not be parsed together with the chosen one.
    pub(super) dropped: Vec<Range<usize>>,
    /// Directives at positions where a parser expects none, each with the end of its line.
    pub(super) moved: Vec<Range<usize>>,
    /// Definitions created by macros, in order.
    pub(super) made: Vec<Made>,
    /// Names that markup binds, each in a block of its own.
    pub(super) bound: Vec<Range<usize>>,
}

impl Cleared<'_> {
    /// The same, with a source of its own.
    pub(super) fn owned<'s>(self) -> Cleared<'s> {
        Cleared { source: Cow::Owned(self.source.into_owned()), ..self }
    }

    /// Brings the names in removed parts into the order of the source.
    pub(super) fn sort_uses(&mut self) {
        self.uses.sort_by_key(|found| found.name.start);
        self.uses.dedup_by_key(|found| found.name.start);
    }
}

/// Masks unparsable text. Without markup, headers that the grammar takes for something else and a
/// preprocessor the source is unchanged.
pub(super) fn clear<'s>(language: &Language, source: &'s [u8]) -> Cleared<'s> {
    let mut cleared = Cleared {
        source: Cow::Borrowed(source),
        uses: Vec::new(),
        dropped: Vec::new(),
        moved: Vec::new(),
        made: Vec::new(),
        bound: Vec::new(),
    };
    if let Some(rules) = &language.manifest.markup {
        let masked = markup::mask(rules, source);
        (cleared.source, cleared.bound) = (Cow::Owned(masked.source), masked.bound);
        let read = |name| Use { name, kind: SiteKind::Read };
        cleared.uses.extend(masked.components.into_iter().map(read));
    }
    let rules = &language.manifest.preprocessor;
    if !rules.headers.continued.is_empty() {
        lines::join(&rules.headers.continued, &mut cleared.source);
    }
    if !rules.headers.annotated.is_empty() {
        let (edits, uses) = annotations::stacked(&rules.headers.annotated, &cleared.source);
        apply(&mut cleared.source, edits);
        cleared.uses.extend(uses);
        cleared.sort_uses();
    }
    if rules.directive.is_none() {
        return cleared;
    }
    let mut tokens = tokens::tokens(rules, source);
    if rules.has_macros() {
        let empty = tokens::empty_values(source, &tokens);
        apply(&mut cleared.source, empty.into_iter().map(Edit::token));
    }
    let settled = conditionals::resolved(source, &tokens);
    let mut names = match rules.has_macros() {
        true => tokens::directive_names(language, source, &tokens, &settled.blanks),
        false => Vec::new(),
    };
    if !settled.blanks.is_empty() {
        let blanks = settled.blanks.iter().map(|range| Edit::blank(range.clone()));
        apply(&mut cleared.source, blanks);
        tokens::remove(&mut tokens, settled.blanks);
    }
    (cleared.dropped, cleared.moved) = (settled.dropped, settled.moved);
    if !rules.has_macros() {
        return cleared;
    }
    // What these open or close is in another file: names in between are found without it.
    let namespaces = tokens::namespace_macros(source, &tokens);
    apply(&mut cleared.source, namespaces.iter().cloned().map(Edit::blank));
    tokens::remove(&mut tokens, namespaces.clone());
    let mut finder = attributes::Finder {
        source: &cleared.source,
        rules,
        brackets: brackets::Brackets::of(&tokens),
        known: words::KnownWords::of(rules, source, &tokens),
        tokens: &tokens,
        uses: Vec::new(),
        edits: Vec::new(),
        made: Vec::new(),
        noted: 0,
        tests: &language.manifest.tests,
    };
    finder.walk();
    let edits = finder.edits;
    (cleared.uses, cleared.made) = (finder.uses, finder.made);
    let of_macro = |name: Range<usize>| Use { name, kind: SiteKind::Read };
    names.extend(namespaces);
    cleared.uses.extend(names.into_iter().map(of_macro));
    apply(&mut cleared.source, edits);
    cleared.sort_uses();
    cleared
}

fn apply(source: &mut Cow<'_, [u8]>, edits: impl IntoIterator<Item = Edit>) {
    for edit in edits {
        blank(&mut source.to_mut()[edit.range.clone()]);
        if edit.first != b' ' {
            source.to_mut()[edit.range.start] = edit.first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language() -> &'static Language {
        use cograph_grammar::WordClass;
        let languages = cograph_grammar::all();
        let language = languages.iter().find(|language| {
            language.manifest.preprocessor.words.contains_key(&WordClass::Parameters)
        });
        language.expect("a language with a preprocessor and type parameters is in the table")
    }

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let cleared = clear(language(), source.as_bytes());
        assert_eq!(cleared.source.len(), source.len());
        let text = String::from_utf8(cleared.source.into_owned()).expect("blanks are ASCII");
        let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(folded(&text), folded(expected));
    }

    #[test]
    fn attribute_macros_are_masked() {
        check("class API_EXPORT Door : public Base {};", "class Door : public Base {};");
        check("LIB_API struct state *open_door(int n);", "struct state *open_door(int n);");
        check("LIB_API void (shut)(int n);", "void (shut)(int n);");
        check("LIB_API size (length) (state *s);", "size (length) (state *s);");
        check(
            "static FORCE_INLINE UNUSED_ATTR size_t count(void) { return 1; }",
            "static size_t count(void) { return 1; }",
        );
        check(
            "class Q { int n_ GUARDED_BY(mu_); void f() REQUIRES(mu_) { g(); } };",
            "class Q { int n_ ; void f() { g(); } };",
        );
        check("DEFINE_FLAG(int, limit, 1 << 10);\nint f();", "; int f();");
        check("BEGIN_SPACE\nnamespace a { int x; }\n", "namespace a { int x; }");
    }

    #[test]
    fn extra_words_in_declarations_are_masked() {
        check("void *__must_check f(int n);", "void * f(int n);");
        check(
            "static __always_inline __alloc_size(1) void *kmalloc(size_t size, gfp_t flags) { }",
            "static void *kmalloc(size_t size, gfp_t flags) { }",
        );
        check(
            "void *__kmalloc(size_t size) __assume_aligned __alloc_size(1);",
            "void *__kmalloc(size_t size) ;",
        );
        check(
            "struct s { u8 __iomem *addr; struct t __rcu *next; } __packed;",
            "struct s { u8 *addr; struct t *next; } ;",
        );
        check(
            "static u64 notrace now(void) { return (__force u32)x; }",
            "static u64 now(void) { return ( u32)x; }",
        );
        check(
            "int level __read_mostly = 3; char name[4] __aligned(8);",
            "int level = 3; char name[4] ;",
        );
        check("typedef int (WINAPI *callback)(int n);", "typedef int ( *callback)(int n);");
        check("API_FUNC Door::Door(int n) : n_(n) {}", "Door::Door(int n) : n_(n) {}");
        check(
            "class Door { CONSTEXPR20 Door(int n) : n_(n) {} };",
            "class Door { Door(int n) : n_(n) {} };",
        );
        check(
            "extern \"C\" { API struct s *f(const char *p, struct s *s); }",
            "extern \"C\" { struct s *f(const char *p, struct s *s); }",
        );
        check(
            "void f() { if ((flags & FLAG) && ~MASK) g(a * SIZE); }",
            "void f() { if ((flags & FLAG) && ~MASK) g(a * SIZE); }",
        );
        check(
            "static void copy(BYTE* to, BYTE const* from) { }",
            "static void copy(BYTE* to, BYTE const* from) { }",
        );
    }

    #[test]
    fn statements_and_arguments_of_macros_read_as_calls() {
        check("void f() { each(a, b) { g(); } }", "void f() { each(a, b);{ g(); } }");
        check(
            "void f() { if (a) each(b)\n  if (c) g(); }",
            "void f() { if (a) each(b) ; if (c) g(); }",
        );
        check(
            "void f() { x = of(p, struct s, m); y = least(unsigned int, a, b); }",
            "void f() { x = of(p, 0 , m); y = least(0 , a, b); }",
        );
        check(
            "void f() { run(x, +=, 1); set(.a = 1, .b = 2, ); }",
            "void f() { run(x, 0 , 1); set( 1, 2 ); }",
        );
        check(
            "void f() { switch (a) { case 1 ... 3: g(); } }",
            "void f() { switch (a) { case 1 : g(); } }",
        );
        check("void f() { asm volatile(\"nop\" : : \"r\" (a)); }", "void f() { ; }");
        check(".macro SAVE reg\n mov \\reg, (r1\n.endm\n#endif\nint f();", "#endif int f();");
        check("int __printf(1, 0) (*print)(const char *text);", "int (*print)(const char *text);");
        check(
            "void f() { do { g(); } while_each(a, b); retry:\n#ifdef A\n g();\n#endif\n LAST }",
            "void f() { do { g(); } while (a, b); #ifdef A g(); #endif }",
        );
        check("enum e { A, MORE(B), MANY(C) D, };", "enum e { A, D, };");
        check("start_up(init)\nstop(leave)\nint f();", "int f();");
        check(
            "struct s { bits(mask, 4); group(head, int a; int b; ); };",
            "struct s { bits(mask ); int a; int b; };",
        );
        check(
            "DEFINE_CALL2(open, const char *, path, int, mode)\n{ }",
            "int open( const char * path, int mode)\n{ }",
        );
        check("DEFINE_CALL1(setuid, uid_t, uid)\n{ }", "int setuid( uid_t uid)\n{ }");
        check("TEST_PAIR(first, second, third)\n{ }", "TEST_PAIR(first ) { }");
    }

    #[test]
    fn a_macro_without_a_value_ends_with_its_line() {
        check("#define A \n#define B 1\n", "#define A; #define B 1");
        check("#define A/* c */\r\n#define B 1\n", "#define A; #define B 1");
        check("#define A /* c */ 1\nint f();", "#define A 1 int f();");
        check("#define A(a, b) /* c */ /* d\n e */\nint f();", "#define A(a, b); int f();");
        for source in
            ["#define A\nint f();", "#define A \\\n 1\nint f();", "#undef A /* c */\nint f();"]
        {
            check(source, source);
        }
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
        check(
            "void f() {\n#ifdef A\n if (a) {\n#else\n if (b) {\n#endif\n  g();\n }\n}\n",
            "void f() { if (a) { g(); } }",
        );
        check(
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n\
             #endif\n",
            "extern \"C\" { int f(void); }",
        );
        check("int a[] = {\n#ifdef A\n 1,\n#else\n 2,\n#endif\n};", "int a[] = { 1, 2, };");
        let cleared = clear(
            language(),
            b"void f() {\n#ifdef A\n if (a) {\n#else\n if (b) {\n#endif\n }\n}\n",
        );
        assert_eq!(cleared.dropped.len(), 1);
    }
}

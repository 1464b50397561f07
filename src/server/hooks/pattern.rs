//! Names in the pattern of a search: the identifiers that a text with a match contains as a whole.
//! Prose, parts of names and wildcards have none.

use cograph_model::RepoPath;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Maximum number of texts that a pattern is expanded to.
const MAX_TEXTS: usize = 24;

/// Maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 2_000;

/// Part of a name that the pattern leaves open.
const OPEN: char = '\0';

/// Boundary of a word.
const BOUNDARY: char = '\u{1}';

/// Words in front of a name in declarations and statements.
const KEYWORDS: &str = "abstract async await bool catch char class const def default define double \
                        enum except export extends final float fn from fun func function impl \
                        implements import instanceof int interface let long macro module \
                        namespace new override private protected protocol pub public raise record \
                        return short signed static struct sub throw throws trait type typedef \
                        typeof union unsigned use val var void";

/// Words that say nothing of code unless something marks them as a name.
const COMMON: &str = "bool boolean bug char critical debug error errors exception fail failed \
                      failure false fatal fixme float hack info main nil none note null number \
                      object panic passed result self skipped string success super test tests \
                      this todo trace traceback true void warn warning warnings xxx";

/// Syntax of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Syntax {
    /// Text.
    Fixed,
    /// Regular expression in which `\(` and `\|` are operators.
    Basic,
    /// Regular expression in which `(` and `|` are operators.
    Extended,
}

/// Name in a pattern.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct SoughtName {
    /// Identifier, perhaps with qualifiers before it, joined by dots.
    pub(super) text: String,
    /// True if nothing but the index can say whether it is a name: an ordinary word.
    pub(super) is_plain: bool,
}

/// Returns the names in a pattern, in order, each once.
pub(super) fn names(pattern: &str, syntax: Syntax, whole_words: bool) -> Vec<SoughtName> {
    if pattern.len() > MAX_PATTERN {
        return Vec::new();
    }
    let texts = match syntax {
        Syntax::Fixed => pattern.lines().map(str::to_owned).collect(),
        Syntax::Basic => texts(&extended(pattern)),
        Syntax::Extended => texts(&with_bars(pattern)),
    };
    let mut found: Vec<SoughtName> = Vec::new();
    for text in texts {
        for name in names_in(&text, whole_words) {
            if found.iter().all(|known| known.text != name.text) {
                found.push(name);
            }
        }
    }
    found
}

/// Returns the name of which a pattern for file names is made, if it is one.
pub(super) fn name_of_file(glob: &str) -> Option<SoughtName> {
    let file = glob.rsplit('/').next().unwrap_or(glob);
    let stem = file.split('.').next().unwrap_or(file).trim_matches('*');
    let is_name = stem.chars().all(is_letter) && has_marks(stem) && !stem.ends_with('_');
    is_name.then(|| SoughtName { text: stem.to_owned(), is_plain: false })
}

/// The texts that a pattern matches, with marks where it leaves something open.
fn texts(pattern: &str) -> Vec<String> {
    let mut parser = ParserBuilder::new().utf8(false).unicode(false).nest_limit(50).build();
    // Case is compared by the index.
    match parser.parse(pattern.strip_prefix("(?i)").unwrap_or(pattern)) {
        Ok(tree) => expanded(&tree),
        // What other engines know (`(?<=a)b`): its words are those between signs.
        Err(_) => vec![pattern.replace(|letter| !is_letter(letter) && letter != '(', " ")],
    }
}

/// Basic syntax as extended syntax.
fn extended(pattern: &str) -> String {
    let (mut out, mut letters) = (String::new(), pattern.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(operator @ ('(' | ')' | '|' | '{' | '}' | '+' | '?')) => out.push(operator),
                Some('<' | '>') => out.push_str("\\b"),
                Some(other) => out.extend(['\\', other]),
                None => out.push_str("\\\\"),
            },
            // Usually meant as an operator.
            '|' => out.push('|'),
            '(' | ')' | '{' | '}' | '+' | '?' => out.extend(['\\', letter]),
            other => out.push(other),
        }
    }
    out
}

/// `\|` is no operator in extended syntax, but meant as one.
fn with_bars(pattern: &str) -> String {
    pattern.replace("\\|", "|").replace("\\<", "\\b").replace("\\>", "\\b")
}

fn expanded(tree: &Hir) -> Vec<String> {
    match tree.kind() {
        HirKind::Empty => vec![String::new()],
        HirKind::Literal(literal) => vec![String::from_utf8_lossy(&literal.0).into_owned()],
        HirKind::Class(class) => of_class(class),
        HirKind::Look(look) => vec![boundary(*look).to_string()],
        HirKind::Capture(group) => expanded(&group.sub),
        HirKind::Alternation(ways) => {
            let mut all: Vec<String> = ways.iter().flat_map(expanded).collect();
            all.truncate(MAX_TEXTS);
            all
        }
        HirKind::Concat(parts) => parts.iter().fold(vec![String::new()], |before, part| {
            let next = expanded(part);
            let joined =
                before.iter().flat_map(|head| next.iter().map(move |tail| format!("{head}{tail}")));
            joined.take(MAX_TEXTS).collect()
        }),
        HirKind::Repetition(repetition) => match (repetition.sub.kind(), repetition.max) {
            (_, Some(0)) => vec![String::new()],
            (_, Some(1)) if repetition.min == 0 => {
                [vec![String::new()], expanded(&repetition.sub)].concat()
            }
            (HirKind::Class(class), _) => {
                vec![if is_of_words(class) { OPEN } else { ' ' }.to_string()]
            }
            _ => {
                expanded(&repetition.sub).into_iter().map(|text| format!("{text}{OPEN}")).collect()
            }
        },
    }
}

fn boundary(look: Look) -> char {
    match look {
        Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF => {
            ' '
        }
        _ => BOUNDARY,
    }
}

fn of_class(class: &Class) -> Vec<String> {
    let letters = letters_of(class);
    match letters.as_slice() {
        [_] | [_, _] => letters.iter().map(|letter| letter.to_string()).collect(),
        _ if is_of_words(class) => vec![OPEN.to_string()],
        // Any character is meant as the dot that it is written with.
        _ if letters.len() > 100 => vec![".".to_owned()],
        _ => vec![" ".to_owned()],
    }
}

/// The ASCII characters of a class.
fn letters_of(class: &Class) -> Vec<char> {
    let ranges: Vec<(u8, u8)> = match class {
        Class::Bytes(class) => {
            class.ranges().iter().map(|range| (range.start(), range.end())).collect()
        }
        Class::Unicode(class) => {
            let byte = |letter: char| u8::try_from(u32::from(letter)).unwrap_or(u8::MAX);
            class.ranges().iter().map(|range| (byte(range.start()), byte(range.end()))).collect()
        }
    };
    let bytes = ranges.into_iter().flat_map(|(start, end)| start..=end);
    bytes.filter(u8::is_ascii).map(char::from).collect()
}

/// True if a class has characters of identifiers only.
fn is_of_words(class: &Class) -> bool {
    letters_of(class).into_iter().all(is_letter)
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Identifier of letters of identifiers in a text.
struct Identifier<'t> {
    text: &'t str,
    start: usize,
    end: usize,
}

fn runs(text: &str) -> Vec<Identifier<'_>> {
    let (mut found, mut start) = (Vec::new(), None);
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_letter(letter), start) {
            (true, None) => start = Some(at),
            (false, Some(begun)) => {
                found.push(Identifier { text: &text[begun..at], start: begun, end: at });
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn names_in(text: &str, whole_words: bool) -> Vec<SoughtName> {
    let runs = runs(text);
    let is_prose = is_prose(text, &runs);
    let (mut found, mut place) = (Vec::new(), 0);
    while place < runs.len() {
        let first = place;
        while runs.get(place + 1).is_some_and(|next| joins(&text[runs[place].end..next.start])) {
            place += 1;
        }
        let chain = &runs[first..=place];
        place += 1;
        let before = first.checked_sub(1).map(|before| &runs[before]);
        found.extend(of_chain(text, chain, before, whole_words, is_prose));
    }
    found
}

/// True for the separator of a qualified name.
fn joins(between: &str) -> bool {
    matches!(between, "." | "::" | "->" | "?." | "\\")
}

/// Returns the name of runs that are joined: the last one, with its qualifiers.
fn of_chain(
    text: &str,
    chain: &[Identifier<'_>],
    before: Option<&Identifier<'_>>,
    whole_words: bool,
    is_prose: bool,
) -> Option<SoughtName> {
    let (last, qualifiers) = chain.split_last()?;
    let start = chain.first()?.start;
    let (left, right) = (&text[..start], &text[last.end..]);
    let is_keyword = |word: &str| KEYWORDS.split(' ').any(|known| known == word);
    let is_cut = left.ends_with([OPEN, '-', '/', '@']) && !left.ends_with("--")
        || right.starts_with([OPEN, '/'])
        || right.starts_with(":/")
        || (right.starts_with('-') && !right.starts_with("->"))
        || left.ends_with("--");
    let is_number = last.text.starts_with(|letter: char| letter.is_ascii_digit());
    // Alone it may be a name: other languages have other keywords.
    let is_part = is_keyword(last.text) && last.text != text;
    if is_cut || is_number || is_part || is_hash(last.text) {
        return None;
    }
    let is_file = !qualifiers.is_empty() && is_file_name(&text[start..last.end]);
    if is_file || last.text.ends_with('_') && !last.text.starts_with('_') {
        return None;
    }
    let own =
        |run: &&Identifier<'_>| !matches!(run.text, "self" | "this" | "cls" | "super" | "Self");
    let qualifiers: Vec<&str> = qualifiers.iter().filter(own).map(|run| run.text).collect();
    let is_declared = before
        .is_some_and(|before| is_keyword(before.text) && text[before.end..start].trim().is_empty());
    let is_bounded = whole_words || (left.ends_with(BOUNDARY) && right.starts_with(BOUNDARY));
    let is_called = right.starts_with('(');
    let is_plain =
        !(has_marks(last.text) || is_declared || is_bounded || is_called || chain.len() > 1);
    let is_common =
        COMMON.split(' ').any(|common| common.eq_ignore_ascii_case(last.text)) && chain.len() == 1;
    if is_plain && (is_prose || is_common || last.text.len() < 4) || last.text.len() < 3 {
        return None;
    }
    if is_common && !is_declared && !is_called {
        return None;
    }
    let text = qualifiers.iter().chain([&last.text]).copied().collect::<Vec<_>>().join(".");
    Some(SoughtName { text, is_plain })
}

/// True if an identifier is made of words: no prose has it.
fn has_marks(name: &str) -> bool {
    let inner = name.trim_matches('_');
    let is_dunder = name.starts_with("__") && name.ends_with("__") && inner.len() > 2;
    let letters: Vec<char> = inner.chars().collect();
    let turns = letters.windows(2).any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase());
    let is_acronym_first = letters.len() > 3
        && letters.windows(3).any(|three| {
            three[0].is_uppercase() && three[1].is_uppercase() && three[2].is_lowercase()
        });
    is_dunder || inner.contains('_') || turns || is_acronym_first || name.len() > inner.len()
}

/// True if a text has ordinary words side by side.
fn is_prose(text: &str, runs: &[Identifier<'_>]) -> bool {
    let is_word = |run: &Identifier<'_>| {
        run.text.len() > 1
            && run.text.chars().all(char::is_alphabetic)
            && !has_marks(run.text)
            && !KEYWORDS.split(' ').any(|known| known == run.text)
    };
    runs.windows(2).any(|pair| {
        let between = &text[pair[0].end..pair[1].start];
        is_word(&pair[0]) && is_word(&pair[1]) && between.trim().is_empty() && between.len() == 1
    })
}

/// True for an abbreviated hash of a commit.
fn is_hash(text: &str) -> bool {
    text.len() >= 7
        && text.chars().all(|letter| letter.is_ascii_hexdigit())
        && text.contains(|letter: char| letter.is_ascii_digit())
}

fn is_file_name(text: &str) -> bool {
    RepoPath::new(text).is_some_and(|path| cograph_grammar::detect(&path, b"", &[]).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, syntax: Syntax, expected: &str) {
        let found: Vec<String> = names(pattern, syntax, false)
            .into_iter()
            .map(|name| name.text + if name.is_plain { "?" } else { "" })
            .collect();
        assert_eq!(found.join(" "), expected, "{pattern}");
    }

    #[test]
    fn alternatives_groups_and_options_are_expanded() {
        check(
            "(get|set)_value\\b|parseConfig",
            Syntax::Extended,
            "get_value set_value parseConfig",
        );
        check("get_user\\|set_user", Syntax::Basic, "get_user set_user");
        check("\\(get\\|set\\)_value(", Syntax::Basic, "get_value set_value");
        check("[gG]et_users?", Syntax::Extended, "Get_user Get_users get_user get_users");
        check("def\\s+parse\\(|class\\s+Parser\\b", Syntax::Extended, "parse Parser");
        check("(?i)parse_config", Syntax::Extended, "parse_config");
    }

    #[test]
    fn parts_of_names_and_prose_are_none() {
        for pattern in [
            "parse_\\w+",
            "\\w+_handler",
            "test_.*",
            "connection refused by peer",
            "TODO",
            "error",
            "[0-9a-f]{7}",
            "1a2b3c4d",
            "settings\\.py",
            "src/parse_config/x",
            "--no-cache",
            "^\\s*$",
        ] {
            check(pattern, Syntax::Extended, "");
        }
    }

    #[test]
    fn qualifiers_stay_and_marks_decide() {
        check("self\\.load_all\\(", Syntax::Extended, "load_all");
        check("Session\\.close", Syntax::Extended, "Session.close");
        check("std::mem::take", Syntax::Fixed, "std.mem.take");
        check("handler", Syntax::Extended, "handler?");
        check("union", Syntax::Extended, "union?");
        check("static int first\\|export default", Syntax::Basic, "first");
        check("\\bhandler\\b", Syntax::Extended, "handler");
        check("(?<=def )load_all", Syntax::Extended, "load_all");
        assert_eq!(
            name_of_file("**/*UserService*.ts").map(|name| name.text).as_deref(),
            Some("UserService")
        );
        assert_eq!(name_of_file("**/*.ts"), None);
    }
}

//! Place of the name in a declaration header. Independent of languages: compares only characters
//! next to an occurrence of the name.

/// Returns the part of a header after the name; empty if the header has no such name. A callable is
/// followed by its parameters, so that a type or receiver with the same letters is skipped; so is
/// what stands in the text or the arguments of an annotation, and a part of the path of a receiver.
pub(super) fn after<'h>(header: &'h str, name: &str, is_callable: bool) -> &'h str {
    let ends: Vec<usize> = whole_words(header, name).map(|at| at + name.len()).collect();
    let (own, inner): (Vec<usize>, Vec<usize>) = match ends.len() {
        0 | 1 => (ends, Vec::new()),
        _ => {
            let outside = outside_of_brackets(header);
            let is_own =
                |end: &usize| outside[end - name.len()] && !header[*end..].starts_with('.');
            ends.into_iter().partition(is_own)
        }
    };
    let has_parameters = |end: &&usize| {
        let rest = &header[**end..];
        let before = header[..**end - name.len()].chars().next_back();
        before != Some('@') && without_type_parameters(rest).trim_start().starts_with('(')
    };
    let all = || own.iter().chain(&inner);
    let of_callable = all().find(has_parameters).filter(|_| is_callable);
    of_callable.or(all().next()).map_or("", |end| &header[*end..])
}

/// For each byte of a header, whether it is outside of all brackets and strings.
fn outside_of_brackets(header: &str) -> Vec<bool> {
    let (mut depth, mut quote, mut before) = (0_usize, None, ' ');
    let mut outside = vec![false; header.len()];
    for (at, letter) in header.char_indices() {
        outside[at] = depth == 0 && quote.is_none();
        match (quote, letter) {
            (Some(open), _) if letter == open && before != '\\' => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`') => quote = Some(letter),
            // A letter before it: a lifetime or a prime is no string.
            (None, '\'') if matches!(before, '(' | '[' | ',' | ' ' | '=') => {
                quote = header[at + 1..].contains('\'').then_some(letter);
            }
            (None, '(' | '[' | '{' | '<') => depth += 1,
            (None, '>') if before == '-' || before == '=' => {}
            (None, ')' | ']' | '}' | '>') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        before = letter;
    }
    outside
}

/// A header without the receiver in brackets between its first word and the name: what contains the
/// symbol says it. `func (s *server) stop()` is `func stop()`.
pub(super) fn without_receiver<'h>(header: &'h str, name: &str) -> (&'h str, &'h str) {
    let whole = (header, "");
    let Some((word, rest)) = header.split_once(" (") else { return whole };
    let Some((receiver, own)) = rest.split_once(") ") else { return whole };
    let is_word = !word.is_empty() && word.chars().all(char::is_alphanumeric);
    match is_word && !receiver.contains(['(', ')']) && own.starts_with(name) {
        true => (&header[..=word.len()], own),
        false => whole,
    }
}

/// Offsets of the occurrences of a name that are no part of a longer word.
fn whole_words<'h>(header: &'h str, name: &'h str) -> impl Iterator<Item = usize> {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (first, last) = (name.chars().next(), name.chars().next_back());
    header.match_indices(name).map(|(at, _)| at).filter(move |&at| {
        let before = header[..at].chars().next_back();
        let after = header[at + name.len()..].chars().next();
        let joins = |one: Option<char>, other: Option<char>| {
            one.is_some_and(is_of_word) && other.is_some_and(is_of_word)
        };
        !name.is_empty() && !joins(before, first) && !joins(last, after)
    })
}

/// Text after a balanced list of type parameters, `<..>` or `[..]`.
fn without_type_parameters(text: &str) -> &str {
    if !text.starts_with(['<', '[']) {
        return text;
    }
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '<' | '[' => depth += 1,
            '>' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return &text[at + letter.len_utf8()..];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{after, without_receiver};

    #[test]
    fn a_receiver_between_the_first_word_and_the_name_is_left_out() {
        for (header, name, expected) in [
            ("func (sc *serverCmd) server(cmd string)", "server", "func server(cmd string)"),
            ("func (Pair[K, V]) first() K", "first", "func first() K"),
            ("func first(a (b) int)", "first", "func first(a (b) int)"),
            ("int (*pick(int a)) (int)", "pick", "int (*pick(int a)) (int)"),
            ("__attribute__((noinline)) int f(void)", "f", "__attribute__((noinline)) int f(void)"),
        ] {
            let (first, rest) = without_receiver(header, name);
            assert_eq!(format!("{first}{rest}"), expected);
        }
    }

    #[test]
    fn a_name_is_a_whole_word_that_parameters_follow() {
        for (header, name, expected) in [
            ("func (pairBinding) Bind(x int) int", "Bind", "(x int) int"),
            ("func (Bind) Bind(x int)", "Bind", "(x int)"),
            ("func (p *Pair[K, V]) Map[T any](f func(V) T)", "Map", "[T any](f func(V) T)"),
            ("List<Item> Item(Item item)", "Item", "(Item item)"),
            ("@Test(expected = E.class) void Test()", "Test", "()"),
            ("int t(int t)", "t", "(int t)"),
            ("struct item *item(struct item *it)", "item", "(struct item *it)"),
            ("Item Item::Item(const Item &other)", "Item", "(const Item &other)"),
            ("fn map<T: Fn(u8) -> u8>(self, map: T)", "map", "<T: Fn(u8) -> u8>(self, map: T)"),
            ("bool operator==(const T &a)", "operator==", "(const T &a)"),
            ("def render_title(title)", "render_title", "(title)"),
            ("sub title", "title", ""),
            ("const load = async (load) => load", "load", " = async (load) => load"),
            ("größe(x)", "größe", "(x)"),
            ("anything else", "f", ""),
            ("f()", "", ""),
            ("@Deprecated(\"use load(id, cache)\") fun load(id: Int)", "load", "(id: Int)"),
            ("[Route(\"Get(id)\")] public int Get(int id)", "Get", "(int id)"),
            ("[[nodiscard(\"find(x)\")]] int find(int key) const", "find", "(int key) const"),
            ("fn get<'a>(&'a self, get: &'a str)", "get", "<'a>(&'a self, get: &'a str)"),
            ("int (*pick(int a)) (int)", "pick", "(int a)) (int)"),
            ("bool operator<(const T &a)", "operator<", "(const T &a)"),
        ] {
            assert_eq!(after(header, name, true), expected, "{header}");
        }
    }

    #[test]
    fn a_value_or_type_has_its_type_and_bases_after_its_name() {
        for (header, name, expected) in [
            ("item: Item = item(1)", "item", ": Item = item(1)"),
            ("class Shape(Shapes)", "Shape", "(Shapes)"),
            ("struct Items<Item>", "Items", "<Item>"),
            ("\"imageExportDialog\": {", "imageExportDialog", "\": {"),
            ("x", "y", ""),
            ("[Name(\"Total\")] public int Total", "Total", ""),
            ("@Size(max = size) private int size = 3", "size", " = 3"),
            ("val app.server.Config.server: Int", "server", ": Int"),
            ("val <first> Map<first, first>.first: first", "first", ": first"),
        ] {
            assert_eq!(after(header, name, false), expected, "{header}");
        }
    }
}

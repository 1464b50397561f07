//! Place of the name in a declaration header. Independent of languages: compares only characters
//! next to an occurrence of the name.

/// Returns the part of a header after the name; empty if the header has no such name. A callable is
/// followed by its parameters, so that a type or receiver with the same letters is skipped.
pub(super) fn after<'h>(header: &'h str, name: &str, is_callable: bool) -> &'h str {
    let ends: Vec<usize> = whole_words(header, name).map(|at| at + name.len()).collect();
    let has_parameters = |end: &&usize| {
        let rest = &header[**end..];
        let before = header[..**end - name.len()].chars().next_back();
        before != Some('@') && without_type_parameters(rest).trim_start().starts_with('(')
    };
    let of_callable = ends.iter().find(has_parameters).filter(|_| is_callable);
    of_callable.or(ends.first()).map_or("", |end| &header[*end..])
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
        ] {
            assert_eq!(after(header, name, false), expected, "{header}");
        }
    }
}

//! Placeholders of templates: `@NAME@`, where a build puts a value.
//!
//! One that is alone on its line is blank, for it may be anything. Elsewhere it is read as a name,
//! or as a part of the name around it.

use cograph_grammar::Manifest;

/// Returns the source of a template without the marks of its placeholders. `None` if it has none,
/// or is no template.
pub(crate) fn filled(manifest: &Manifest, path: &str, source: &[u8]) -> Option<Vec<u8>> {
    let (_, extension) = path.rsplit_once('.')?;
    if !manifest.detect.templates.iter().any(|template| template == extension) {
        return None;
    }
    let (mut filled, mut from) = (source.to_vec(), 0);
    while let Some(start) = memchr::memchr(b'@', &source[from..]).map(|found| from + found) {
        let length = source[start + 1..].iter().take_while(|byte| is_of_name(**byte)).count();
        let end = start + 1 + length;
        if length == 0 || source.get(end) != Some(&b'@') {
            from = end;
            continue;
        }
        from = end + 1;
        if is_alone(source, start, from) {
            filled[start..from].fill(b' ');
        } else {
            (filled[start], filled[end]) = (b'_', b'_');
        }
    }
    (filled != source).then_some(filled)
}

/// True if a line has nothing else than a part of the source.
fn is_alone(source: &[u8], start: usize, end: usize) -> bool {
    let begin = memchr::memrchr(b'\n', &source[..start]).map_or(0, |at| at + 1);
    let stop = memchr::memchr(b'\n', &source[end..]).map_or(source.len(), |at| end + at);
    source[begin..start].trim_ascii().is_empty() && source[end..stop].trim_ascii().is_empty()
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

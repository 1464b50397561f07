//! One document of an index as far as an import needs it: the places of its occurrences. Decoded
//! occurrence by occurrence, so that what a few bytes claim takes no memory.

use protobuf::{EnumOrUnknown, Message};
use scip::types::occurrence::Typed_range;
use scip::types::{Document, Occurrence};

use crate::wire::Fields;

/// Maximum number of occurrences of a document.
pub(crate) const MAX_OCCURRENCES: usize = 1_000_000;

/// Maximum size of an occurrence, in bytes.
const MAX_OCCURRENCE: usize = 1 << 20;

/// Numbers of the fields of a document.
const PATH: u32 = 1;
const OCCURRENCE: u32 = 2;
const TEXT: u32 = 5;
const ENCODING: u32 = 6;

/// Decodes path, text, encoding and occurrences of a document, these without what is not a place.
pub(crate) fn document(bytes: &[u8]) -> Result<Document, String> {
    let (mut fields, mut field) = (Fields::new(bytes), Vec::new());
    let mut document = Document::default();
    let text = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec());
        text.map_err(|error| format!("it is no SCIP index, or damaged: {error}"))
    };
    while let Some(number) = fields.next(&mut field)? {
        match number {
            PATH => document.relative_path = text(&field)?,
            TEXT => document.text = text(&field)?,
            ENCODING => {
                let encoding = i32::try_from(fields.number_of_last()).unwrap_or_default();
                document.position_encoding = EnumOrUnknown::from_i32(encoding);
            }
            OCCURRENCE => {
                if document.occurrences.len() == MAX_OCCURRENCES || field.len() > MAX_OCCURRENCE {
                    return Err(format!(
                        "{}: more than {MAX_OCCURRENCES} occurrences, or one of more than 1 MiB",
                        document.relative_path
                    ));
                }
                document.occurrences.push(occurrence(&field)?);
            }
            _ => {}
        }
    }
    Ok(document)
}

fn occurrence(bytes: &[u8]) -> Result<Occurrence, String> {
    let read = Occurrence::parse_from_bytes(bytes)
        .map_err(|error| format!("it is no SCIP index, or damaged: {error}"))?;
    let range = match read.typed_range {
        Some(Typed_range::SingleLineRange(one)) => {
            vec![one.line, one.start_character, one.end_character]
        }
        Some(Typed_range::MultiLineRange(one)) => {
            vec![one.start_line, one.start_character, one.end_line, one.end_character]
        }
        _ => read.range,
    };
    let (symbol, symbol_roles) = (read.symbol, read.symbol_roles);
    Ok(Occurrence { range, symbol, symbol_roles, ..Occurrence::default() })
}

/// Path of a URL of a file, with its escapes read.
pub(crate) fn path_of_url(url: &str) -> String {
    let path = url.strip_prefix("file://").unwrap_or(url).as_bytes();
    let (mut bytes, mut at) = (Vec::new(), 0);
    while let Some(&byte) = path.get(at) {
        let digits = path.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        let escaped = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match escaped.filter(|_| byte == b'%') {
            Some(escaped) => {
                bytes.push(escaped);
                at += 3;
            }
            None => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scip::types::{PositionEncoding, SingleLineRange, SymbolInformation};

    #[test]
    fn what_an_import_needs_is_decoded() {
        let typed = SingleLineRange {
            line: 4,
            start_character: 1,
            end_character: 9,
            ..SingleLineRange::default()
        };
        let whole = Document {
            relative_path: "a/ä.x".to_owned(),
            text: "x".to_owned(),
            position_encoding: PositionEncoding::UTF32CodeUnitOffsetFromLineStart.into(),
            symbols: vec![SymbolInformation::default(); 3],
            occurrences: vec![
                Occurrence { symbol: "s".into(), range: vec![1, 2, 3], ..Occurrence::default() },
                Occurrence {
                    symbol_roles: 1,
                    typed_range: Some(Typed_range::SingleLineRange(typed)),
                    override_documentation: vec![String::new(); 9],
                    ..Occurrence::default()
                },
            ],
            ..Document::default()
        };
        let bytes = whole.write_to_bytes().expect("it is written");
        let read = document(&bytes).expect("it was written");
        assert_eq!(read.relative_path, whole.relative_path);
        assert_eq!((&read.text, read.position_encoding), (&whole.text, whole.position_encoding));
        assert_eq!(read.occurrences[0], whole.occurrences[0]);
        assert_eq!(
            (&*read.occurrences[1].range, read.occurrences[1].symbol_roles),
            (&[4, 1, 9][..], 1)
        );
        assert!(read.symbols.is_empty() && read.occurrences[1].override_documentation.is_empty());
    }

    #[test]
    fn urls_become_paths() {
        assert_eq!(path_of_url("file:///a%20b/%C3%A4%2"), "/a b/ä%2");
        assert_eq!(path_of_url("/plain"), "/plain");
    }

    #[test]
    fn a_document_has_bounds() {
        let mut many = b"\x12\x00".repeat(MAX_OCCURRENCES);
        assert!(document(&many).is_ok());
        many.extend(b"\x12\x00");
        let error = document(&many).expect_err("one too many");
        assert!(error.contains("more than 1000000 occurrences"), "{error}");
        assert!(document(b"\x0a\x02\xff\xff").is_err(), "no text");
    }
}

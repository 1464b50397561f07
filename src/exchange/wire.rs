//! The stream of a SCIP index: fields of one message, each with its length in front, so that an
//! index is written and read one document at a time.

use std::io::{self, BufRead, Read, Write};

use protobuf::Message;

/// Numbers of the fields of an index.
pub(crate) const METADATA: u32 = 1;
pub(crate) const DOCUMENT: u32 = 2;
pub(crate) const EXTERNAL_SYMBOL: u32 = 3;

/// Maximum size of one field, in bytes: a document with its text.
pub(crate) const MAX_FIELD: u64 = 64 << 20;

/// Wire types.
const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const WITH_LENGTH: u64 = 2;
const FIXED_32: u64 = 5;

/// Writes a message as a field of an index.
pub(crate) fn write(out: &mut dyn Write, field: u32, message: &impl Message) -> io::Result<()> {
    let bytes = message.write_to_bytes().map_err(io::Error::other)?;
    let mut head = Vec::with_capacity(12);
    put_number(&mut head, u64::from(field) << 3 | WITH_LENGTH);
    put_number(&mut head, bytes.len() as u64);
    out.write_all(&head)?;
    out.write_all(&bytes)
}

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads the fields of a message that have a length or are numbers; others are skipped.
pub(crate) struct Fields<R> {
    from: R,
    /// Bytes read so far.
    at: u64,
    /// Value of the last field that is a number.
    last: u64,
}

impl<R: BufRead> Fields<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, at: 0, last: 0 }
    }

    /// Value of the last field, if that was a number.
    pub(crate) fn number_of_last(&self) -> u64 {
        self.last
    }

    /// The next field: its number, and its bytes in `into`. None at the end.
    pub(crate) fn next(&mut self, into: &mut Vec<u8>) -> Result<Option<u32>, String> {
        loop {
            if self.from.fill_buf().map_err(|error| error.to_string())?.is_empty() {
                return Ok(None);
            }
            let tag = self.number()?;
            let field = u32::try_from(tag >> 3).ok().filter(|field| *field != 0);
            let field = field.ok_or_else(|| self.broken("no number of a field"))?;
            let skipped = match tag & 7 {
                WITH_LENGTH => {
                    let length = self.number()?;
                    if length > MAX_FIELD {
                        return Err(self.broken(&format!("a field of {length} bytes")));
                    }
                    self.take(length, into)?;
                    return Ok(Some(field));
                }
                VARINT => {
                    self.last = self.number()?;
                    into.clear();
                    return Ok(Some(field));
                }
                FIXED_64 => 8,
                FIXED_32 => 4,
                _ => return Err(self.broken("no type of a field")),
            };
            self.take(skipped, into)?;
        }
    }

    /// Reads exactly `length` bytes. Memory grows with what was read, not with what is claimed.
    fn take(&mut self, length: u64, into: &mut Vec<u8>) -> Result<(), String> {
        into.clear();
        let read = self.from.by_ref().take(length).read_to_end(into);
        let read = read.map_err(|error| error.to_string())? as u64;
        self.at += read;
        if read < length {
            return Err(self.broken(&format!("{} bytes are missing", length - read)));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<u64, String> {
        let mut number = 0_u64;
        for place in 0..10 {
            let mut byte = [0];
            if self.from.read(&mut byte).map_err(|error| error.to_string())? == 0 {
                return Err(self.broken("the rest is missing"));
            }
            self.at += 1;
            let part = u64::from(byte[0] & 0x7f);
            if place == 9 && part > 1 {
                break;
            }
            number |= part << (7 * place);
            if byte[0] < 0x80 {
                return Ok(number);
            }
        }
        Err(self.broken("a number is too long"))
    }

    fn broken(&self, what: &str) -> String {
        format!("it is no SCIP index, or damaged: at byte {}: {what}", self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_they_were_written() {
        let mut tool = scip::types::ToolInfo::new();
        tool.name = "x".repeat(300);
        let mut bytes = vec![0x28, 0x96, 0x01, 0x0d, 1, 2, 3, 4, 0x09, 1, 2, 3, 4, 5, 6, 7, 8];
        write(&mut bytes, DOCUMENT, &tool).expect("memory takes everything");
        write(&mut bytes, EXTERNAL_SYMBOL, &tool).expect("memory takes everything");
        let (mut fields, mut field) = (Fields::new(bytes.as_slice()), Vec::new());
        assert_eq!((fields.next(&mut field), fields.number_of_last()), (Ok(Some(5)), 150));
        for expected in [DOCUMENT, EXTERNAL_SYMBOL] {
            assert_eq!(fields.next(&mut field), Ok(Some(expected)));
            let read = scip::types::ToolInfo::parse_from_bytes(&field);
            assert_eq!(read.expect("it was written"), tool);
        }
        assert_eq!(fields.next(&mut field), Ok(None));
    }

    #[test]
    fn damage_is_an_error_with_its_place() {
        for (bytes, expected) in [
            (&[0x12, 0x05, 1, 2][..], "at byte 4: 3 bytes are missing"),
            (&[0x12, 0xff, 0xff, 0xff, 0xff, 0x7f], "a field of 34359738367 bytes"),
            (&[0x13, 0], "no type of a field"),
            (&[0x02, 0], "no number of a field"),
            (&[0x12, 0x80], "the rest is missing"),
            (&[0xff; 11], "a number is too long"),
        ] {
            let error = Fields::new(bytes).next(&mut Vec::new()).expect_err("it is damaged");
            assert!(error.ends_with(expected), "{error}");
        }
    }
}

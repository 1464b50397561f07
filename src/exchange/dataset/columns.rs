//! Rows of a group, by column, until they are written.

use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};

use super::schema::{Column, TableSchema, Type};

/// Value of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'c> {
    Null,
    Text(&'c str),
    Number(i64),
    Flag(bool),
}

impl<'c> From<&'c str> for Cell<'c> {
    fn from(text: &'c str) -> Self {
        Self::Text(text)
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'c, T: Into<Cell<'c>>> From<Option<T>> for Cell<'c> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Rows of a table.
pub(crate) struct Columns {
    table: &'static TableSchema,
    columns: Vec<Buffer>,
    pub(crate) rows: usize,
}

impl Columns {
    pub(crate) fn new(table: &'static TableSchema) -> Self {
        let columns = table.columns.iter().map(Buffer::of).collect();
        Self { table, columns, rows: 0 }
    }

    /// Adds a row: one value for each column.
    pub(crate) fn add(&mut self, row: &[Cell<'_>]) -> Result<()> {
        if row.len() != self.columns.len() {
            let (table, found) = (self.table.name, row.len());
            return Err(ParquetError::General(format!("{found} values in a row of {table}")));
        }
        for ((buffer, column), value) in self.columns.iter_mut().zip(self.table.columns).zip(row) {
            buffer.add(column, *value)?;
        }
        self.rows += 1;
        Ok(())
    }

    /// The columns, in the order of the schema.
    pub(crate) fn into_buffers(self) -> Vec<Buffer> {
        self.columns
    }
}

/// Values of a column. `levels` has 1 for each that is not null, and is empty where none can be.
pub(crate) struct Buffer {
    values: Values,
    levels: Vec<i16>,
}

enum Values {
    Texts(Texts),
    Numbers(Vec<i64>),
    Flags(Vec<bool>),
}

/// Texts one after another. Of equal neighbours the first is kept.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    /// Start and length of each.
    places: Vec<(usize, usize)>,
}

impl Texts {
    fn add(&mut self, text: &str) {
        if let Some(&(start, length)) = self.places.last()
            && &self.bytes[start..start + length] == text.as_bytes()
        {
            self.places.push((start, length));
            return;
        }
        self.places.push((self.bytes.len(), text.len()));
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn into_values(self) -> Vec<ByteArray> {
        let all = ByteArray::from(self.bytes);
        self.places.into_iter().map(|(start, length)| all.slice(start, length)).collect()
    }
}

impl Buffer {
    fn of(column: &Column) -> Self {
        let values = match column.ty {
            Type::Text => Values::Texts(Texts::default()),
            Type::Number => Values::Numbers(Vec::new()),
            Type::Flag => Values::Flags(Vec::new()),
        };
        Self { values, levels: Vec::new() }
    }

    fn add(&mut self, column: &Column, value: Cell<'_>) -> Result<()> {
        match (&mut self.values, value) {
            (_, Cell::Null) if column.is_optional => {
                self.levels.push(0);
                return Ok(());
            }
            (Values::Texts(texts), Cell::Text(text)) => texts.add(text),
            (Values::Numbers(values), Cell::Number(number)) => values.push(number),
            (Values::Flags(values), Cell::Flag(flag)) => values.push(flag),
            (_, value) => {
                let message = format!("{value:?} in column {}", column.name);
                return Err(ParquetError::General(message));
            }
        }
        if column.is_optional {
            self.levels.push(1);
        }
        Ok(())
    }

    /// Writes the values.
    pub(crate) fn write(self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        let levels = (!self.levels.is_empty()).then_some(&self.levels[..]);
        match (self.values, writer) {
            (Values::Texts(texts), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                writer.write_batch(&texts.into_values(), levels, None)
            }
            (Values::Numbers(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(&values, levels, None)
            }
            (Values::Flags(values), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(&values, levels, None)
            }
            _ => Err(ParquetError::General("a column of another type".to_owned())),
        }
        .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_as_they_were_added() {
        let mut texts = Texts::default();
        let added = ["a", "a", "", "", "ab", "a", "ä"];
        added.iter().for_each(|text| texts.add(text));
        assert_eq!(texts.bytes, "aabaä".as_bytes());
        let values = texts.into_values();
        assert!(values.iter().map(ByteArray::data).eq(added.map(str::as_bytes)));
    }
}

//! Values of columns, as rows are written.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// Column value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'v> {
    Null,
    Integer(i64),
    Text(&'v str),
    Blob(&'v [u8]),
}

impl Value<'_> {
    /// The integer, if it is one.
    pub(crate) fn integer(self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(number),
            Self::Null | Self::Text(_) | Self::Blob(_) => None,
        }
    }
}

macro_rules! value_of_numbers {
    ($($number:ty),+) => {
        $(impl From<$number> for Value<'_> {
            fn from(number: $number) -> Self {
                Self::Integer(i64::from(number))
            }
        })+
    };
}

value_of_numbers!(u8, u16, u32, i64);

impl<'v> From<&'v str> for Value<'v> {
    fn from(text: &'v str) -> Self {
        Self::Text(text)
    }
}

impl<'v> From<&'v [u8]> for Value<'v> {
    fn from(bytes: &'v [u8]) -> Self {
        Self::Blob(bytes)
    }
}

impl<'v, T: Into<Value<'v>>> From<Option<T>> for Value<'v> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

//! Parts of a file: what is code, what is text, what was not understood.

use super::{Place, is_read};
use crate::model::{SkipReason, words};
use crate::query::QueryError;
use crate::query::graph::lookup::Lookup;
use crate::store::FileRow;

/// Layout of a text.
struct TextLayout {
    /// Offsets of the lines.
    lines: Vec<usize>,
    /// Spans of comments and strings.
    prose: Vec<(usize, usize)>,
    /// First and last lines of the regions that were not understood.
    regions: Vec<(u32, u32)>,
}

/// Parts of a file: what is code, what is text, what was not understood.
pub(super) struct Parts<'p, 'q> {
    lookup: &'p Lookup<'q>,
    file: &'p FileRow,
    text: &'p [u8],
    /// Read with the first line that needs it.
    read: Option<TextLayout>,
}

impl<'p, 'q> Parts<'p, 'q> {
    pub(super) fn new(lookup: &'p Lookup<'q>, file: &'p FileRow, text: &'p [u8]) -> Self {
        Self { lookup, file, text, read: None }
    }

    pub(super) fn place(&mut self, line: u32, column: u32) -> Result<Place, QueryError> {
        let has_language = self.file.language.is_some();
        if has_language
            && matches!(
                self.file.skipped,
                Some(SkipReason::TooLarge | SkipReason::LongLine | SkipReason::Encoding)
            )
        {
            return Ok(Place::Unread);
        }
        if !is_read(self.lookup, self.file) {
            return Ok(Place::Text);
        }
        if self.read.is_none() {
            let ends = memchr::memchr_iter(b'\n', self.text).map(|end| end + 1);
            let problems = self.lookup.snapshot.problems_of(self.file.key)?;
            let regions =
                problems.iter().map(|row| (row.problem.first_line, row.problem.last_line));
            let lines = std::iter::once(0).chain(ends).collect();
            let (prose, regions) = (words::prose_spans(self.text), regions.collect());
            self.read = Some(TextLayout { lines, prose, regions });
        }
        let Some(TextLayout { lines, prose, regions }) = &self.read else { return Ok(Place::Code) };
        let at = lines.get(line as usize - 1).copied().unwrap_or_default() + column as usize;
        let is_prose = prose.partition_point(|(_, end)| *end <= at);
        let is_prose = prose.get(is_prose).is_some_and(|(start, _)| *start <= at);
        Ok(if is_prose {
            Place::Text
        } else if regions.iter().any(|(first, last)| (*first..=*last).contains(&line)) {
            Place::Unread
        } else {
            Place::Code
        })
    }
}

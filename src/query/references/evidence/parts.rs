//! Parts of a file: what is code, what is text, what was not understood.

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::references::evidence::place::{Place, is_read};
use cograph_model::{SkipReason, words};
use cograph_store::FileRow;
use std::cell::OnceCell;
use std::ops::Range;

/// Text of a file by its lines, which are counted with the first question.
pub(super) struct Lines<'t> {
    text: &'t [u8],
    starts: OnceCell<Vec<usize>>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t [u8]) -> Self {
        Self { text, starts: OnceCell::new() }
    }

    pub(super) fn text(&self) -> &'t [u8] {
        self.text
    }

    /// Returns the range of a line with its end; empty at the end of the text if there is none.
    pub(super) fn range(&self, line: u32) -> Range<usize> {
        let starts = self.starts.get_or_init(|| {
            let ends = memchr::memchr_iter(b'\n', self.text).map(|end| end + 1);
            std::iter::once(0).chain(ends).collect()
        });
        let start = |line: usize| starts.get(line).copied().unwrap_or(self.text.len());
        start(line as usize - 1)..start(line as usize)
    }
}

/// Layout of a text.
struct TextLayout {
    /// Spans of comments and strings.
    prose: Vec<(usize, usize)>,
    /// First and last lines of the regions that were not understood.
    regions: Vec<(u32, u32)>,
}

/// Parts of a file: what is code, what is text, what was not understood.
pub(super) struct Parts<'p, 'q> {
    lookup: &'p Lookup<'q>,
    file: &'p FileRow,
    lines: &'p Lines<'p>,
    /// Read with the first line that needs it.
    read: Option<TextLayout>,
}

impl<'p, 'q> Parts<'p, 'q> {
    pub(super) fn new(lookup: &'p Lookup<'q>, file: &'p FileRow, lines: &'p Lines<'p>) -> Self {
        Self { lookup, file, lines, read: None }
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
            let problems = self.lookup.snapshot.problems_of(self.file.key)?;
            let regions =
                problems.iter().map(|row| (row.problem.first_line, row.problem.last_line));
            let (prose, regions) = (words::prose_spans(self.lines.text()), regions.collect());
            self.read = Some(TextLayout { prose, regions });
        }
        let Some(TextLayout { prose, regions }) = &self.read else { return Ok(Place::Code) };
        let at = self.lines.range(line).start + column as usize;
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

//! Rendering of several questions of one call: one answer after the other within one budget, equal
//! shares first, and what one leaves of its share goes to the others.

use crate::answers::budget::Page;
use crate::answers::{Answer, failure};
use cograph_query::QueryError;
use serde_json::{Value, json};

/// Bytes per token.
const TOKEN: usize = 4;

/// Answers to several questions, with the text of each question.
struct Batch {
    tool: &'static str,
    parts: Vec<(String, Outcome)>,
}

/// Answer to one question, or its error.
type Outcome = Result<Box<dyn Answer>, QueryError>;

/// Answers each question. The error of one does not fail the others; that of a single question, and
/// that of the store, fails the call.
pub(crate) fn each(
    tool: &'static str,
    asked: &[String],
    answer: impl Fn(&str) -> Result<Box<dyn Answer>, QueryError>,
) -> Result<Box<dyn Answer>, QueryError> {
    if let [one] = asked {
        return answer(one);
    }
    let mut parts = Vec::with_capacity(asked.len());
    for one in asked {
        match answer(one) {
            Err(error @ (QueryError::Cancelled | QueryError::Store(_))) => return Err(error),
            outcome => parts.push((one.clone(), outcome)),
        }
    }
    Ok(Box::new(Batch { tool, parts }))
}

impl Batch {
    /// Text of a part within a number of bytes.
    fn part(&self, at: usize, room: usize) -> (String, bool) {
        match &self.parts[at].1 {
            Ok(answer) => {
                let mut page = Page::part(room / TOKEN);
                let head = answer.render(&mut page);
                let is_cut = page.is_cut();
                (page.finish(&head), is_cut)
            }
            Err(error) => (failure::text(self.tool, error), false),
        }
    }
}

impl Answer for Batch {
    fn render(&self, page: &mut Page) -> String {
        let room = page.room();
        let mut wanted: Vec<(usize, usize)> =
            (0..self.parts.len()).map(|at| (self.part(at, room).0.len() + 1, at)).collect();
        wanted.sort_unstable();
        let (mut left, mut shares) = (room, vec![0; self.parts.len()]);
        for (done, (wanted, at)) in wanted.iter().enumerate() {
            shares[*at] = *wanted.min(&(left / (self.parts.len() - done)));
            left -= shares[*at];
        }
        let mut shown = 0;
        let mut is_cut = false;
        for (at, share) in shares.into_iter().enumerate() {
            // A part that fits needs the reserve for its notes as well.
            let (mut text, mut is_part_cut) = self.part(at, room);
            if text.len() > share {
                (text, is_part_cut) = self.part(at, share);
            }
            is_cut |= is_part_cut;
            if !page.add(&text) {
                break;
            }
            shown += 1;
        }
        page.left_out(
            shown,
            self.parts.len() as u64,
            "answers",
            "raise `budget`, or ask for fewer",
        );
        if is_cut {
            page.mark_cut();
        }
        format!("{} of {} answers", shown, self.parts.len())
    }

    fn json(&self) -> Value {
        let answers: Vec<Value> = self
            .parts
            .iter()
            .map(|(asked, outcome)| match outcome {
                Ok(answer) => json!({"asked": asked, "answer": answer.json()}),
                Err(error) => json!({"asked": asked, "error": error.to_string()}),
            })
            .collect();
        json!({"answers": answers})
    }

    fn is_empty(&self) -> bool {
        self.parts.iter().all(|(_, outcome)| match outcome {
            Ok(answer) => answer.is_empty(),
            Err(_) => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answer with this number of lines.
    struct Lines(usize);

    impl Answer for Lines {
        fn render(&self, page: &mut Page) -> String {
            let shown = page.add_all((0..self.0).map(|at| format!("{}: line {at:04}", self.0)));
            page.left_out(shown, self.0 as u64, "lines", "raise `budget`");
            format!("{shown} of {} lines", self.0)
        }
        fn json(&self) -> Value {
            json!(self.0)
        }
    }

    fn rendered(tokens: u64, sizes: &[usize]) -> String {
        let asked: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let answer = each("trace", &asked, |one| match one.parse() {
            Ok(0) => Err(QueryError::NoSuchSymbol { name: "none".to_owned(), near: Vec::new() }),
            Ok(lines) => Ok(Box::new(Lines(lines))),
            Err(_) => Err(QueryError::Cancelled),
        })
        .expect("an answer");
        let mut page = Page::new(tokens);
        let head = answer.render(&mut page);
        page.finish(&head)
    }

    #[test]
    fn small_answers_leave_their_share_to_large_ones() {
        let text = rendered(1000, &[500, 2, 0, 700]);
        assert!(text.len() <= 4000, "{}", text.len());
        assert!(text.contains("\n2: line 0001") && text.contains("no symbol is named `none`"));
        let (one, other) = (text.matches("500: line").count(), text.matches("700: line").count());
        assert!(one > 60 && one.abs_diff(other) < 8, "{one} and {other}: {text}");
    }

    #[test]
    fn a_single_question_has_its_own_answer() {
        let asked = ["7".to_owned()];
        let answer = each("trace", &asked, |_| Ok(Box::new(Lines(7)))).expect("an answer");
        assert_eq!(answer.json(), json!(7));
        assert!(each("trace", &asked, |_| Err(QueryError::Cancelled)).is_err());
    }
}

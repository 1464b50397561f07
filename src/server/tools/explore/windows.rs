//! Selection of the lines of a symbol that are shown: all, or windows around the words of the
//! question. Independent of the rendering.

/// Bytes of a line that replaces folded ones.
pub(super) const FOLD: usize = 22;

/// Number of lines before and after a line with words.
const CONTEXT: usize = 2;

/// Line of a symbol.
#[derive(Clone, Copy)]
pub(super) struct Line<'w> {
    /// Number of bytes.
    pub(super) bytes: usize,
    /// Words of the question in it.
    pub(super) words: &'w [u16],
    /// True for a line that is shown with another symbol.
    pub(super) is_hidden: bool,
}

/// Returns which lines are shown within a number of bytes: all of them if they fit, else windows
/// around the lines with the words that matter most and are not shown yet, and the first line.
/// What is left of the room extends the windows.
pub(super) fn select(lines: &[Line<'_>], weights: &[f64], room: usize) -> Vec<bool> {
    let mut selection = Selection { lines, shown: vec![false; lines.len()], room };
    if selection.cost(0, lines.len()) <= room {
        selection.shown.iter_mut().zip(lines).for_each(|(shown, line)| *shown = !line.is_hidden);
        return selection.shown;
    }
    let weights = local(lines, weights);
    let mut seen = vec![0_u32; weights.len()];
    selection.add(0, 1);
    selection.count(0..1, &mut seen);
    loop {
        let value = |line: &Line<'_>| -> f64 {
            let gain = |word: &u16| {
                let word = usize::from(*word);
                weights[word] / f64::from(1 + seen[word])
            };
            line.words.iter().map(gain).sum()
        };
        let best = (0..lines.len())
            .filter(|&at| !selection.shown[at] && !lines[at].is_hidden)
            .map(|at| (value(&lines[at]), at))
            .filter(|(value, _)| *value > 0.0)
            .max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
        let Some((_, at)) = best else { break };
        let (first, end) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(lines.len()));
        let added = if selection.add(first, end) {
            first..end
        } else if selection.add(at, at + 1) {
            at..at + 1
        } else {
            break;
        };
        selection.count(added, &mut seen);
    }
    selection.extend();
    selection.shown
}

/// Weights of the words within the symbol: less for those in many of its lines.
fn local(lines: &[Line<'_>], weights: &[f64]) -> Vec<f64> {
    let mut having = vec![0_u32; weights.len()];
    for word in lines.iter().flat_map(|line| line.words) {
        having[usize::from(*word)] += 1;
    }
    let rarity = |having: &u32| (1.0 + lines.len() as f64 / f64::from(*having).max(1.0)).ln();
    weights.iter().zip(&having).map(|(weight, having)| weight * rarity(having)).collect()
}

struct Selection<'l, 'w> {
    lines: &'l [Line<'w>],
    shown: Vec<bool>,
    room: usize,
}

impl Selection<'_, '_> {
    /// Bytes of the lines from `first` to before `end` that are not shown.
    fn cost(&self, first: usize, end: usize) -> usize {
        let missing = (first..end).filter(|&at| !self.shown[at] && !self.lines[at].is_hidden);
        missing.map(|at| self.lines[at].bytes).sum()
    }

    /// Shows the lines from `first` to before `end`, if they fit.
    fn add(&mut self, first: usize, end: usize) -> bool {
        let cost = self.cost(first, end) + FOLD;
        if cost > self.room {
            return false;
        }
        self.room -= cost;
        (first..end).for_each(|at| self.shown[at] = !self.lines[at].is_hidden);
        true
    }

    /// Counts the words of lines that were shown.
    fn count(&self, range: std::ops::Range<usize>, seen: &mut [u32]) {
        let words = range.filter(|&at| self.shown[at]).flat_map(|at| self.lines[at].words);
        words.for_each(|word| seen[usize::from(*word)] += 1);
    }

    /// Extends every window line by line, first behind it, as long as there is room.
    fn extend(&mut self) {
        loop {
            let before = self.room;
            let is_open = |at: usize| !self.shown[at] && !self.lines[at].is_hidden;
            let behind = (1..self.lines.len()).filter(|&at| is_open(at) && self.shown[at - 1]);
            let ahead = (1..self.lines.len()).filter(|&at| self.shown[at] && is_open(at - 1));
            let next: Vec<usize> = behind.chain(ahead.map(|at| at - 1)).collect();
            for at in next {
                if !self.shown[at] && self.lines[at].bytes <= self.room {
                    self.shown[at] = true;
                    self.room -= self.lines[at].bytes;
                }
            }
            if self.room == before {
                break;
            }
        }
    }
}

/// Divides a number of bytes: small wishes are fulfilled, the others have equal parts of the rest.
pub(super) fn shares(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&at| wanted[at]);
    let (mut left, mut shares) = (room, vec![0; wanted.len()]);
    for (done, &at) in order.iter().enumerate() {
        shares[at] = wanted[at].min(left / (wanted.len() - done));
        left -= shares[at];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the shown lines of a symbol whose lines have ten bytes, and the words at these.
    fn selected(count: usize, words: &[(usize, u16)], room: usize) -> Vec<usize> {
        let mut own = vec![Vec::new(); count];
        words.iter().for_each(|(at, word)| own[*at].push(*word));
        let lines: Vec<Line<'_>> =
            own.iter().map(|words| Line { bytes: 10, words, is_hidden: false }).collect();
        let shown = select(&lines, &[1.0, 4.0], room);
        (0..count).filter(|&at| shown[at]).collect()
    }

    #[test]
    fn a_symbol_that_fits_is_whole_and_another_is_shown_around_the_words() {
        assert_eq!(selected(10, &[(9, 0)], 100).len(), 10);
        let shown = selected(100, &[(50, 1), (80, 0)], 200);
        assert!(
            [0, 48, 49, 50, 51, 52, 78, 80, 82].iter().all(|at| shown.contains(at)),
            "{shown:?}"
        );
        assert!(shown.len() <= 20 && !shown.contains(&30), "{shown:?}");
    }

    #[test]
    fn a_word_that_is_shown_is_replaced_by_another() {
        let many: Vec<(usize, u16)> = (20..60).step_by(8).map(|at| (at, 1)).collect();
        let shown = selected(100, &[many.as_slice(), &[(90, 0)]].concat(), 230);
        assert!(shown.contains(&90), "{shown:?}");
    }

    #[test]
    fn without_words_the_beginning_is_shown_and_the_room_is_used() {
        assert_eq!(selected(100, &[], 100 + FOLD), (0..10).collect::<Vec<_>>());
        assert!(selected(100, &[], 5).is_empty());
    }

    #[test]
    fn small_wishes_are_fulfilled() {
        assert_eq!(shares(&[100, 5000, 300, 4000], 2000), [100, 800, 300, 800]);
        assert_eq!(shares(&[10, 20], 1000), [10, 20]);
        assert_eq!(shares(&[], 1000), [0; 0]);
    }
}

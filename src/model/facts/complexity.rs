//! Complexity of a body.

/// Complexity of the body of a callable. Large values are cut.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Complexity {
    /// Number of independent paths: one more than the decisions.
    pub cyclomatic: u32,
    /// Decisions, each weighted by the structures around it; those of functions inside of it count.
    pub cognitive: u32,
    /// Depth of the innermost control structure.
    pub nesting: u32,
}

const CYCLOMATIC_BITS: u32 = 12;
const NESTING_BITS: u32 = 5;
const COGNITIVE_BITS: u32 = 15;

impl Complexity {
    /// Packs a complexity into one number; 0 is none.
    pub fn pack(of: Option<Self>) -> u32 {
        let cut = |value: u32, bits: u32| value.min((1 << bits) - 1);
        of.map_or(0, |of| {
            cut(of.cyclomatic.max(1), CYCLOMATIC_BITS)
                | cut(of.nesting, NESTING_BITS) << CYCLOMATIC_BITS
                | cut(of.cognitive, COGNITIVE_BITS) << (CYCLOMATIC_BITS + NESTING_BITS)
        })
    }

    /// Unpacks a number.
    pub fn unpack(number: u32) -> Option<Self> {
        let part = |from: u32, bits: u32| number >> from & ((1 << bits) - 1);
        (part(0, CYCLOMATIC_BITS) != 0).then(|| Self {
            cyclomatic: part(0, CYCLOMATIC_BITS),
            nesting: part(CYCLOMATIC_BITS, NESTING_BITS),
            cognitive: part(CYCLOMATIC_BITS + NESTING_BITS, COGNITIVE_BITS),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_complexity_comes_out_as_it_was_or_cut() {
        let of = |cyclomatic, cognitive, nesting| {
            let whole = Some(Complexity { cyclomatic, cognitive, nesting });
            let read = Complexity::unpack(Complexity::pack(whole)).expect("it is one");
            (read.cyclomatic, read.cognitive, read.nesting)
        };
        assert_eq!(of(1, 0, 0), (1, 0, 0));
        assert_eq!(of(4_095, 32_767, 31), (4_095, 32_767, 31));
        assert_eq!(of(5_000, 40_000, 100), (4_095, 32_767, 31));
        assert_eq!((Complexity::pack(None), Complexity::unpack(0)), (0, None));
        assert_eq!(Complexity::unpack(1 << CYCLOMATIC_BITS), None, "there is always one path");
        let simple = Complexity { cyclomatic: 1, cognitive: 0, nesting: 0 };
        assert_eq!(Complexity::pack(Some(simple)), 1, "most bodies take no byte in the store");
    }
}

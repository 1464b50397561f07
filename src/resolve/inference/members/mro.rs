//! Method resolution order: the orders in which languages search a type and its bases for a member.

use crate::db::ty::TyList;
use cograph_model::graph::SymbolRef;
use rustc_hash::{FxHashMap, FxHashSet};

/// Type with the type arguments of the inheritance.
pub(super) type Line = (SymbolRef, TyList);

/// Order under construction.
struct Order<'o> {
    order: &'o mut Vec<Line>,
    known: FxHashSet<SymbolRef>,
}

impl<'o> Order<'o> {
    fn new(order: &'o mut Vec<Line>) -> Self {
        let known = order.iter().map(|(ty, _)| *ty).collect();
        Self { order, known }
    }

    /// Appends a type without duplicates.
    fn add(&mut self, line: Line) {
        if self.known.insert(line.0) {
            self.order.push(line);
        }
    }
}

/// C3 linearization: merges the parents' orders so that every type precedes its bases and source
/// order is kept.
pub(super) fn merge(order: &mut Vec<Line>, parents: Vec<Vec<Line>>) {
    if parents.len() == 1 {
        return depth_first(order, parents);
    }
    let mut order = Order::new(order);
    let direct: Vec<Line> = parents.iter().filter_map(|line| line.first().cloned()).collect();
    let lines = parents.into_iter().chain([direct]).filter(|line| !line.is_empty());
    let mut lines: Vec<std::vec::IntoIter<Line>> = lines.map(Vec::into_iter).collect();
    // Number of lines with a type behind the head.
    let mut behind: FxHashMap<SymbolRef, usize> = FxHashMap::default();
    for line in &lines {
        line.as_slice().iter().skip(1).for_each(|(ty, _)| *behind.entry(*ty).or_default() += 1);
    }
    // Lines with a type as the head.
    let mut heads: FxHashMap<SymbolRef, Vec<usize>> = FxHashMap::default();
    for (place, line) in lines.iter().enumerate() {
        heads.entry(line.as_slice()[0].0).or_default().push(place);
    }
    let mut gone: FxHashSet<SymbolRef> = FxHashSet::default();
    let mut first = 0;
    loop {
        while lines.get(first).is_some_and(|line| line.as_slice().is_empty()) {
            first += 1;
        }
        let head_of = |line: &std::vec::IntoIter<Line>| line.as_slice().first().cloned();
        let free = lines[first..]
            .iter()
            .filter_map(head_of)
            .find(|(head, _)| behind.get(head).is_none_or(|count| *count == 0));
        // An inconsistent hierarchy has no such order: continue with the first head.
        let Some(next) = free.or_else(|| lines.get(first).and_then(head_of)) else { return };
        gone.insert(next.0);
        for place in heads.remove(&next.0).unwrap_or_default() {
            // Skips types that are in the order already.
            while let Some((head, _)) = lines[place].as_slice().first() {
                if !gone.contains(head) {
                    heads.entry(*head).or_default().push(place);
                    break;
                }
                lines[place].next();
                if let Some((head, _)) = lines[place].as_slice().first() {
                    behind.entry(*head).and_modify(|count| *count -= 1);
                }
            }
        }
        order.add(next);
    }
}

pub(super) fn depth_first(order: &mut Vec<Line>, parents: Vec<Vec<Line>>) {
    let mut order = Order::new(order);
    parents.into_iter().flatten().for_each(|line| order.add(line));
}

pub(super) fn breadth_first(order: &mut Vec<Line>, parents: Vec<Vec<Line>>) {
    let mut order = Order::new(order);
    let longest = parents.iter().map(Vec::len).max().unwrap_or(0);
    for depth in 0..longest {
        parents.iter().filter_map(|line| line.get(depth)).for_each(|line| order.add(line.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::ty::no_types;
    use cograph_model::facts::LocalSymbol;
    use cograph_model::graph::FileId;

    fn ty(number: usize) -> SymbolRef {
        SymbolRef { file: FileId(0), symbol: LocalSymbol::at(number) }
    }

    /// C3 by definition: the first head that is in no tail.
    fn by_definition(first: SymbolRef, parents: &[Vec<SymbolRef>]) -> Vec<SymbolRef> {
        let (mut order, mut lines) = (vec![first], parents.to_vec());
        lines.push(parents.iter().map(|line| line[0]).collect());
        loop {
            lines.retain(|line| !line.is_empty());
            let Some(blocked) = lines.first().map(|line| line[0]) else { return order };
            let mut heads = lines.iter().map(|line| line[0]);
            let next = heads
                .find(|head| !lines.iter().any(|line| line[1..].contains(head)))
                .unwrap_or(blocked);
            order.push(next);
            lines.iter_mut().for_each(|line| line.retain(|ty| *ty != next));
        }
    }

    #[test]
    fn several_bases_come_in_the_order_that_c3_defines() {
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut inconsistent = 0;
        for _ in 0..200 {
            let mut orders: Vec<Vec<SymbolRef>> = Vec::new();
            for number in 0..14 {
                let mut bases: Vec<usize> = Vec::new();
                for _ in 0..random(4).min(number) {
                    let base = random(number);
                    if !bases.contains(&base) {
                        bases.push(base);
                    }
                }
                let parents: Vec<Vec<SymbolRef>> =
                    bases.iter().map(|base| orders[*base].clone()).collect();
                let wanted = if parents.is_empty() {
                    vec![ty(number)]
                } else {
                    by_definition(ty(number), &parents)
                };
                let mut order = vec![(ty(number), no_types())];
                merge(
                    &mut order,
                    parents
                        .iter()
                        .map(|line| line.iter().map(|ty| (*ty, no_types())).collect())
                        .collect(),
                );
                let found: Vec<SymbolRef> = order.into_iter().map(|(ty, _)| ty).collect();
                assert_eq!(found, wanted, "bases {bases:?}");
                let stands = |ty: &SymbolRef| found.iter().position(|other| other == ty);
                inconsistent +=
                    usize::from(parents.iter().any(|line| !line.is_sorted_by_key(stands)));
                orders.push(found);
            }
        }
        assert!(
            inconsistent > 20,
            "hierarchies without such an order are among them: {inconsistent}"
        );
    }
}

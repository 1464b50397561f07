//! In which order a type and its bases are asked for a member: the orders that languages have.

use super::ty::TyList;
use crate::model::graph::SymbolRef;

/// A type with the arguments it is inherited with.
pub(super) type Line = (SymbolRef, TyList);

/// C3: merges the parents' orders so that every type comes before its bases and in the order they are written.
pub(super) fn merge(order: &mut Vec<Line>, mut parents: Vec<Vec<Line>>) {
    if let [only] = &mut parents[..] {
        return depth_first(order, vec![std::mem::take(only)]);
    }
    let heads: Vec<Line> = parents.iter().filter_map(|line| line.first().cloned()).collect();
    let mut lines = parents;
    lines.push(heads);
    loop {
        lines.retain(|line| !line.is_empty());
        if lines.is_empty() {
            return;
        }
        let free = lines
            .iter()
            .map(|line| line[0].clone())
            .find(|(head, _)| !lines.iter().any(|line| line[1..].iter().any(|(ty, _)| ty == head)));
        // An inconsistent hierarchy has no such order: the first head goes on.
        let (next, args) = free.unwrap_or_else(|| lines[0][0].clone());
        if !order.iter().any(|(known, _)| *known == next) {
            order.push((next, args));
        }
        for line in &mut lines {
            line.retain(|(ty, _)| *ty != next);
        }
    }
}

pub(super) fn depth_first(order: &mut Vec<Line>, parents: Vec<Vec<Line>>) {
    for line in parents.into_iter().flatten() {
        if !order.iter().any(|(known, _)| *known == line.0) {
            order.push(line);
        }
    }
}

pub(super) fn breadth_first(order: &mut Vec<Line>, parents: Vec<Vec<Line>>) {
    let longest = parents.iter().map(Vec::len).max().unwrap_or(0);
    for depth in 0..longest {
        for line in &parents {
            if let Some(entry) = line.get(depth)
                && !order.iter().any(|(known, _)| *known == entry.0)
            {
                order.push(entry.clone());
            }
        }
    }
}

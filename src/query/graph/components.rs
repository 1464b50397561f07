//! Cycles of dependencies: strongly connected components.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the components with more than one member, largest first, members in order. Iterative,
/// because a chain may be long.
pub(crate) fn cycles(edges: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut following: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (from, to) in edges {
        following.entry(from).or_default().push(to);
        following.entry(to).or_default();
    }
    let mut search = Search::default();
    for &node in following.keys() {
        if !search.seen.contains_key(&node) {
            search.run(node, &following);
        }
    }
    search.groups.sort_by_key(|group| (std::cmp::Reverse(group.len()), group.first().copied()));
    search.groups
}

/// State of Tarjan's algorithm for strongly connected components.
#[derive(Default)]
struct Search {
    /// Index and low link of each visited node.
    seen: BTreeMap<usize, (usize, usize)>,
    stack: Vec<usize>,
    on_stack: BTreeSet<usize>,
    groups: Vec<Vec<usize>>,
}

impl Search {
    fn run(&mut self, start: usize, following: &BTreeMap<usize, Vec<usize>>) {
        let mut path = vec![(start, 0)];
        self.meet(start);
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some(&to) = following[&node].get(*next) else {
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    self.reaches(parent, self.seen[&node].1);
                }
                self.pop_component(node);
                continue;
            };
            *next += 1;
            match self.seen.get(&to) {
                None => {
                    self.meet(to);
                    path.push((to, 0));
                }
                Some(&(met, _)) if self.on_stack.contains(&to) => self.reaches(node, met),
                Some(_) => {}
            }
        }
    }

    fn meet(&mut self, node: usize) {
        let now = self.seen.len();
        self.seen.insert(node, (now, now));
        self.stack.push(node);
        self.on_stack.insert(node);
    }

    fn reaches(&mut self, node: usize, earlier: usize) {
        let entry = self.seen.get_mut(&node).expect("only nodes that were met reach others");
        entry.1 = entry.1.min(earlier);
    }

    /// If the low link of a node is its own index, the nodes above it on the stack are its
    /// component.
    fn pop_component(&mut self, node: usize) {
        let (met, earliest) = self.seen[&node];
        if met != earliest {
            return;
        }
        let start = self
            .stack
            .iter()
            .rposition(|&other| other == node)
            .expect("a node stays on the stack until it is left");
        let mut group = self.stack.split_off(start);
        for member in &group {
            self.on_stack.remove(member);
        }
        if group.len() > 1 {
            group.sort_unstable();
            self.groups.push(group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
        cycles(edges.iter().copied())
    }

    #[test]
    fn groups_are_found_and_nothing_else() {
        assert_eq!(found(&[(0, 1), (1, 2), (2, 3)]), Vec::<Vec<usize>>::new());
        assert_eq!(found(&[(0, 1), (1, 0), (1, 2)]), [[0, 1]]);
        assert_eq!(
            found(&[(5, 4), (4, 3), (3, 5), (3, 1), (1, 2), (2, 1)]),
            [vec![3, 4, 5], vec![1, 2]]
        );
        assert_eq!(found(&[(0, 1), (1, 2), (2, 0), (2, 3), (3, 1)]), [[0, 1, 2, 3]]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let edges: Vec<_> = (0..2_000).map(|node| (node, (node + 1) % 2_000)).collect();
        assert_eq!(found(&edges)[0].len(), 2_000);
    }
}

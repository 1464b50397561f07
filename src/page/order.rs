//! Order of a dependency matrix: what is used stands after what uses it, so that a dependency in
//! the lower triangle is part of a cycle; the members of a component stand together.

use std::collections::{BTreeMap, BTreeSet};

/// Order of the rows and columns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MatrixOrder {
    /// Nodes in order.
    pub nodes: Vec<usize>,
    /// By node, the number of its cycle, the first in order is 0; none outside of cycles.
    pub cycle: Vec<Option<usize>>,
}

/// Orders the nodes of a graph given by its edges (from, to, weight), and the components with
/// several members, which do not overlap.
pub fn order(
    count: usize,
    edges: &[(usize, usize, u64)],
    components: &[Vec<usize>],
) -> MatrixOrder {
    let mut of_node: Vec<usize> = (0..count).collect();
    for (number, component) in components.iter().enumerate() {
        component.iter().for_each(|node| of_node[*node] = count + number);
    }
    // What a component uses, and how many others use it.
    let (mut uses, mut used_by) = (BTreeMap::<usize, BTreeSet<usize>>::new(), BTreeMap::new());
    for group in &of_node {
        used_by.entry(*group).or_insert(0_usize);
    }
    for &(from, to, _) in edges {
        let (from, to) = (of_node[from], of_node[to]);
        if from != to && uses.entry(from).or_default().insert(to) {
            *used_by.entry(to).or_insert(0) += 1;
        }
    }
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    (0..count).for_each(|node| members.entry(of_node[node]).or_default().push(node));
    let mut ready: BTreeSet<usize> =
        used_by.iter().filter(|(_, count)| **count == 0).map(|(group, _)| *group).collect();
    let mut found = MatrixOrder { nodes: Vec::with_capacity(count), cycle: vec![None; count] };
    let mut cycles = 0;
    // The group that was freed last is next: what is used stands near what uses it.
    let mut last: Vec<usize> = Vec::new();
    while let Some(group) = last.pop().or_else(|| ready.first().copied()) {
        if !ready.remove(&group) {
            continue;
        }
        let mut own = members.remove(&group).unwrap_or_default();
        if own.len() > 1 {
            order_members(&mut own, edges);
            own.iter().for_each(|node| found.cycle[*node] = Some(cycles));
            cycles += 1;
        }
        found.nodes.append(&mut own);
        for to in uses.remove(&group).into_iter().flatten().rev() {
            let left = used_by.entry(to).or_insert(1);
            *left -= 1;
            if *left == 0 {
                ready.insert(to);
                last.push(to);
            }
        }
    }
    found
}

/// Inside of a cycle, what uses most of the others and is used least stands first.
fn order_members(members: &mut [usize], edges: &[(usize, usize, u64)]) {
    let inside: BTreeSet<usize> = members.iter().copied().collect();
    let mut balance: BTreeMap<usize, i128> = BTreeMap::new();
    for &(from, to, weight) in edges {
        if from != to && inside.contains(&from) && inside.contains(&to) {
            *balance.entry(from).or_insert(0) -= i128::from(weight);
            *balance.entry(to).or_insert(0) += i128::from(weight);
        }
    }
    members.sort_by_key(|node| (balance.get(node).copied().unwrap_or(0), *node));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(count: usize, edges: &[(usize, usize)], components: &[Vec<usize>]) -> MatrixOrder {
        let edges: Vec<_> = edges.iter().map(|&(from, to)| (from, to, 1)).collect();
        order(count, &edges, components)
    }

    #[test]
    fn what_is_used_stands_after_what_uses_it() {
        let found = ordered(4, &[(3, 1), (1, 0), (3, 2), (2, 0)], &[]);
        let place = |node| found.nodes.iter().position(|other| *other == node);
        assert!(place(3) < place(1) && place(1) < place(0) && place(2) < place(0), "{found:?}");
        assert_eq!(found.cycle, [None; 4]);
    }

    #[test]
    fn the_members_of_a_cycle_stand_together() {
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (4, 5), (5, 4)];
        let found = ordered(6, &edges, &[vec![1, 2], vec![4, 5]]);
        assert_eq!(found.nodes.len(), 6);
        for pair in [[1, 2], [4, 5]] {
            let places = pair.map(|node| found.nodes.iter().position(|other| *other == node));
            let [Some(one), Some(other)] = places else { panic!("{found:?}") };
            assert_eq!(one.abs_diff(other), 1, "{found:?}");
            assert!(found.cycle[pair[0]].is_some() && found.cycle[pair[0]] == found.cycle[pair[1]]);
        }
        assert_ne!(found.cycle[1], found.cycle[4]);
        assert_eq!((found.cycle[0], found.cycle[3]), (None, None));
        let place = |node| found.nodes.iter().position(|other| *other == node);
        assert!(place(0) < place(1) && place(2) < place(3), "{found:?}");
    }

    #[test]
    fn inside_of_a_cycle_the_user_of_most_stands_first() {
        let found = order(2, &[(0, 1, 1), (1, 0, 9)], &[vec![0, 1]]);
        assert_eq!(found.nodes, [1, 0]);
        assert_eq!(order(0, &[], &[]), MatrixOrder::default());
    }
}

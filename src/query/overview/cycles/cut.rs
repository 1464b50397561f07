//! Edges to cut, so that no cycle is left: a feedback arc set of least weight.
//!
//! Of up to [`MAX_EXACT`] nodes it is the least: the best order of every subset is known. Of more
//! it is a good one: an order by degrees, then each node at its best place as long as that helps.
//! In both, every edge that goes back in the order is cut; then those that no cycle needs are kept.

/// Maximum number of nodes of an exact answer: time and memory double with each.
const MAX_EXACT: usize = 16;

/// Maximum number of steps of the improvement, and of the search for edges that may be kept.
const MAX_STEPS: usize = 50_000_000;

/// Edge: from, to, weight.
type Edge = (usize, usize, u64);

/// Returns the positions of the edges to cut, in order, and whether their weight is the least.
pub(super) fn cut(nodes: usize, edges: &[Edge]) -> (Vec<usize>, bool) {
    let is_exact = nodes <= MAX_EXACT;
    let order = if is_exact { best_order(nodes, edges) } else { good_order(nodes, edges) };
    let mut at = vec![0; nodes];
    for (place, &node) in order.iter().enumerate() {
        at[node] = place;
    }
    let back: Vec<usize> = (0..edges.len()).filter(|&e| at[edges[e].0] >= at[edges[e].1]).collect();
    (kept_out(nodes, edges, back), is_exact)
}

/// The order of nodes with the least weight of edges that go back.
fn best_order(nodes: usize, edges: &[Edge]) -> Vec<usize> {
    let mut weights = vec![vec![0; nodes]; nodes];
    for &(from, to, weight) in edges {
        weights[from][to] += weight;
    }
    // By the set of the nodes that come first: the weight of their edges that go back, and the last
    // of them.
    let mut best = vec![(u64::MAX, 0_usize); 1 << nodes];
    best[0].0 = 0;
    for set in 0..best.len() {
        let so_far = best[set].0;
        for node in (0..nodes).filter(|node| set >> node & 1 == 0) {
            let goes_back = (0..nodes).filter(|to| set >> to & 1 == 1);
            let cost = so_far + goes_back.map(|to| weights[node][to]).sum::<u64>();
            let next = &mut best[set | 1 << node];
            if cost < next.0 {
                *next = (cost, node);
            }
        }
    }
    let (mut set, mut order) = (best.len() - 1, Vec::with_capacity(nodes));
    while set != 0 {
        let last = best[set].1;
        order.push(last);
        set &= !(1 << last);
    }
    order.reverse();
    order
}

/// Nodes with the most weight going out first; then each where the least weight goes back.
fn good_order(nodes: usize, edges: &[Edge]) -> Vec<usize> {
    let mut around: Vec<Vec<(usize, i64)>> = vec![Vec::new(); nodes];
    let mut surplus = vec![0_i64; nodes];
    for &(from, to, weight) in edges {
        let weight = i64::try_from(weight).unwrap_or(i64::MAX / 4);
        // Passing the other end with a node adds the weight of the edge, or takes it away.
        around[from].push((to, weight));
        around[to].push((from, -weight));
        surplus[from] += weight;
        surplus[to] -= weight;
    }
    let mut order: Vec<usize> = (0..nodes).collect();
    order.sort_by_key(|&node| (std::cmp::Reverse(surplus[node]), node));
    let mut at = vec![0; nodes];
    let (mut steps, mut improved) = (0, true);
    while improved && steps < MAX_STEPS {
        improved = false;
        for node in 0..nodes {
            for (place, &one) in order.iter().enumerate() {
                at[one] = place;
            }
            let here = at[node];
            let mut ends: Vec<(usize, i64)> =
                around[node].iter().map(|&(other, weight)| (at[other], weight)).collect();
            ends.sort_unstable();
            steps += nodes + ends.len();
            if let Some(place) = better_place(here, &ends) {
                order.remove(here);
                order.insert(place, node);
                improved = true;
            }
        }
    }
    order
}

/// The place of a node at which less weight goes back than here; none if there is none. `ends` has
/// the places of its neighbours with what it costs to go from before each to behind it.
fn better_place(here: usize, ends: &[(usize, i64)]) -> Option<usize> {
    let (mut best, mut place) = (0, None);
    let mut cost = 0;
    for &(at, weight) in ends.iter().filter(|(at, _)| *at > here) {
        cost += weight;
        if cost < best {
            (best, place) = (cost, Some(at));
        }
    }
    cost = 0;
    for &(at, weight) in ends.iter().rev().filter(|(at, _)| *at < here) {
        cost -= weight;
        if cost < best {
            (best, place) = (cost, Some(at));
        }
    }
    place
}

/// The edges of `back` without those that close no cycle with what is kept, the heaviest of which
/// are kept first.
fn kept_out(nodes: usize, edges: &[Edge], mut back: Vec<usize>) -> Vec<usize> {
    if back.len().saturating_mul(edges.len()) > MAX_STEPS {
        return back;
    }
    let mut following: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let mut is_back = vec![false; edges.len()];
    back.iter().for_each(|&edge| is_back[edge] = true);
    for (edge, &(from, to, _)) in edges.iter().enumerate() {
        if !is_back[edge] {
            following[from].push(to);
        }
    }
    back.sort_by_key(|&edge| (std::cmp::Reverse(edges[edge].2), edge));
    back.retain(|&edge| {
        let (from, to, _) = edges[edge];
        let closes = from == to || reaches(&following, to, from);
        if !closes {
            following[from].push(to);
        }
        closes
    });
    back.sort_unstable();
    back
}

fn reaches(following: &[Vec<usize>], start: usize, end: usize) -> bool {
    let mut seen = vec![false; following.len()];
    let mut pending = vec![start];
    while let Some(node) = pending.pop() {
        if node == end {
            return true;
        }
        if !std::mem::replace(&mut seen[node], true) {
            pending.extend(&following[node]);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::components;

    fn left(edges: &[Edge], cut: &[usize]) -> usize {
        let kept = edges.iter().enumerate().filter(|(edge, _)| !cut.contains(edge));
        components::cycles(kept.map(|(_, &(from, to, _))| (from, to))).len()
    }

    fn weight(edges: &[Edge], cut: &[usize]) -> u64 {
        cut.iter().map(|&edge| edges[edge].2).sum()
    }

    /// The least weight, by trying every set of edges.
    fn least(edges: &[Edge]) -> u64 {
        let sets = 0..1_u32 << edges.len();
        let of = |set: u32| (0..edges.len()).filter(|edge| set >> edge & 1 == 1).collect();
        let good = sets.map(of).filter(|set: &Vec<usize>| left(edges, set) == 0);
        good.map(|set| weight(edges, &set)).min().expect("all edges are such a set")
    }

    #[test]
    fn the_lightest_edge_of_a_circle_is_cut() {
        assert_eq!(cut(3, &[(0, 1, 3), (1, 2, 1), (2, 0, 2)]), (vec![1], true));
        assert_eq!(cut(2, &[(0, 1, 2), (1, 0, 5)]), (vec![0], true));
    }

    #[test]
    fn a_cut_is_the_least_and_leaves_no_cycle() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..60 {
            let mut edges: Vec<Edge> = Vec::new();
            for _ in 0..9 {
                let (from, to) = (random(5) as usize, random(5) as usize);
                if from != to && edges.iter().all(|edge| (edge.0, edge.1) != (from, to)) {
                    edges.push((from, to, 1 + random(4)));
                }
            }
            let (cut, is_least) = cut(5, &edges);
            assert_eq!((left(&edges, &cut), is_least), (0, true), "{edges:?}");
            assert_eq!(weight(&edges, &cut), least(&edges), "{edges:?}");
        }
        for nodes in [17, 60, 200] {
            let mut edges: Vec<Edge> = (0..nodes).map(|at| (at, (at + 1) % nodes, 2)).collect();
            for _ in 0..3 * nodes {
                let (from, to) = (random(nodes as u64) as usize, random(nodes as u64) as usize);
                if from != to && edges.iter().all(|edge| (edge.0, edge.1) != (from, to)) {
                    edges.push((from, to, 1 + random(4)));
                }
            }
            let (cut, is_least) = cut(nodes, &edges);
            assert_eq!((left(&edges, &cut), is_least), (0, false));
            for edge in &cut {
                let others: Vec<usize> =
                    cut.iter().copied().filter(|other| other != edge).collect();
                assert!(left(&edges, &others) > 0, "each is needed");
            }
        }
    }
}

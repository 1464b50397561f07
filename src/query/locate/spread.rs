//! Score propagation over one step of the call graph: callees and callers raise the score of a
//! symbol, normalized by their numbers.

use rustc_hash::FxHashMap;

use super::units::Unit;
use super::weight;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::locate::limits::CALLING;
use cograph_model::SiteKind;
use cograph_store::SymbolKey;

/// Adds the shares of neighbours to the scores.
pub(super) fn spread(
    lookup: &Lookup<'_>,
    units: &[Unit],
    scores: &mut [f64],
) -> Result<(), QueryError> {
    let places: FxHashMap<SymbolKey, usize> =
        units.iter().enumerate().map(|(at, unit)| (unit.head.key, at)).collect();
    let mut order: Vec<usize> = (0..units.len()).filter(|&at| scores[at] > 0.0).collect();
    order.sort_by(|&one, &other| scores[other].total_cmp(&scores[one]).then(one.cmp(&other)));
    order.truncate(CALLING);
    let mut gains = vec![0.0; scores.len()];
    let (callees, callers) = (weight::CALLEES, weight::CALLERS);
    for at in order {
        lookup.check()?;
        let row = lookup.symbol(units[at].head.key)?;
        let mut targets: Vec<SymbolKey> = Vec::new();
        for site in lookup.snapshot.sites_in(&row)? {
            if matches!(site.kind, SiteKind::Call | SiteKind::Construct) {
                for target in lookup.targets(&site)? {
                    if !targets.contains(&target) {
                        targets.push(target);
                    }
                }
            }
        }
        let out = 1.0 / (1.0 + targets.len() as f64).sqrt();
        for target in
            targets.iter().filter_map(|target| places.get(target)).filter(|&&target| target != at)
        {
            let (caller, callee) = (&units[at], &units[*target]);
            let share = out / (1.0 + f64::from(callee.head.references)).sqrt();
            gains[at] += callees * scores[*target] * share;
            let are_members = caller.container.is_some() && caller.container == callee.container;
            let callers = if are_members { callers * weight::FELLOW_MEMBERS } else { callers };
            gains[*target] += callers * scores[at] * share;
        }
    }
    scores.iter_mut().zip(gains).for_each(|(score, gain)| *score += gain);
    Ok(())
}

//! Two answers about the same budgets: which are wider and which narrower. Budgets have no price.

use plimsoll_base::words::shortened;
use plimsoll_hooks::allow::{AllowQuestion, Allowances, withheld};

use super::log::Compared;
use crate::words::budget_words;

/// A side that failed holds back as the host does for it.
pub(super) fn compare(
    question: &AllowQuestion,
    active: Option<&Allowances>,
    shadow: Option<&Allowances>,
) -> Compared {
    let held = withheld(question);
    let (active, shadow) = (active.unwrap_or(&held), shadow.unwrap_or(&held));
    let mut result = Compared::default();
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    let rows = active.rows.iter().zip(&shadow.rows).enumerate();
    for (row, (active, shadow)) in rows {
        result.rows += 1;
        if active.nodes == shadow.nodes {
            result.agree += 1;
            continue;
        }
        result.wider += u64::from(shadow.nodes > active.nodes);
        result.narrower += u64::from(shadow.nodes < active.nodes);
        let words = budget_words(question, row);
        mine.push(format!("{words}: {}", nodes(active.nodes)));
        theirs.push(format!("{words}: {}", nodes(shadow.nodes)));
    }
    if !mine.is_empty() {
        result.words = Some((shortened(mine), shortened(theirs)));
    }
    result
}

fn nodes(count: u32) -> String {
    match count {
        u32::MAX => "no limit".to_owned(),
        count => count.to_string(),
    }
}

//! Score cards side by side, for people: a row for each figure, a column for each strategy.

use plimsoll_model::DisruptionReason;
use plimsoll_sim::{Fidelity, LadderStep, Loss, ScoreCard, UsageCard, thousandths};

use crate::output::{change, dollars, percent, ratio, table, thousands};

/// A figure: what it is called, and how it reads on a card.
type Row<Card> = (&'static str, fn(&Card) -> String);

/// The figures, in order; `cost` comes first, and its difference to the first column second.
const ROWS: &[Row<ScoreCard>] = &[
    ("  of it starting / idle nodes", |card| {
        let starting = share(card.cost_starting, card.cost);
        format!("{starting} / {}", share(card.cost_idle, card.cost))
    }),
    ("  cost / LP bound", |card| {
        ratio(card.cost, card.bound.unwrap_or(0))
    }),
    ("  per hour, mean", |card| dollars(card.cost_per_hour())),
    ("nodes, mean / max", |card| {
        let mean = card.nodes_mean as f64 / 1000.0;
        format!("{mean:.1} / {}", card.nodes_max)
    }),
    ("pending p50 / p90", |card| {
        format!("{} / {}", card.waiting.p50, card.waiting.p90)
    }),
    ("pending p99 / max", |card| {
        format!("{} / {}", card.waiting.p99, card.waiting.max)
    }),
    ("pods", |card| count(card.pods)),
    ("  unschedulable", |card| count(card.unplaced_count)),
    ("launches / failed", |card| {
        format!("{} / {}", count(card.launches), card.launch_failures)
    }),
    ("interruptions", |card| count(card.interruptions)),
    (DisruptionReason::COUNTS, |card| {
        let counts = DisruptionReason::LISTED.map(|reason| card.begun.of(reason));
        counts.map(count).join(" / ")
    }),
    ("  saved per hour, predicted / realised", |card| {
        let (predicted, realised) = card.saved();
        format!(
            "{} / {}",
            dollars(predicted.nanos()),
            dollars(realised.nanos())
        )
    }),
    ("evictions", |card| count(card.evictions)),
    ("  disrupted pod-minutes", |card| {
        format!("{:.1}", card.disrupted.millis() as f64 / 60_000.0)
    }),
    ("pods in one zone / one spot pool, mean", |card| {
        let mean = |loss: Option<Loss>| known(loss.map(|loss| loss.mean));
        let losses = card.losses;
        format!("{} / {}", mean(losses.zone), mean(losses.spot))
    }),
    ("replicas on one node, mean / most", |card| {
        let node = card.losses.node;
        let mean = known(node.map(|loss| loss.mean));
        format!("{mean} / {}", known(node.map(|loss| loss.most)))
    }),
    ("disruption refused by policy / guard", |card| {
        let refused = card.refused;
        format!("{} / {}", count(refused.by_policy), count(refused.by_guard))
    }),
    ("  by budget / pod / changed cluster", |card| {
        let refused = card.refused;
        let counts = [refused.by_budget, refused.by_pods, refused.by_change];
        counts.map(count).join(" / ")
    }),
    ("cpu / memory requested", |card| {
        format!("{} / {}", percent(card.cpu_used), percent(card.memory_used))
    }),
    ("node-hours", |card| {
        let all: i64 = card.node_hours.iter().map(|row| row.thousandths).sum();
        format!("{:.1}", all as f64 / 1000.0)
    }),
    ("plan fidelity, pending pods", |card| {
        fidelity(card.pending_pods)
    }),
    ("  evicted pods", |card| fidelity(card.evicted_pods)),
    ("policy faults", |card| thousands(card.faults)),
];

/// Rows of use, shown where the recording has samples of it.
const USAGE: &[Row<UsageCard>] = &[
    ("cpu / memory used of requested", |usage| {
        let cpu = share(usage.hours.cpu_used, usage.hours.cpu_requested);
        format!(
            "{cpu} / {}",
            share(usage.hours.memory_used, usage.hours.memory_requested)
        )
    }),
    ("time with a node above 80 % cpu, none pending", |usage| {
        usage.busy_for.to_string()
    }),
];

/// The table of these cards and what they are called.
pub(super) fn of(runs: &[(&str, &ScoreCard)]) -> String {
    let first = runs.first().map(|(_, card)| *card);
    let line = |name: &str, cell: &dyn Fn(&ScoreCard) -> String| {
        let cells = runs.iter().map(|(_, card)| cell(card));
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let names = runs.iter().map(|(name, _)| (*name).to_owned());
    let mut rows: Vec<Vec<String>> = vec![std::iter::once(String::new()).chain(names).collect()];
    rows.push(line("cost", &|card| dollars(card.cost)));
    rows.push(line("  difference", &|card| {
        first.map_or_else(String::new, |first| difference(first, card))
    }));
    rows.extend(ROWS.iter().map(|(name, cell)| line(name, cell)));
    if runs.iter().any(|(_, card)| card.usage.is_some()) {
        rows.extend(USAGE.iter().map(|(name, cell)| {
            line(name, &|card| {
                let known = card.usage.as_ref();
                known.map_or_else(|| "-".to_owned(), cell)
            })
        }));
    }
    table(&rows)
}

/// Difference in cost to the first run; none where policies failed in either, whose cost is not that of what they ask for.
fn difference(first: &ScoreCard, card: &ScoreCard) -> String {
    match (first.faults, card.faults) {
        (0, 0) => change(card.cost, first.cost),
        (_, 0) => "-".to_owned(),
        (_, faults) => format!("- ({} faults)", thousands(faults)),
    }
}

/// The table of where the money went: the cost of each run from its lower bound up; `None` where that is known of none.
pub(super) fn ladder(runs: &[(&str, &ScoreCard)]) -> Option<String> {
    let known = runs.iter().filter(|(_, card)| !card.ladder.is_empty());
    let known: Vec<&(&str, &ScoreCard)> = known.collect();
    if known.is_empty() {
        return None;
    }
    let cost_of = |card: &ScoreCard, step: LadderStep| {
        let entry = card.ladder.iter().find(|entry| entry.step == step);
        entry.map_or(0, |entry| entry.cost)
    };
    let cell = |cost: i64, card: &ScoreCard| match cost {
        0 => "-".to_owned(),
        cost => format!("{} ({})", dollars(cost), share(cost, card.cost)),
    };
    let names = known.iter().map(|(name, _)| (*name).to_owned());
    let mut rows: Vec<Vec<String>> = vec![
        std::iter::once("cost step by step".to_owned())
            .chain(names)
            .collect(),
    ];
    let matter =
        LadderStep::all().filter(|step| known.iter().any(|(_, card)| cost_of(card, *step) != 0));
    rows.extend(matter.map(|step| {
        let cells = known
            .iter()
            .map(|(_, card)| cell(cost_of(card, step), card));
        std::iter::once(format!("  {step}")).chain(cells).collect()
    }));
    Some(table(&rows))
}

/// The share of planned pods that were bound as planned or sooner, and in brackets those sooner.
fn fidelity(of: Fidelity) -> String {
    let kept = share(of.kept(), of.bound);
    match of.sooner {
        0 => kept,
        sooner => format!("{kept} ({} sooner)", share(sooner, of.bound)),
    }
}

/// A share in percent; a dash where there is none.
fn known(thousandths: Option<i64>) -> String {
    thousandths.map_or_else(|| "-".to_owned(), percent)
}

fn count(number: u32) -> String {
    thousands(u64::from(number))
}

/// Share of a part in a whole, in percent; a dash where the whole is nothing.
fn share(part: impl Into<i128>, whole: impl Into<i128>) -> String {
    known(thousandths(part, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(cost: i64, faults: u64) -> ScoreCard {
        ScoreCard {
            cost,
            faults,
            ..ScoreCard::default()
        }
    }

    #[test]
    fn a_run_in_which_policies_failed_has_no_difference() {
        for (first, other, shown) in [
            (card(200, 0), card(100, 0), "-50.0 %"),
            (card(200, 0), card(0, 1_200), "- (1,200 faults)"),
            (card(200, 3), card(100, 0), "-"),
            (card(200, 3), card(0, 4), "- (4 faults)"),
        ] {
            assert_eq!(difference(&first, &other), shown);
        }
    }
}

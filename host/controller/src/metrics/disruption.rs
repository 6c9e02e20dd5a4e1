//! Voluntary disruption: commands begun, failed and not confirmed, how long decisions took, and what commands have saved.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::units::PricePerHour;
use plimsoll_engine::{CommandKind, EngineCounts};
use plimsoll_model::DisruptionReason;
use plimsoll_model::command::{DisruptionQuestion, Settled};

use super::exposition::{Exposition, whole};
use super::families;
use super::keyed::{Counters, Histograms};

/// Figures of decisions on disruption and of commands that have ended.
#[derive(Clone, Debug)]
pub(crate) struct DisruptionMeters {
    evaluation: Histograms<2>,
    settled: BTreeMap<&'static str, SettledCommands>,
}

/// Commands of one reason that have come to their end, in all.
#[derive(Clone, Debug, Default)]
struct SettledCommands {
    count: u64,
    predicted: PricePerHour,
    realised: PricePerHour,
}

impl Default for DisruptionMeters {
    fn default() -> Self {
        Self {
            evaluation: Histograms::new(&families::EVALUATION),
            settled: BTreeMap::new(),
        }
    }
}

/// Reason and consolidation type of a question.
pub(crate) fn labels_of(question: &DisruptionQuestion) -> [&'static str; 2] {
    match question {
        DisruptionQuestion::Pass { consolidate: true } => ["underutilized", "multi"],
        DisruptionQuestion::Pass { consolidate: false } => ["empty", "empty"],
        DisruptionQuestion::Confirm(command) => {
            let kind = CommandKind::of(command);
            [kind.reason.facts().label, consolidation_type(kind)]
        }
    }
}

const fn consolidation_type(kind: CommandKind) -> &'static str {
    match kind.reason {
        DisruptionReason::Empty => "empty",
        DisruptionReason::Underutilized if kind.is_multi => "multi",
        DisruptionReason::Underutilized => "single",
        DisruptionReason::Drifted => "",
    }
}

/// Decision, reason and consolidation type of a command.
fn labels(kind: CommandKind) -> [Arc<str>; 3] {
    let decision = if kind.replaces { "replace" } else { "delete" };
    let reason = kind.reason.facts().label;
    [decision, reason, consolidation_type(kind)].map(Arc::from)
}

impl DisruptionMeters {
    /// A decision took so long, in seconds.
    pub(crate) fn evaluated(&mut self, labels: [&'static str; 2], took: f64) {
        self.evaluation.observe(labels.map(Arc::from), took);
    }

    /// A command has come to its end.
    pub(crate) fn settled(&mut self, settled: &Settled) {
        let own = self.settled.entry(settled.reason.facts().label);
        let own = own.or_default();
        if settled.is_realised() {
            own.realised += settled.realised;
            return;
        }
        own.count += 1;
        own.predicted += settled.predicted;
        if !settled.reason.facts().saves {
            own.realised += settled.realised;
        }
    }

    pub(crate) fn write(
        &self,
        out: &mut Exposition,
        counts: &EngineCounts,
        eligible: &[(DisruptionReason, usize)],
    ) {
        let by_kind = |kinds: &BTreeMap<CommandKind, u64>| {
            let mut counters = Counters::<3>::default();
            for (kind, count) in kinds {
                counters.add(labels(*kind), *count);
            }
            counters
        };
        out.counters(&families::DECISIONS, &by_kind(&counts.commands));
        let mut by_pool = Counters::<4>::default();
        for ((pool, kind), count) in &counts.commands_by_pool {
            let [decision, reason, consolidation_type] = labels(*kind);
            let pool = Arc::from(pool.as_str());
            by_pool.add([decision, reason, consolidation_type, pool], *count);
        }
        out.counters(&families::DECISIONS_BY_POOL, &by_pool);
        out.histograms(&families::EVALUATION, &self.evaluation);
        let mut samples = out.family(&families::ELIGIBLE_NODES);
        for (reason, nodes) in eligible {
            let nodes = u32::try_from(*nodes).unwrap_or(u32::MAX);
            samples.sample(&[reason.facts().label], f64::from(nodes));
        }
        let mut samples = out.family(&families::CONSOLIDATION_TIMEOUTS);
        for kind in ["multi", "single"] {
            samples.sample(&[kind], 0.0);
        }
        let mut failed = Counters::<1>::default();
        for (kind, count) in &counts.unconfirmed {
            failed.add([Arc::from(consolidation_type(*kind))], *count);
        }
        out.counters(&families::FAILED_VALIDATIONS, &failed);
        let failed = by_kind(&counts.failed_replacements);
        out.counters(&families::QUEUE_FAILURES, &failed);
        self.write_ledger(out);
    }

    fn write_ledger(&self, out: &mut Exposition) {
        let mut samples = out.family(&families::LEDGER_COMMANDS);
        for (reason, own) in &self.settled {
            samples.sample(&[reason], whole(own.count));
        }
        let mut samples = out.family(&families::LEDGER_SAVING);
        for (reason, own) in &self.settled {
            samples.sample(&[reason, "predicted"], own.predicted.dollars());
            samples.sample(&[reason, "realised"], own.realised.dollars());
        }
    }
}

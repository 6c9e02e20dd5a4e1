//! The record of voluntary disruption: counts for those who keep score, and the money of each command.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::command::{Command, Settled};
use crate::ids::ClaimName;
use crate::labels::{self, Labels};
use crate::model::DisruptionReason;
use crate::plan::LaunchOption;
use crate::provider::ProviderFacts;
use crate::time::Timestamp;
use crate::units::PricePerHour;

/// Commands begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// Commands by reason, in the order of codes.
    commands: [u32; DisruptionReason::ALL.len()],
    /// Nodes that all of them took or will take away.
    pub nodes: u32,
    /// Saving as predicted of those that are made to save, in all, per hour at list prices.
    pub saving: PricePerHour,
}

impl Begun {
    /// Commands begun for a reason.
    pub fn of(&self, reason: DisruptionReason) -> u32 {
        self.commands[usize::from(reason.code())]
    }

    /// Adds what another engine began.
    pub fn join(&mut self, other: Self) {
        for (own, more) in self.commands.iter_mut().zip(other.commands) {
            *own += more;
        }
        self.nodes += other.nodes;
        self.saving += other.saving;
    }

    pub(super) fn add(&mut self, reason: DisruptionReason, nodes: usize, saving: PricePerHour) {
        self.commands[usize::from(reason.code())] += 1;
        self.nodes += u32::try_from(nodes).unwrap_or(u32::MAX);
        if reason.facts().saves {
            self.saving += saving;
        }
    }
}

/// Accounts of a command under way: prices of the nodes that it takes away, and launch options of those that it buys.
#[derive(Clone, Debug)]
pub(super) struct CommandAccount {
    settled: Settled,
    prices: BTreeMap<ClaimName, PricePerHour>,
    /// Launch options of each replacement.
    bought: BTreeMap<ClaimName, Vec<LaunchOption>>,
}

impl CommandAccount {
    pub(super) fn open(command: &Command, now: Timestamp) -> Self {
        let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
        let members = command.members.iter().cloned();
        Self {
            settled: Settled {
                reason: command.reason,
                begun: now,
                ended: now,
                nodes: count(command.members.len()),
                gone: 0,
                replacements: count(command.plan.claims.len()),
                predicted: command.list_saving,
                realised: PricePerHour::ZERO,
            },
            prices: members.zip(command.prices.iter().copied()).collect(),
            bought: BTreeMap::new(),
        }
    }

    /// The account of a command that another engine began: its members that are left, by list price, and the number of its
    /// replacements.
    pub(super) fn resumed(
        reason: DisruptionReason,
        prices: BTreeMap<ClaimName, PricePerHour>,
        replacements: usize,
        saving: PricePerHour,
        begun: Timestamp,
    ) -> Self {
        let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
        Self {
            settled: Settled {
                reason,
                begun,
                ended: begun,
                nodes: count(prices.len()),
                gone: 0,
                replacements: count(replacements),
                predicted: saving,
                realised: PricePerHour::ZERO,
            },
            prices,
            bought: BTreeMap::new(),
        }
    }

    pub(super) fn buys(&mut self, claim: &ClaimName, options: &[LaunchOption]) {
        self.bought.insert(claim.clone(), options.to_vec());
    }

    /// A node went because the command asked it to.
    pub(super) fn goes(&mut self, member: &ClaimName) {
        if let Some(price) = self.prices.remove(member) {
            self.settled.gone += 1;
            self.settled.realised += price;
        }
    }

    /// Result of the command at its end. `came` gives the labels of a replacement that is there.
    pub(super) fn close<'c>(
        self,
        provider: &ProviderFacts,
        came: impl Fn(&ClaimName) -> Option<&'c Labels>,
        now: Timestamp,
    ) -> Settled {
        let mut settled = self.settled;
        for (claim, options) in &self.bought {
            let option = came(claim).and_then(|labels| option_of(provider, options, labels));
            if let Some(option) = option {
                settled.realised = settled.realised - option.list_price;
            }
        }
        settled.ended = now;
        settled
    }
}

/// The option that became a machine with these labels.
fn option_of<'o>(
    provider: &ProviderFacts,
    options: &'o [LaunchOption],
    labels: &Labels,
) -> Option<&'o LaunchOption> {
    let reservation = provider.reservation_of(labels);
    let says =
        |key: &str, value: &str| labels.get(key).is_some_and(|label| label.as_ref() == value);
    options.iter().find(|option| {
        says(labels::INSTANCE_TYPE, option.instance_type.as_str())
            && says(labels::ZONE, &option.zone)
            && says(labels::CAPACITY_TYPE, option.capacity_type.as_str())
            && (reservation.is_none() || option.reservation == reservation)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::CapacityType;
    use crate::ids::{ReservationId, TypeName};
    use crate::labels::LabelKey;

    #[test]
    fn a_machine_out_of_a_reservation_was_bought_at_the_price_of_that_one() {
        let provider = ProviderFacts {
            reservation_id: Some(LabelKey::from("example.com/reservation-id")),
            ..ProviderFacts::default()
        };
        let option = |id: &str, nanos: i64| LaunchOption {
            instance_type: TypeName::from("m7g.large"),
            zone: "zone-a".into(),
            capacity_type: CapacityType::Reserved,
            reservation: Some(ReservationId::from(id)),
            price: PricePerHour::from_nanos(nanos),
            list_price: PricePerHour::from_nanos(nanos),
        };
        let options = [option("cr-1", 1), option("cr-2", 2)];
        let labels: Labels = [
            (labels::INSTANCE_TYPE, "m7g.large"),
            (labels::ZONE, "zone-a"),
            (labels::CAPACITY_TYPE, "reserved"),
            ("example.com/reservation-id", "cr-2"),
        ]
        .into_iter()
        .map(|(key, value)| (key.into(), value.into()))
        .collect();
        assert_eq!(option_of(&provider, &options, &labels), Some(&options[1]));
    }
}

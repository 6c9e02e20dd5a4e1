//! Account of one command: the nodes that it takes away, what stands in their place, and the bill of either.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::ids::{ClaimName, NodeName, PoolName};
use plimsoll_base::labels::{self, Labels};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_cluster::{Cluster, GroupId};
use plimsoll_model::command::{Command, CommandId, Settled};
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::{ClaimPhase, ConditionType, DisruptionReason, NodeClaim};

use super::super::commit::PodCounts;

/// A node that is to go: its name, and its list price.
#[derive(Clone, Debug)]
pub(crate) struct Leaver {
    node: NodeName,
    pool: PoolName,
    price: PricePerHour,
}

impl Leaver {
    /// The node of a claim as it stands.
    pub(crate) fn of(claim: &NodeClaim, cluster: &Cluster, price: PricePerHour) -> Self {
        let node = cluster.nodes_of(claim).first();
        Self {
            node: node.map_or_else(|| claim.name.as_str().into(), |node| node.name.clone()),
            pool: claim.pool.clone(),
            price,
        }
    }
}

/// Account of a command, from its beginning to the end of the hour after it.
#[derive(Clone, Debug)]
pub(crate) struct CommandAccount {
    pub(super) settled: Settled,
    leavers: BTreeMap<ClaimName, Leaver>,
    /// List price of the nodes that went.
    went: PricePerHour,
    pub(super) substitutes: BTreeMap<ClaimName, Substitute>,
    /// Pods that ran on the nodes when these were asked to go, less those that something was bought for since.
    pub(super) moved: PodCounts,
}

/// A claim that stands in the place of nodes that went.
#[derive(Clone, Debug)]
pub(super) struct Substitute {
    options: Vec<LaunchOption>,
    /// Pods of the command that it was bought for, and how many it was bought for in all; `None` of a replacement, which counts whole.
    share: Option<(PodCounts, u32)>,
    /// List price, once it has an instance.
    price: PricePerHour,
    /// When it got its instance; `None` as long as it has none.
    since: Option<Timestamp>,
    /// When it was gone; `None` as long as it counts.
    until: Option<Timestamp>,
    /// `true` if it is no more.
    is_lost: bool,
}

impl Substitute {
    fn new(options: &[LaunchOption], share: Option<(PodCounts, u32)>) -> Self {
        Self {
            options: options.to_vec(),
            share,
            price: PricePerHour::ZERO,
            since: None,
            until: None,
            is_lost: false,
        }
    }

    /// Takes in what the claim says of its instance.
    fn learn(&mut self, claim: &NodeClaim, provider: &ProviderFacts) {
        if claim.phase() < ClaimPhase::Launched {
            return;
        }
        let launched = claim.conditions.get(ConditionType::Launched);
        self.since = launched.map(|said| said.since);
        let option = option_of(provider, &self.options, &claim.labels);
        self.price = option.map_or(PricePerHour::ZERO, |option| option.list_price);
    }

    /// Cost per hour, the mean between two instants, or at one.
    fn cost(&self, from: Timestamp, to: Timestamp) -> PricePerHour {
        let Some(since) = self.since else {
            return PricePerHour::ZERO;
        };
        let (stood, window) = if from < to {
            let end = self.until.map_or(to, |until| until.min(to));
            let stood = end.millis() - since.max(from).millis();
            (stood.max(0), to.millis() - from.millis())
        } else {
            let stands = since <= from && self.until.is_none_or(|until| until > from);
            (i64::from(stands), 1)
        };
        let (own, all) = match &self.share {
            None => (1, 1),
            Some((own, all)) => (own.values().copied().sum(), *all),
        };
        let part = i128::from(stood) * i128::from(own);
        let whole = i128::from(window) * i128::from(all.max(1));
        let nanos = i128::from(self.price.nanos()) * part / whole;
        PricePerHour::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
    }
}

impl CommandAccount {
    pub(crate) fn open(command: &Command, cluster: &Cluster, now: Timestamp) -> Self {
        let members = command.members.iter().zip(&command.prices);
        let leaver = |(name, price): (&ClaimName, &PricePerHour)| {
            let claim = cluster.claims.get(name)?;
            Some((name.clone(), Leaver::of(claim, cluster, *price)))
        };
        Self::of(
            CommandId::of(&command.members, now),
            command.reason,
            members.filter_map(leaver).collect(),
            command.plan.claims.len(),
            command.list_saving,
            now,
        )
    }

    /// The account of a command with these nodes, those that are left where another process began it, and so many replacements.
    pub(crate) fn of(
        id: CommandId,
        reason: DisruptionReason,
        leavers: BTreeMap<ClaimName, Leaver>,
        replacements: usize,
        predicted: PricePerHour,
        begun: Timestamp,
    ) -> Self {
        let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
        let pools: BTreeSet<PoolName> = leavers.values().map(|own| own.pool.clone()).collect();
        Self {
            settled: Settled {
                id,
                reason,
                pools,
                begun,
                ended: begun,
                nodes: count(leavers.len()),
                gone: Vec::new(),
                replacements: count(replacements),
                came: Vec::new(),
                bought_since: Vec::new(),
                predicted,
                realised: PricePerHour::ZERO,
                watched: Span::ZERO,
            },
            leavers,
            went: PricePerHour::ZERO,
            substitutes: BTreeMap::new(),
            moved: PodCounts::new(),
        }
    }

    /// A replacement is asked for.
    pub(crate) fn buys(&mut self, claim: &ClaimName, options: &[LaunchOption]) {
        let replacement = Substitute::new(options, None);
        self.substitutes.insert(claim.clone(), replacement);
    }

    /// A claim is bought for some pods, as many of them as are the command's and had nothing bought for them yet; how many those are.
    pub(super) fn returns(
        &mut self,
        claim: &ClaimName,
        options: &[LaunchOption],
        (group, count): (GroupId, u32),
        all: u32,
    ) -> u32 {
        let Some(moved) = self.moved.get_mut(&group).filter(|moved| **moved > 0) else {
            return 0;
        };
        let own = count.min(*moved);
        *moved -= own;
        let new = || Substitute::new(options, Some((PodCounts::new(), all)));
        let bought = self.substitutes.entry(claim.clone()).or_insert_with(new);
        if let Some((pods, _)) = &mut bought.share {
            *pods.entry(group).or_default() += own;
        }
        own
    }

    /// A node went because the command asked it to.
    pub(super) fn goes(&mut self, member: &ClaimName) {
        if let Some(leaver) = self.leavers.remove(member) {
            self.settled.gone.push(leaver.node);
            self.went += leaver.price;
        }
    }

    /// A claim in the place of nodes that went is no more. Its pods may come back once more, unless another command replaces it.
    pub(super) fn loses(
        &mut self,
        claim: &NodeClaim,
        is_replaced: bool,
        provider: &ProviderFacts,
        now: Timestamp,
    ) {
        let Some(lost) = self.substitutes.get_mut(&claim.name) else {
            return;
        };
        if lost.is_lost {
            return;
        }
        lost.learn(claim, provider);
        lost.is_lost = true;
        if is_replaced {
            return;
        }
        lost.until = Some(now);
        let own = lost.share.iter().flat_map(|(pods, _)| pods);
        for (group, count) in own {
            *self.moved.entry(*group).or_default() += count;
        }
    }

    /// The command has come to its end.
    pub(super) fn end(&mut self, now: Timestamp) {
        self.settled.ended = now;
        self.settled.gone.sort_unstable();
    }

    /// The command as it stands so long after its end.
    pub(super) fn tell(
        &mut self,
        cluster: &Cluster,
        provider: &ProviderFacts,
        now: Timestamp,
    ) -> Settled {
        let ended = self.settled.ended;
        for (name, substitute) in &mut self.substitutes {
            if let Some(claim) = cluster.claims.get(name).filter(|_| !substitute.is_lost) {
                substitute.learn(claim, provider);
            }
        }
        let launched = |replaces: bool| {
            let own = self.substitutes.iter();
            let own = own.filter(|(_, it)| it.since.is_some() && it.share.is_none() == replaces);
            own.map(|(name, _)| name.clone()).collect()
        };
        let costs = self.substitutes.values();
        let cost: PricePerHour = costs.map(|it| it.cost(ended, now)).sum();
        Settled {
            came: launched(true),
            bought_since: launched(false),
            realised: self.went - cost,
            watched: now.since(ended),
            ..self.settled.clone()
        }
    }
}

/// The option that became an instance with these labels.
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
    use plimsoll_base::ids::{ReservationId, TypeName};
    use plimsoll_base::labels::LabelKey;
    use plimsoll_model::catalogue::CapacityType;

    use super::*;

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

//! Counts of pods by topology group and domain, and the domains that they leave open.

use plimsoll_base::bits::Bits;

use super::{NO_DOMAIN, TopologyGroup, TopologyModel, TopologyRule};

/// Counts per group and domain. Domains of the host-name key are existing nodes by row, then new nodes.
///
/// A pod on a new node that may still turn out on either side of a group's node filter is counted as possible: it takes a
/// place of a skew, and does not raise the smallest count.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    pub(super) tallies: Vec<Vec<u32>>,
    /// Pods that may turn out not to count, beside those that do.
    pub(super) possible: Vec<Vec<u32>>,
    /// Placed pods by a hard spread of theirs that counts pods without it.
    pub(super) owners: Vec<Vec<u32>>,
    /// Pods counted in all, per group.
    pub(super) totals: Vec<u64>,
    pub(super) nodes: usize,
    /// Changes since a simulation began; `None` outside one.
    log: Option<Vec<Change>>,
}

/// One pod counted, or counted no more.
#[derive(Clone, Copy, Debug)]
struct Change {
    group: usize,
    domain: usize,
    more: bool,
    counted_as: CountedAs,
}

/// What a pod is counted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountedAs {
    /// One that counts.
    Certain,
    /// One that may turn out not to count.
    Possible,
    /// An owner.
    Owner,
}

impl CountedAs {
    fn of(is_certain: bool) -> Self {
        if is_certain {
            Self::Certain
        } else {
            Self::Possible
        }
    }
}

/// The domains of one key that are open to a pod.
#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    /// The key; never that of host names.
    pub(crate) key: usize,
    /// Its domains.
    pub(crate) domains: Bits,
    /// `true` if the pod cannot be where the key has no domain: spread or affinity of its own is about the key. Anti-affinity has
    /// nothing to say there.
    pub(crate) required: bool,
}

/// The part of a pod that topology reads at one step of relaxation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupView<'a> {
    /// Groups it owns, ascending.
    pub(crate) owned: &'a [usize],
    /// Those of them that a daemon meets on every new node open to it, ascending.
    pub(crate) by_daemons: &'a [usize],
    /// Hard spreads that count it and are not its own, which it keeps within their skew where owners are.
    pub(crate) heeded: &'a [usize],
    /// Groups that select it, ascending.
    pub(crate) selected: &'a [usize],
    /// Keys that matter to it, host names apart.
    pub(crate) keys: &'a [usize],
    /// Domains that its strict requirements allow, per key in `keys`.
    pub(crate) domains: &'a [Bits],
}

/// Nodes that a question about domains is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    /// Nodes that are there or opened: what is not counted yet is not there.
    All,
    /// A node to open, with the daemons that come with it.
    New,
}

/// The groups by which a pod is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedBy<'g> {
    /// Groups that select it, ascending.
    pub(crate) selected: &'g [usize],
    /// Groups of its own anti-affinity, which count it for others.
    pub(crate) inverse: &'g [usize],
    /// Hard spreads of its own that count other pods, too.
    pub(crate) heeded_by_others: &'g [usize],
}

impl Counts {
    /// `true` if no pod counts in a group so far.
    pub(crate) fn is_zero(&self, group: usize) -> bool {
        self.totals[group] == 0
    }

    pub(crate) fn new(model: &TopologyModel, nodes: usize) -> Self {
        let sizes = model
            .groups
            .iter()
            .map(|group| model.keys[group.identity.key].values.len());
        Self {
            tallies: sizes.map(|size| vec![0; size]).collect(),
            possible: vec![Vec::new(); model.groups.len()],
            owners: vec![Vec::new(); model.groups.len()],
            totals: vec![0; model.groups.len()],
            nodes,
            log: None,
        }
    }

    /// Remembers changes from now on.
    pub(crate) fn begin(&mut self) {
        self.log = Some(Vec::new());
    }

    /// Forgets what was remembered: the changes stay.
    pub(crate) fn keep(&mut self) {
        self.log = None;
    }

    /// The same for pods that are planned and not there yet: they take a place of a skew, and do not raise the smallest count.
    pub(crate) fn keep_expected(&mut self, model: &TopologyModel) {
        for change in self.log.take().into_iter().flatten() {
            let rule = model.groups[change.group].identity.rule;
            if change.counted_as == CountedAs::Certain
                && matches!(rule, TopologyRule::Spread { .. })
            {
                self.change(Change {
                    more: !change.more,
                    ..change
                });
                self.change(Change {
                    counted_as: CountedAs::Possible,
                    ..change
                });
            }
        }
    }

    /// Takes back every change since [`Counts::begin`].
    pub(crate) fn undo(&mut self) {
        for change in self.log.take().into_iter().flatten().rev() {
            self.change(Change {
                more: !change.more,
                ..change
            });
        }
    }

    /// The host number of the `number`th new node.
    pub(crate) fn new_host(&self, number: usize) -> usize {
        self.nodes + number
    }

    /// `true` if a spread looks at a domain: one of nodes that are there or can be had, or one that has a counted pod.
    pub(super) fn is_known(&self, group: &TopologyGroup, number: usize, domain: usize) -> bool {
        group.known.contains(domain) || self.at(number, domain) > 0
    }

    pub(super) fn at(&self, group: usize, domain: usize) -> u32 {
        self.tallies[group].get(domain).copied().unwrap_or(0)
    }

    /// The most that a domain may turn out to have.
    pub(super) fn most_at(&self, group: usize, domain: usize) -> u32 {
        let possible = self.possible[group].get(domain).copied();
        self.at(group, domain) + possible.unwrap_or(0)
    }

    fn change(&mut self, change: Change) {
        let Change {
            group,
            domain,
            more,
            counted_as,
        } = change;
        if domain == NO_DOMAIN {
            return;
        }
        let counts = match counted_as {
            CountedAs::Certain => &mut self.tallies[group],
            CountedAs::Possible => &mut self.possible[group],
            CountedAs::Owner => &mut self.owners[group],
        };
        let pods = u64::from(counted_as != CountedAs::Owner);
        if counts.len() <= domain {
            counts.resize(domain + 1, 0);
        }
        if more {
            counts[domain] += 1;
            self.totals[group] += pods;
        } else {
            counts[domain] = counts[domain].saturating_sub(1);
            self.totals[group] = self.totals[group].saturating_sub(pods);
        }
        if let Some(log) = &mut self.log {
            log.push(change);
        }
    }

    /// Counts a bound or newly placed pod on an existing node.
    pub(crate) fn record_existing(
        &mut self,
        model: &TopologyModel,
        node: usize,
        by: CountedBy<'_>,
    ) {
        let domain = |group| (domain_of(model, group, node), true);
        self.record(model, by, true, domain);
    }

    /// Counts a pod on an existing node no more.
    pub(crate) fn forget_existing(
        &mut self,
        model: &TopologyModel,
        node: usize,
        by: CountedBy<'_>,
    ) {
        let domain = |group| (domain_of(model, group, node), true);
        self.record(model, by, false, domain);
    }

    /// Counts a pod on a new node: `host` is its number, `domain` tells where it lies on a key, `rows` what it may become.
    pub(crate) fn record_new(
        &mut self,
        model: &TopologyModel,
        host: usize,
        rows: &Bits,
        by: CountedBy<'_>,
    ) {
        self.record(model, by, true, |group| {
            let found = &model.groups[group];
            let filter = found.rows.as_ref();
            if filter.is_some_and(|counted| !counted.meets(rows)) {
                return (NO_DOMAIN, true);
            }
            let certain = filter.is_none_or(|counted| rows.is_within(counted));
            let key = &model.keys[found.identity.key];
            if key.is_host {
                return (host, certain);
            }
            (key.of_rows(rows), certain)
        });
    }

    /// Counts the daemons that come with a new node which may become any of `rows`, for affinity and anti-affinity in its domain.
    /// One that may come keeps others off, one that is certain to come has them near.
    pub(crate) fn record_daemons(&mut self, model: &TopologyModel, rows: &Bits) {
        for group in &model.with_daemons {
            let found = &model.groups[*group];
            let key = &model.keys[found.identity.key];
            let comes = found
                .daemons
                .as_ref()
                .is_some_and(|daemons| match found.identity.rule {
                    TopologyRule::Spread { .. } => false,
                    TopologyRule::Affinity => rows.is_within(&daemons.rows),
                    TopologyRule::AntiAffinity | TopologyRule::Inverse => rows.meets(&daemons.rows),
                });
            if comes && !key.is_host {
                self.change(Change {
                    group: *group,
                    domain: key.of_rows(rows),
                    more: true,
                    counted_as: CountedAs::Certain,
                });
            }
        }
    }

    fn record(
        &mut self,
        model: &TopologyModel,
        by: CountedBy<'_>,
        more: bool,
        domain: impl Fn(usize) -> (usize, bool),
    ) {
        let counting = by
            .selected
            .iter()
            .filter(|group| model.groups[**group].identity.rule != TopologyRule::Inverse);
        for group in counting.chain(by.inverse) {
            let (domain, certain) = domain(*group);
            self.change(Change {
                group: *group,
                domain,
                more,
                counted_as: CountedAs::of(certain),
            });
        }
        for group in by.heeded_by_others {
            let (domain, _) = domain(*group);
            self.change(Change {
                group: *group,
                domain,
                more,
                counted_as: CountedAs::Owner,
            });
        }
    }
}

/// The domain in which a group counts the pods of an existing node.
fn domain_of(model: &TopologyModel, group: usize, node: usize) -> usize {
    let counted = &model.groups[group].nodes;
    if counted.as_ref().is_none_or(|nodes| nodes.contains(node)) {
        model.keys[model.groups[group].identity.key].of_node[node]
    } else {
        NO_DOMAIN
    }
}

//! Counts of pods by topology group and domain, and the domains that they leave open.

use super::{NO_DOMAIN, TopologyGroup, TopologyModel, TopologyRule};
use crate::bits::Bits;

/// Counts per group and domain. Domains of the host-name key are existing nodes by row, then new nodes.
///
/// A pod on a new node that may still turn out on either side of a group's node filter is counted as possible: it takes a
/// place of a skew, and does not raise the smallest count.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    tallies: Vec<Vec<u32>>,
    /// Pods that may turn out not to count, beside those that do.
    possible: Vec<Vec<u32>>,
    /// Placed pods by a hard spread of theirs that counts pods without it.
    owners: Vec<Vec<u32>>,
    /// Pods counted in all, per group.
    totals: Vec<u64>,
    nodes: usize,
    /// Changes since a simulation began; `None` outside one.
    log: Option<Vec<Change>>,
}

/// One pod counted, or counted no more.
#[derive(Clone, Copy, Debug)]
struct Change {
    group: usize,
    domain: usize,
    more: bool,
    tally: Tally,
}

/// What a pod is counted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tally {
    /// One that counts.
    Certain,
    /// One that may turn out not to count.
    Possible,
    /// An owner.
    Owner,
}

impl Tally {
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
            if change.tally == Tally::Certain && matches!(rule, TopologyRule::Spread { .. }) {
                self.change(Change {
                    more: !change.more,
                    ..change
                });
                self.change(Change {
                    tally: Tally::Possible,
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
    fn is_known(&self, group: &TopologyGroup, number: usize, domain: usize) -> bool {
        group.known.contains(domain) || self.at(number, domain) > 0
    }

    fn at(&self, group: usize, domain: usize) -> u32 {
        self.tallies[group].get(domain).copied().unwrap_or(0)
    }

    /// The most that a domain may turn out to have.
    fn most_at(&self, group: usize, domain: usize) -> u32 {
        let possible = self.possible[group].get(domain).copied();
        self.at(group, domain) + possible.unwrap_or(0)
    }

    fn change(&mut self, change: Change) {
        let Change {
            group,
            domain,
            more,
            tally,
        } = change;
        if domain == NO_DOMAIN {
            return;
        }
        let counts = match tally {
            Tally::Certain => &mut self.tallies[group],
            Tally::Possible => &mut self.possible[group],
            Tally::Owner => &mut self.owners[group],
        };
        let pods = u64::from(tally != Tally::Owner);
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

    /// The domains of each of the pod's keys that all groups leave open; `None` when some key has none.
    pub(crate) fn allowed(
        &self,
        model: &TopologyModel,
        view: GroupView<'_>,
        among: Among,
    ) -> Option<Vec<Allowed>> {
        let asks_for = |key: usize, group: usize| {
            let identity = &model.groups[group].identity;
            identity.key == key && identity.rule != TopologyRule::AntiAffinity
        };
        let everywhere = |key: &usize| Allowed {
            key: *key,
            domains: Bits::all(model.keys[*key].values.len()),
            required: view.owned.iter().any(|group| asks_for(*key, *group)),
        };
        let mut result: Vec<Allowed> = view.keys.iter().map(everywhere).collect();
        let inverse = view
            .selected
            .iter()
            .filter(|group| model.groups[**group].identity.rule == TopologyRule::Inverse);
        for group in view.owned.iter().chain(inverse) {
            let key = model.groups[*group].identity.key;
            let Some(at) = view.keys.iter().position(|have| *have == key) else {
                continue;
            };
            let is_met = among == Among::New && view.by_daemons.binary_search(group).is_ok();
            let open = if is_met {
                view.domains[at].clone()
            } else {
                self.open_domains(model, *group, view, &view.domains[at])
            };
            result[at].domains.keep(&open);
            let has_others = !result[at].required && model.keys[key].leaves_out;
            if result[at].domains.is_empty() && !has_others {
                return None;
            }
        }
        for group in view.heeded.iter().filter(|group| !model.is_by_host(**group)) {
            let key = model.groups[*group].identity.key;
            if let Some(at) = view.keys.iter().position(|have| *have == key) {
                let domains = &mut result[at].domains;
                let crowded = domains.iter().filter(|domain| self.crowds(model, *group, *domain, 0));
                let crowded: Vec<usize> = crowded.collect();
                crowded.into_iter().for_each(|domain| domains.remove(domain));
                if domains.is_empty() {
                    return None;
                }
            }
        }
        Some(result)
    }

    /// `true` if one more pod would leave owners of a spread in a domain beyond their skew, had they to be bound last. `daemons` come with
    /// the domain.
    fn crowds(&self, model: &TopologyModel, number: usize, domain: usize, daemons: u32) -> bool {
        if self.owners[number].get(domain).is_none_or(|owners| *owners == 0) {
            return false;
        }
        let group = &model.groups[number];
        let TopologyRule::Spread {
            max_skew,
            min_domains,
        } = group.identity.rule
        else {
            return false;
        };
        let least = if model.is_by_host(number) {
            self.least_of_hosts(group, number, min_domains)
        } else {
            self.least(group, number, min_domains)
        };
        self.most_at(number, domain) + daemons + 1 > least.saturating_add(max_skew)
    }

    fn open_domains(
        &self,
        model: &TopologyModel,
        number: usize,
        view: GroupView<'_>,
        pod_domains: &Bits,
    ) -> Bits {
        let group = &model.groups[number];
        let size = self.tallies[number].len();
        let mut open = Bits::none(size);
        let mut open_where = |condition: &dyn Fn(usize) -> bool| {
            (0..size)
                .filter(|domain| condition(*domain))
                .for_each(|domain| open.insert(domain));
        };
        match group.identity.rule {
            TopologyRule::Spread {
                max_skew,
                min_domains,
            } => {
                let own = u32::from(view.selected.binary_search(&number).is_ok());
                let least = self.least(group, number, min_domains);
                open_where(&|domain| {
                    self.is_known(group, number, domain)
                        && pod_domains.contains(domain)
                        && self.most_at(number, domain) + own <= least.saturating_add(max_skew)
                });
            }
            TopologyRule::Affinity => {
                let first = self.is_first_of(model, number, view);
                open_where(&|domain| {
                    pod_domains.contains(domain) && (first || self.at(number, domain) > 0)
                });
            }
            TopologyRule::AntiAffinity | TopologyRule::Inverse => {
                open_where(&|domain| self.at(number, domain) == 0);
            }
        }
        open
    }

    /// The smallest count over the domains that a group looks at, also where the pod's own labels keep it from some of them: its
    /// filter tells whether they matter.
    fn least(&self, group: &TopologyGroup, number: usize, min_domains: Option<u32>) -> u32 {
        let mut least = None;
        let mut domains = 0;
        let all = 0..self.tallies[number].len();
        for domain in all.filter(|domain| self.is_known(group, number, *domain)) {
            domains += 1;
            let count = self.at(number, domain);
            least = Some(least.map_or(count, |least: u32| least.min(count)));
        }
        if min_domains.is_some_and(|wanted| domains < wanted) {
            0
        } else {
            least.unwrap_or(0)
        }
    }

    /// The smallest count over the hosts that a group looks at.
    fn least_of_hosts(&self, group: &TopologyGroup, number: usize, wanted: Option<u32>) -> u32 {
        let Some(hosts) = &group.hosts else { return 0 };
        if wanted.is_some_and(|wanted| hosts.len() < wanted as usize) {
            return 0;
        }
        let counts = hosts.iter().map(|host| self.at(number, host));
        counts.min().unwrap_or(0)
    }

    /// How crowded a domain is for a pod: pods of the spread groups it owns, then of those that count it.
    pub(crate) fn crowd(
        &self,
        model: &TopologyModel,
        view: GroupView<'_>,
        key: usize,
        domain: usize,
    ) -> (u64, u64) {
        let sum = |groups: &[usize]| {
            groups
                .iter()
                .filter(|group| {
                    let identity = &model.groups[**group].identity;
                    identity.key == key && matches!(identity.rule, TopologyRule::Spread { .. })
                })
                .map(|group| u64::from(self.most_at(*group, domain)))
                .sum()
        };
        (sum(view.owned), sum(view.selected))
    }

    /// `true` if host rules let the pod onto a host.
    pub(crate) fn host_allows(
        &self,
        model: &TopologyModel,
        view: GroupView<'_>,
        host: usize,
    ) -> bool {
        let is_new = host >= self.nodes;
        let daemons_of = |group: &usize| {
            let daemons = model.groups[*group].daemons.as_ref().filter(|_| is_new);
            daemons.map_or(0, |found| found.most)
        };
        let mut heeded = view.heeded.iter().filter(|group| model.is_by_host(**group));
        if heeded.any(|group| self.crowds(model, *group, host, daemons_of(group))) {
            return false;
        }
        let inverse = view
            .selected
            .iter()
            .filter(|group| model.groups[**group].identity.rule == TopologyRule::Inverse);
        view.owned
            .iter()
            .chain(inverse)
            .filter(|group| model.is_by_host(**group))
            .all(|group| {
                let count = self.most_at(*group, host) + daemons_of(group);
                match model.groups[*group].identity.rule {
                    TopologyRule::Spread {
                        max_skew,
                        min_domains,
                    } => {
                        let own = u32::from(view.selected.binary_search(group).is_ok());
                        let least = self.least_of_hosts(&model.groups[*group], *group, min_domains);
                        count + own <= least.saturating_add(max_skew)
                    }
                    TopologyRule::Affinity => {
                        let is_met = is_new && view.by_daemons.binary_search(group).is_ok();
                        is_met
                            || self.most_at(*group, host) > 0
                            || self.is_first_of(model, *group, view)
                    }
                    // Rows with daemons to keep away from are closed to the pod.
                    TopologyRule::AntiAffinity | TopologyRule::Inverse => {
                        self.most_at(*group, host) == 0
                    }
                }
            })
    }

    /// `true` if a pod may begin in a domain of its own: its affinity is to pods such as itself, and none of them is in any domain
    /// of any key of it, also not where the pod's own selector keeps it from (`satisfyPodAffinity`).
    fn is_first_of(&self, model: &TopologyModel, group: usize, view: GroupView<'_>) -> bool {
        if self.totals[group] > 0 || view.selected.binary_search(&group).is_err() {
            return false;
        }
        let target = model.groups[group].target;
        let mut same = view.owned.iter();
        same.all(|owned| model.groups[*owned].target != target || self.totals[*owned] == 0)
    }

    /// `true` if a pod must join a host on which another pod is.
    pub(crate) fn must_join(&self, model: &TopologyModel, view: GroupView<'_>) -> bool {
        view.owned.iter().any(|group| {
            model.is_by_host(*group)
                && model.groups[*group].identity.rule == TopologyRule::Affinity
                && view.by_daemons.binary_search(group).is_err()
                && !self.is_first_of(model, *group, view)
        })
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
                    tally: Tally::Certain,
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
                tally: Tally::of(certain),
            });
        }
        for group in by.heeded_by_others {
            let (domain, _) = domain(*group);
            self.change(Change {
                group: *group,
                domain,
                more,
                tally: Tally::Owner,
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

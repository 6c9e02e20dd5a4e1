//! Domains and hosts that the counts of topology groups leave open to a pod.

use plimsoll_base::bits::Bits;

use super::counts::{Allowed, Among, Counts, GroupView};
use super::{TopologyGroup, TopologyModel, TopologyRule};

impl Counts {
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
        for group in view
            .heeded
            .iter()
            .filter(|group| !model.is_by_host(**group))
        {
            let key = model.groups[*group].identity.key;
            if let Some(at) = view.keys.iter().position(|have| *have == key) {
                let domains = &mut result[at].domains;
                let crowded = domains
                    .iter()
                    .filter(|domain| self.crowds(model, *group, *domain, 0));
                let crowded: Vec<usize> = crowded.collect();
                for domain in crowded {
                    domains.remove(domain);
                }
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
        if self.owners[number]
            .get(domain)
            .is_none_or(|owners| *owners == 0)
        {
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
}

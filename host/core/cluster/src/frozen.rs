//! The snapshot handed out last, brought up to date with what has changed since: a freeze costs what happened, not all there is.
//!
//! A snapshot that a decision still reads is copied before it is changed, so no reader sees it change. What comes out is the same,
//! row by row, as a snapshot made of all objects anew.
//!
//! Looked at again without having changed: pods that are shown other than they are, which depends on promises and on others of their group,
//! and claims whose
//! nodes have not come up, whose room depends on the market. The step before says how objects are shown ([`super::freeze`]).
//!
//! The loop itself freezes: another thread would have to be handed all of the state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::buffers;
use plimsoll_model::snapshot::{NodeJoin, NodeOrder, Objects, Snapshot, StateNode};
use plimsoll_model::{Keyed, Pod};

use super::cluster::{Changed, Cluster};
use super::freeze::{World, add_placeholder, joined, shown_otherwise, wanted};
use super::promise::Assignment;
use super::sorted::Edits;
use super::store::Store;

/// The last snapshot, and what finds its rows again.
#[derive(Clone, Debug, Default)]
pub struct Frozen {
    snapshot: Option<Arc<Snapshot>>,
    revisions: Revisions,
    /// Places of the snapshot's nodes, row by row.
    order: Vec<NodeOrder>,
    /// Places of the rows of each join.
    places: BTreeMap<NodeJoin, Vec<NodeOrder>>,
    /// Joins that are looked at again though nothing about them may have changed.
    unsettled: BTreeSet<NodeJoin>,
    /// Pods that are shown other than they are.
    shown: BTreeSet<ObjectName>,
    /// Pods that stand for spare room.
    spare: Vec<ObjectName>,
}

/// Revisions of the kinds that are copied whole when one of them changes.
type Revisions = [u64; 11];

/// Pods in the order of a snapshot: by name, those of spare room behind others of the same name.
type PodPlace = (ObjectName, bool);

impl Frozen {
    /// The snapshot of an instant. `changed` is what [`Cluster::take_changed`] says, which no other caller may take.
    pub fn freeze(
        &mut self,
        changed: Option<Changed>,
        world: &World<'_>,
        assigned: &Assignment,
        now: Timestamp,
    ) -> &mut Arc<Snapshot> {
        let changed = changed.filter(|_| self.snapshot.is_some());
        let changed = changed.unwrap_or_else(|| {
            *self = Self::default();
            world.cluster.all_changed()
        });
        let mut last = self.snapshot.take().unwrap_or_else(|| empty(world, now));
        let snapshot = Arc::make_mut(&mut last);
        snapshot.now = now;
        snapshot.seed = world.seed;
        snapshot.revision = world.cluster.revision();
        snapshot.settings = Arc::clone(world.settings);
        snapshot.catalogues = Arc::clone(world.market.catalogues());
        self.copy_lists(snapshot, world.cluster);
        self.renew_nodes(snapshot, changed.joins, world, assigned);
        self.renew_pods(snapshot, changed.pods, world, assigned);
        self.snapshot.insert(last)
    }

    /// Copies the lists of small kinds of which something has changed.
    fn copy_lists(&mut self, snapshot: &mut Snapshot, cluster: &Cluster) {
        let [
            pools,
            overlays,
            buffers,
            templates,
            daemon_sets,
            workloads,
            services,
            namespaces,
            disruption_budgets,
            device_classes,
            attachments,
        ] = &mut self.revisions;
        copy(&mut snapshot.pools, &cluster.pools, pools);
        copy(&mut snapshot.overlays, &cluster.overlays, overlays);
        copy(&mut snapshot.buffers, &cluster.buffers, buffers);
        copy(&mut snapshot.templates, &cluster.templates, templates);
        copy(&mut snapshot.daemon_sets, &cluster.daemon_sets, daemon_sets);
        copy(&mut snapshot.workloads, &cluster.workloads, workloads);
        copy(&mut snapshot.services, &cluster.services, services);
        copy(&mut snapshot.namespaces, &cluster.namespaces, namespaces);
        copy(
            &mut snapshot.disruption_budgets,
            &cluster.disruption_budgets,
            disruption_budgets,
        );
        copy(
            &mut snapshot.device_classes,
            &cluster.device_classes,
            device_classes,
        );
        copy(&mut snapshot.attachments, &cluster.attachments, attachments);
        snapshot.volumes = Arc::clone(&cluster.volumes);
    }

    fn renew_nodes(
        &mut self,
        snapshot: &mut Snapshot,
        changed: BTreeSet<NodeJoin>,
        world: &World<'_>,
        assigned: &Assignment,
    ) {
        let wanted = wanted(assigned);
        let mut joins = std::mem::take(&mut self.unsettled);
        joins.extend(changed);
        joins.extend(
            world
                .expected
                .asked()
                .map(|claim| NodeJoin::of_claim(claim)),
        );
        let seen = wanted
            .keys()
            .filter_map(|name| world.cluster.claims.get(*name));
        joins.extend(seen.map(|claim| NodeJoin::of_claim(claim)));

        let mut rows: Vec<(NodeJoin, NodeOrder, StateNode)> = Vec::new();
        for join in &joins {
            let (nodes, claims) = joined(join, world);
            let own = join.rows(nodes, claims).into_iter();
            rows.extend(own.map(|(order, row)| (join.clone(), order, row)));
        }
        snapshot.expect_resources(&mut rows.iter_mut().map(|(.., row)| row).collect::<Vec<_>>());

        let old = joins.iter().filter_map(|join| self.places.remove(join));
        let mut news: BTreeMap<NodeOrder, Option<StateNode>> =
            old.flatten().map(|order| (order, None)).collect();
        for (join, order, mut row) in rows {
            let is_placeholder = add_placeholder(&mut row, &wanted, world.cluster);
            if is_placeholder || row.is_on_its_way() {
                self.unsettled.insert(join.clone());
            }
            self.places.entry(join).or_default().push(order.clone());
            news.insert(order, Some(row));
        }
        let edits = Edits::of(news, |order| self.order.binary_search(order));
        edits.make_keyed(&mut self.order, &mut snapshot.nodes);
    }

    fn renew_pods(
        &mut self,
        snapshot: &mut Snapshot,
        mut names: BTreeSet<ObjectName>,
        world: &World<'_>,
        assigned: &Assignment,
    ) {
        names.append(&mut self.shown);
        names.extend(assigned.keys().cloned());
        names.extend(world.cluster.implied().map(|pod| pod.name.clone()));
        let mut news: BTreeMap<PodPlace, Option<Arc<Pod>>> = BTreeMap::new();
        for name in names {
            let pod = world.cluster.pods.get(&name);
            let pod = pod.filter(|pod| !pod.is_spare());
            let otherwise = pod.and_then(|pod| shown_otherwise(pod, assigned, world.cluster));
            if otherwise.is_some() {
                self.shown.insert(name.clone());
            }
            news.insert((name, false), otherwise.or_else(|| pod.cloned()));
        }
        let old = std::mem::take(&mut self.spare);
        news.extend(old.into_iter().map(|name| ((name, true), None)));
        if snapshot.settings.capacity_buffers {
            let (templates, workloads) = (&snapshot.templates, &snapshot.workloads);
            for pod in buffers::pods(&snapshot.buffers, templates, workloads, snapshot.now) {
                self.spare.push(pod.name.clone());
                news.insert((pod.name.clone(), true), Some(pod));
            }
        }
        let pods = &mut snapshot.pods;
        let edits = Edits::of(news, |(name, is_spare)| {
            pods.binary_search_by(|pod| {
                let by_name = pod.name.cmp(name);
                by_name.then_with(|| pod.is_spare().cmp(is_spare))
            })
        });
        edits.make(pods);
    }
}

/// A snapshot without objects.
fn empty(world: &World<'_>, now: Timestamp) -> Arc<Snapshot> {
    let settings = Arc::clone(world.settings);
    let catalogues = Arc::clone(world.market.catalogues());
    let objects = Objects::default();
    Arc::new(Snapshot::new(
        now, world.seed, settings, catalogues, objects,
    ))
}

fn copy<T: Keyed + PartialEq>(list: &mut Vec<Arc<T>>, store: &Store<T>, known: &mut u64) {
    if store.revision() != *known {
        *known = store.revision();
        *list = store.objects();
    }
}

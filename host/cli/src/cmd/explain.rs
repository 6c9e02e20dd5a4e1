//! `plimsoll explain`: why a pod is pending, why a node or NodeClaim is what it is and whether it goes, what a NodePool may do, or why a
//! planned NodeClaim has its instance types.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use plimsoll_api::Kind;
use plimsoll_base::words::shortened;
use plimsoll_model::plan::{Plan, Target};
use plimsoll_model::snapshot::{Objects, Snapshot};
use plimsoll_model::{Node, NodePool, Pod};
use plimsoll_policy::Engine;
use plimsoll_snapshot::Loaded;

use crate::decider::Decider;
use crate::explain;
use crate::findings;
use crate::flags::{self, Format, Subject};
use crate::load;
use crate::meant::{closest, question};
use crate::output::{counted, show};
use crate::player::Decided;
use crate::policy::engine;
use crate::priced::Priced;
use crate::strategy::Strategy;
use crate::view::explanation::{NodeClaimExplanation, PodExplanation, PodState};
use crate::view::node::NodeExplanation;
use crate::view::node_claim::NodeClaimProgress;
use crate::view::node_pool::NodePoolExplanation;
use crate::view::plan::claim_name;

/// Least likeness of two names for one to be suggested.
const LIKENESS: f64 = 0.75;
/// Where names are looked for where no file is given.
const CLUSTER: &str = "cluster";
/// The policy of a file where no other is named.
const LIST_PRICE: &str = "rank=list-price";

pub(crate) fn run(flags: &flags::Explain) -> Result<()> {
    let priced: Arc<Priced> = Arc::default();
    let Asked {
        mut loaded,
        decider,
        is_cluster,
        left_out,
    } = asked(flags, &priced)?;
    let found = load::found(&mut loaded);
    let snapshot = &loaded.snapshot;
    priced.leave_out(decider.unranked(snapshot));
    let mut beside = beside(&loaded, &decider, is_cluster);
    beside.extend(left_out.iter().map(|pool| findings::left_out(pool)));
    let explained = Explained {
        beside,
        loaded: &loaded,
        decider: &decider,
        priced: &priced,
        place: if is_cluster { CLUSTER } else { "snapshot" },
        output: flags.output,
    };
    let running = || found.disruption_snapshot(snapshot.now);
    match flags.subject {
        Subject::Node => {
            let row = node_row(snapshot, &flags.name, explained.place);
            let row = explained.known(Kind::Node, &flags.name, row)?;
            explained.node(&running(), row)
        }
        Subject::Pool => explained.pool(&flags.name),
        Subject::Pod => explained.pod(&flags.name),
        Subject::Claim if claim_row(snapshot, &flags.name).is_some() => {
            explained.claim(&running(), &flags.name)
        }
        Subject::Claim => explained.planned(&flags.name),
    }
}

/// A file or a cluster, as it was asked for, and the decider in it.
struct Asked {
    loaded: Loaded,
    decider: Decider,
    /// `true` if it was read from an API server.
    is_cluster: bool,
    /// NodePools of a cluster whose offerings are not known.
    left_out: Vec<String>,
}

/// A cluster to explain, who decides in it, and what belongs to any explanation of it.
struct Explained<'l> {
    loaded: &'l Loaded,
    decider: &'l Decider,
    priced: &'l Priced,
    /// Findings that are no matter of one object's.
    beside: Vec<String>,
    /// Where names are looked for: the cluster, or the snapshot.
    place: &'static str,
    output: Format,
}

impl Explained<'_> {
    fn node(&self, snapshot: &Snapshot, row: usize) -> Result<()> {
        let (outlook, faults) = self.decider.outlook(snapshot, row)?;
        let mut node = NodeExplanation::of(snapshot, &outlook, self.priced, row);
        let own = of_row(self.loaded, snapshot, row);
        node.findings = self.with_beside([faults, own].concat());
        let text = || node.text() + &findings::lines(&node.findings);
        show(self.output, || &node, text)
    }

    fn pool(&self, name: &str) -> Result<()> {
        let (loaded, snapshot) = (self.loaded, &self.loaded.snapshot);
        let found = pool(&loaded.objects, name, self.place);
        let found = self.known(Kind::NodePool, name, found)?;
        let mut pool = NodePoolExplanation::of(snapshot, found);
        pool.policies = self.decider.policies_of(found);
        if self.place == CLUSTER && found.status.conditions.is_empty() {
            pool.unreported();
        }
        if let Some(why) = self.decider.holds(found) {
            pool.hold(&why);
        }
        let own = findings::of_pools(loaded, |name| name == found.name.as_str());
        pool.findings = self.with_beside(own);
        let text = || pool.text() + &findings::lines(&pool.findings);
        show(self.output, || &pool, text)
    }

    fn pod(&self, name: &str) -> Result<()> {
        let (snapshot, priced) = (&self.loaded.snapshot, self.priced);
        let row = self.known(Kind::Pod, name, pod_row(snapshot, name, self.place))?;
        let Decided {
            mut plan, faults, ..
        } = self.decider.plan(snapshot)?;
        self.decider
            .tell_nearest(snapshot, &mut plan, |pod| pod == row);
        let mut explained = PodExplanation::of(snapshot, &plan, priced, row);
        let own = findings::of_pod(self.loaded, &plan, row);
        explained.findings = self.with_beside([faults, own].concat());
        let lines = findings::lines(&explained.findings);
        let text = || pod(snapshot, &plan, priced, row) + &lines;
        show(self.output, || &explained, text)
    }

    fn claim(&self, snapshot: &Snapshot, name: &str) -> Result<()> {
        let row = claim_row(snapshot, name).context("a NodeClaim")?;
        let (outlook, faults) = self.decider.outlook(snapshot, row)?;
        let claim = NodeClaimProgress::of(snapshot, &outlook, self.priced, row);
        let mut claim = claim.context("a NodeClaim")?;
        let own = of_row(self.loaded, snapshot, row);
        claim.findings = self.with_beside([faults, own].concat());
        let text = || claim.text() + &findings::lines(&claim.findings);
        show(self.output, || &claim, text)
    }

    fn planned(&self, name: &str) -> Result<()> {
        let (snapshot, priced) = (&self.loaded.snapshot, self.priced);
        let Decided { plan, faults, .. } = self.decider.plan(snapshot)?;
        let number = claim_number(snapshot, &plan, name, self.place);
        let number = self.known(Kind::NodeClaim, name, number)?;
        let mut explained = NodeClaimExplanation::of(snapshot, &plan, priced, number);
        let own = plan.claims[number].pool.as_str();
        let own = findings::of_pools(self.loaded, |name| name == own);
        explained.findings = self.with_beside([faults, own].concat());
        let lines = findings::lines(&explained.findings);
        let text = || claim(snapshot, &plan, priced, number) + &lines;
        show(self.output, || &explained, text)
    }

    fn with_beside(&self, mut findings: Vec<String>) -> Vec<String> {
        let beside = self.beside.iter().filter(|it| !findings.contains(it));
        let beside: Vec<String> = beside.cloned().collect();
        findings.extend(beside);
        findings
    }

    /// The object that was looked for; where it is there and cannot be read, that is why it was not found.
    fn known<T>(&self, kind: Kind, name: &str, found: Result<T>) -> Result<T> {
        found.or_else(
            |error| match findings::unreadable(self.loaded, kind, name) {
                Some(sentence) => bail!(sentence),
                None => Err(error),
            },
        )
    }
}

/// Findings that may bear on any explanation: policies that do not serve as they should, and objects of a cluster that cannot be read. Those
/// of a file are warnings.
fn beside(loaded: &Loaded, decider: &Decider, is_cluster: bool) -> Vec<String> {
    let mut beside = decider.findings(&loaded.snapshot);
    if is_cluster {
        beside.extend(findings::of_unread(loaded));
    }
    beside
}

/// Findings about the node class of a node or NodeClaim; what itself waits for is told in its explanation.
fn of_row(loaded: &Loaded, snapshot: &Snapshot, row: usize) -> Vec<String> {
    let pool = snapshot.nodes[row].pool();
    let is_meant = |name: &str| pool.as_ref().is_some_and(|pool| pool.as_str() == name);
    findings::of_classes(loaded, is_meant)
}

/// The content of the file, and the strategy that decides; or the cluster where no file is named, and the policies that serve there
/// where no other is.
#[cfg(feature = "live")]
fn asked(flags: &flags::Explain, priced: &Arc<Priced>) -> Result<Asked> {
    let engine = engine()?;
    let Some(path) = &flags.snapshot else {
        let are_asked = flags.policy.is_empty();
        let live =
            crate::cluster::live_cluster(&flags.access, &flags.sold, are_asked.then_some(&engine))?;
        let loaded = load::with_settings(live.loaded, &flags.deciding);
        let decider = if are_asked {
            Decider::serving(live.standing, priced.clone(), &loaded.snapshot)
        } else {
            strategy(flags, &engine, &loaded, priced)?
        };
        return Ok(Asked {
            loaded,
            decider,
            is_cluster: true,
            left_out: live.left_out,
        });
    };
    let loaded = load::snapshot(path, &flags.deciding)?;
    let decider = strategy(flags, &engine, &loaded, priced)?;
    Ok(Asked {
        loaded,
        decider,
        is_cluster: false,
        left_out: Vec::new(),
    })
}

#[cfg(not(feature = "live"))]
fn asked(flags: &flags::Explain, priced: &Arc<Priced>) -> Result<Asked> {
    let loaded = load::snapshot(&flags.snapshot, &flags.deciding)?;
    let decider = strategy(flags, &engine()?, &loaded, priced)?;
    Ok(Asked {
        loaded,
        decider,
        is_cluster: false,
        left_out: Vec::new(),
    })
}

fn strategy(
    flags: &flags::Explain,
    engine: &Engine,
    loaded: &Loaded,
    priced: &Arc<Priced>,
) -> Result<Decider> {
    let strategy = match flags.policy.as_slice() {
        [] => Strategy::parse(&[LIST_PRICE.to_owned()], engine),
        policies => Strategy::parse(policies, engine),
    }?;
    strategy.check(&loaded.snapshot.catalogues)?;
    Ok(Decider::asked(strategy, priced.clone()))
}

/// The row of the node of that name.
fn node_row(snapshot: &Snapshot, name: &str, place: &str) -> Result<usize> {
    let objects = || snapshot.nodes.iter().map(|row| row.node.as_ref());
    let is_meant = |node: Option<&Arc<Node>>| node.is_some_and(|it| it.name.as_str() == name);
    objects().position(is_meant).with_context(|| {
        let names = objects().flatten().map(|node| node.name.as_str());
        format!(
            "there is no node {name} in the {place}{}",
            question(closest(name, names))
        )
    })
}

/// The row of the NodeClaim of that name; `None` where the cluster has none.
fn claim_row(snapshot: &Snapshot, name: &str) -> Option<usize> {
    let mut claims = snapshot.nodes.iter().map(|row| row.claim.as_ref());
    claims.position(|claim| claim.is_some_and(|it| it.name.as_str() == name))
}

/// The NodePool of that name, with its conditions, which no decision reads and a snapshot does not have.
fn pool<'o>(objects: &'o Objects, name: &str, place: &str) -> Result<&'o NodePool> {
    let mut pools = objects.pools.iter();
    let pool = pools.find(|pool| pool.name.as_str() == name);
    pool.map(|pool| &**pool).with_context(|| {
        let names = objects.pools.iter().map(|pool| pool.name.as_str());
        format!(
            "there is no NodePool {name} in the {place}{}",
            question(closest(name, names))
        )
    })
}

/// The row of the pod of that name.
fn pod_row(snapshot: &Snapshot, name: &str, place: &str) -> Result<usize> {
    let matches = |row: &usize| {
        let pod = &snapshot.pods[*row];
        pod.name.to_string() == name || pod.name.name.as_ref() == name
    };
    let rows: Vec<usize> = (0..snapshot.pods.len()).filter(matches).collect();
    match rows.as_slice() {
        [row] => Ok(*row),
        [] => bail!(
            "there is no pod {name} in the {place}{}",
            meant(snapshot, name)
        ),
        several => {
            let names = several
                .iter()
                .map(|row| snapshot.pods[*row].name.to_string());
            bail!(
                "there are several pods called {name}: {}; expected namespace/name",
                shortened(names)
            );
        }
    }
}

fn pod(snapshot: &Snapshot, plan: &Plan, priced: &Priced, row: usize) -> String {
    let name = &snapshot.pods[row].name;
    match PodState::of(snapshot, plan, row) {
        PodState::Unschedulable(unplaced) => explain::refusal(snapshot, unplaced),
        PodState::FitsExistingNode(node) => {
            let node = snapshot.nodes[node].name();
            format!("{name} fits on the existing node {node}\n")
        }
        PodState::NeedsNewNode(number) => {
            let claim = explain::claim(snapshot, plan, number, priced);
            format!("{name} gets a new node\n{claim}")
        }
        PodState::Nominated(claim) => {
            format!("{name} is expected on NodeClaim {claim}, whose node has not come up\n")
        }
        PodState::Bound(node) => format!("{name} runs on {node}\n"),
        PodState::NotPlanned(outside) => format!("{name} {outside}\n"),
        PodState::Ended => format!("{name} has ended\n"),
    }
}

/// The pod that was probably meant, as a question.
fn meant(snapshot: &Snapshot, name: &str) -> String {
    let likeness = |pod: &Pod| {
        let whole = strsim::jaro_winkler(&pod.name.to_string(), name);
        whole.max(strsim::jaro_winkler(&pod.name.name, name))
    };
    let best = snapshot
        .pods
        .iter()
        .map(|pod| (likeness(pod), pod))
        .filter(|(likeness, _)| *likeness >= LIKENESS)
        .max_by(|left, right| left.0.total_cmp(&right.0));
    best.map_or_else(String::new, |(_, pod)| {
        format!("; did you mean {}?", pod.name)
    })
}

/// The number of the planned claim of that name, or of that number.
fn claim_number(snapshot: &Snapshot, plan: &Plan, name: &str, place: &str) -> Result<usize> {
    let names: Vec<String> = (0..plan.claims.len())
        .map(|row| claim_name(snapshot, plan, row).to_string())
        .collect();
    let named = names.iter().position(|known| known == name);
    let numbered = || {
        name.parse::<usize>()
            .ok()
            .filter(|number| *number < names.len())
    };
    let Some(number) = named.or_else(numbered) else {
        let has = match names.len() {
            0 => "has none".to_owned(),
            count => format!("has {count}, numbered from 0"),
        };
        let known = snapshot.nodes.iter().filter_map(|row| row.claim.as_ref());
        let known = known.map(|claim| claim.name.as_str());
        let names = names.iter().map(String::as_str).chain(known);
        bail!(
            "there is no NodeClaim {name} in the {place}, nor in its plan, which {has}{}",
            question(closest(name, names))
        );
    };
    Ok(number)
}

fn claim(snapshot: &Snapshot, plan: &Plan, priced: &Priced, number: usize) -> String {
    let mut text = explain::claim(snapshot, plan, number, priced);
    for note in plan.notes_for(&plan.claims[number].pool) {
        text.push_str(&format!("  note: {note}\n"));
    }
    let pods: Vec<String> = plan
        .placements
        .iter()
        .filter(|placement| placement.target == Target::New(number))
        .map(|placement| snapshot.pods[placement.pod].name.to_string())
        .collect();
    text.push_str(&format!(
        "  for {}: {}\n",
        counted(pods.len(), "pod"),
        shortened(&pods)
    ));
    text
}

//! Findings beside an explanation: what node classes say is not well, why pools are not ready and instances were not launched, in the
//! sentences of the objects, which name the way out; and objects that cannot be read.

use std::sync::Arc;

use plimsoll_api::Kind;
use plimsoll_model::plan::{Plan, PoolRefusal, Refusal};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{ConditionType, NodeClaim, NodePool};
use plimsoll_snapshot::section::{ClassConditionEntry, NodeClassEntry};
use plimsoll_snapshot::{Loaded, Note};

use crate::view::explanation::PodState;
use crate::view::node_pool::waits_for;

/// Most findings about objects that cannot be read in one explanation.
const MOST_UNREAD: usize = 10;
/// Type of the condition that sums up the others.
const READY: &str = "Ready";

/// Findings about NodePools: their node classes, and those of their NodeClaims that have no instance.
pub(crate) fn of_pools(loaded: &Loaded, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
    let claims = loaded.snapshot.nodes.iter();
    let claims = claims.filter(|row| row.pool().is_some_and(|pool| is_meant(pool.as_str())));
    let launches = claims.filter_map(|row| not_launched(row.claim.as_deref()?));
    let mut findings = of_classes(loaded, &is_meant);
    findings.extend(launches);
    findings
}

/// Findings about the node classes of NodePools.
pub(crate) fn of_classes(loaded: &Loaded, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
    let pools = loaded.objects.pools.iter();
    let pools: Vec<_> = pools.filter(|pool| is_meant(pool.name.as_str())).collect();
    let is_used = |class: &&NodeClassEntry| pools.iter().any(|pool| is_of(pool, class));
    let classes = loaded.node_classes.iter().filter(is_used);
    classes.flat_map(of_class).collect()
}

/// Findings about what a pod waits for; none where it waits for nothing that is bought.
pub(crate) fn of_pod(loaded: &Loaded, plan: &Plan, row: usize) -> Vec<String> {
    let snapshot = &loaded.snapshot;
    match PodState::of(snapshot, plan, row) {
        PodState::Unschedulable(unplaced) => match &unplaced.reason {
            Refusal::Unschedulable(pools) => of_unplaced(loaded, |name| {
                let is_asked = |own: &PoolRefusal| !own.excludes && own.pool.as_str() == name;
                pools.is_empty() || pools.iter().any(is_asked)
            }),
            Refusal::NoPool => of_unplaced(loaded, |_| false),
            _ => Vec::new(),
        },
        PodState::NeedsNewNode(number) => {
            let pool = plan.claims[number].pool.as_str();
            of_pools(loaded, |name| name == pool)
        }
        PodState::Nominated(claim) => of_nominated(loaded, snapshot, claim),
        PodState::FitsExistingNode(_)
        | PodState::Bound(_)
        | PodState::NotPlanned(_)
        | PodState::Ended => Vec::new(),
    }
}

/// Findings about the pools that a pod was planned in, and about those that could not be: they are not ready.
fn of_unplaced(loaded: &Loaded, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
    let pools = loaded.objects.pools.iter();
    let unready: Vec<_> = pools.filter(|pool| !is_usable(loaded, pool)).collect();
    let sentence = |pool: &&Arc<NodePool>| {
        let waits = waits_for(&loaded.snapshot, pool).join("; ");
        format!("NodePool {} is not ready: it waits for {waits}", pool.name)
    };
    let mut findings: Vec<String> = unready.iter().map(sentence).collect();
    findings.extend(of_pools(loaded, |name| {
        is_meant(name) || unready.iter().any(|pool| pool.name.as_str() == name)
    }));
    findings
}

/// `true` if new nodes may be of a pool.
fn is_usable(loaded: &Loaded, pool: &NodePool) -> bool {
    let is_served = loaded.snapshot.catalogues.serves(&pool.class);
    pool.ready && pool.deleting.is_none() && is_served
}

/// A NodePool of EC2 in a cluster that does not say its region.
pub(crate) fn left_out(pool: &str) -> String {
    format!(
        "NodePool {pool} has an EC2NodeClass, and neither a node nor AWS_REGION says in which region; its offerings are left out"
    )
}

/// Objects of a cluster that cannot be read, wholly or in part.
pub(crate) fn of_unread(loaded: &Loaded) -> Vec<String> {
    let notes = loaded.notes.iter().filter(|note| note.is_of_unread());
    let mut sentences: Vec<String> = notes.map(ToString::to_string).collect();
    let more = sentences.len().saturating_sub(MOST_UNREAD);
    sentences.truncate(MOST_UNREAD);
    if more > 0 {
        sentences.push(format!(
            "{more} more findings about objects that cannot be read in whole"
        ));
    }
    sentences
}

/// Why an object of the cluster cannot be read; `None` where there is none of that name, or it can.
pub(crate) fn unreadable(loaded: &Loaded, kind: Kind, name: &str) -> Option<String> {
    let mut notes = loaded.notes.iter();
    let note = notes.find(|note| {
        let Note::Unreadable {
            kind: own,
            name: known,
            ..
        } = note
        else {
            return false;
        };
        let bare = known.rsplit('/').next();
        own == kind.as_str() && (known == name || bare == Some(name))
    });
    note.map(ToString::to_string)
}

fn of_nominated(loaded: &Loaded, snapshot: &Snapshot, claim: &str) -> Vec<String> {
    let mut rows = snapshot.nodes.iter();
    let row = rows.find(|row| row.name() == claim || named(row.claim.as_deref(), claim));
    let Some(row) = row else {
        return Vec::new();
    };
    let pool = row.pool();
    let is_meant = |name: &str| pool.as_ref().is_some_and(|pool| pool.as_str() == name);
    let mut findings = of_classes(loaded, is_meant);
    findings.extend(row.claim.as_deref().and_then(not_launched));
    findings
}

fn named(claim: Option<&NodeClaim>, name: &str) -> bool {
    claim.is_some_and(|claim| claim.name.as_str() == name)
}

/// The findings as lines below an explanation.
pub(crate) fn lines(findings: &[String]) -> String {
    let lines = findings.iter();
    let lines = lines.map(|finding| format!("finding: {finding}\n"));
    lines.collect::<Vec<_>>().concat()
}

fn is_of(pool: &NodePool, class: &NodeClassEntry) -> bool {
    *pool.class.kind == *class.kind && *pool.class.name == *class.name
}

/// A sentence for each condition; the one that sums up the others only where it stands alone.
fn of_class(class: &NodeClassEntry) -> Vec<String> {
    let (sums, others): (Vec<_>, Vec<_>) =
        class.conditions.iter().partition(|own| own.kind == READY);
    let told = if others.is_empty() { sums } else { others };
    let sentence = |own: &ClassConditionEntry| {
        let ClassConditionEntry { kind, status, .. } = own;
        let what = format!("{} {}: {kind} is {status}", class.kind, class.name);
        let mut words = vec![&*what, &own.reason, &own.message];
        words.retain(|words| !words.is_empty());
        words.join(": ")
    };
    told.into_iter().map(sentence).collect()
}

/// Why a claim has no instance yet, where it says so.
fn not_launched(claim: &NodeClaim) -> Option<String> {
    let said = claim.conditions.get(ConditionType::Launched)?;
    let is_failed = !claim.conditions.is_true(ConditionType::Launched) && *said.reason != *AWAITED;
    is_failed.then(|| {
        format!(
            "NodeClaim {}: it has no instance: {}",
            claim.name, said.message
        )
    })
}

/// Reason of a claim that nothing is known of yet; of one whose launch failed it says why.
const AWAITED: &str = "AwaitingReconciliation";

#[cfg(test)]
mod tests {
    use plimsoll_api::ResizeRule;
    use plimsoll_snapshot::{Limits, read_served};
    use serde_json::{Value, json};

    use super::*;

    fn served(items: &[Value]) -> Loaded {
        let list = json!({
            "apiVersion": "v1", "kind": "List", "items": items,
            "plimsoll": {"time": "2026-01-01T00:00:00Z", "catalogue": {"region": "us-east-1"}},
        });
        let text = serde_json::to_vec(&list).expect("JSON");
        let read = read_served(&text[..], &Limits::default(), ResizeRule::default());
        read.expect("the rest is read")
    }

    fn pool(class: &Value, packing: &str) -> Value {
        json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
            "metadata": {"name": "general", "uid": "general", "annotations": {"plimsoll.dev/packing": packing}},
            "spec": {"template": {"spec": {"nodeClassRef": class, "requirements": []}}},
            "status": {"conditions": [{
                "type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
            }]},
        })
    }

    #[test]
    fn a_pool_that_is_read_in_part_waits_until_it_can_be_read_whole() {
        let class =
            json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
        for (pool, field) in [
            (
                pool(&class, "tight"),
                "metadata.annotations[plimsoll.dev/packing] is \"tight\"; ",
            ),
            (
                pool(&json!("odd"), "price"),
                "spec.template.spec.nodeClassRef is \"odd\"; ",
            ),
        ] {
            let loaded = served(&[pool]);
            let waits = waits_for(&loaded.snapshot, &loaded.objects.pools[0]);
            let words = format!("a valid specification: {field}expected ");
            assert!(
                waits.len() == 1 && waits[0].starts_with(&words),
                "{waits:?}"
            );
            let found = of_unplaced(&loaded, |_| false);
            assert_eq!(
                found,
                [format!(
                    "NodePool general is not ready: it waits for {}",
                    waits[0]
                )]
            );
        }
    }

    #[test]
    fn of_many_objects_that_cannot_be_read_the_first_are_listed_and_the_rest_counted() {
        let odd = |number: usize| {
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"namespace": "shop", "name": format!("a-{number}"), "uid": format!("a-{number}")},
                "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": {"odd": 1}}}}]},
            })
        };
        let items: Vec<Value> = (0..MOST_UNREAD + 2).map(odd).collect();
        let listed = of_unread(&served(&items));
        assert_eq!(listed.len(), MOST_UNREAD + 1);
        assert_eq!(
            listed[MOST_UNREAD],
            "2 more findings about objects that cannot be read in whole"
        );
    }
}

//! Instance types by node class: NodePools of EC2 and of KWOK buy what their own provider sells, also in one file or cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use plimsoll_api::Object;
use plimsoll_base::requirement::Requirement;
use plimsoll_base::words::shortened;
use plimsoll_model::catalogue::{Catalogue, Catalogues, InstanceType};
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{ClassRef, NodePool};
use plimsoll_snapshot::write::CatalogueText;
use plimsoll_snapshot::{Change, Loaded, Note};

/// Group of KWOK's node classes.
const KWOK: &str = "karpenter.kwok.sh";
/// Their kind.
pub(crate) const KWOK_CLASS: &str = "KWOKNodeClass";

/// Gives NodePools of KWOK in a file without a catalogue KWOK's own types, and says so in a sentence; `None` where there is nothing to give.
/// Fails in a program that does not have these types.
pub(crate) fn assume(loaded: &mut Loaded) -> Result<Option<String>> {
    let is_assumed = |note: &Note| matches!(note, Note::AssumedRegion { .. });
    let mut of_kwok = pools(loaded).filter(|pool| is_of_kwok(&pool.class));
    let Some(first) = of_kwok.next() else {
        return Ok(None);
    };
    if !loaded.notes.iter().any(is_assumed) {
        return Ok(None);
    }
    let types = assumed_types(first)?;
    let types = beside_others(&types, loaded.snapshot.catalogues.provider());
    let names: BTreeSet<&str> = of_kwok
        .chain([first])
        .map(|pool| pool.name.as_str())
        .collect();
    let words = format!(
        "no plimsoll.catalogue: taking KWOK's own instance types for NodePools of a {KWOK_CLASS} ({})",
        shortened(names)
    );
    if pools(loaded).all(|pool| is_of_kwok(&pool.class)) {
        // No NodePool buys in the region that was assumed.
        loaded.notes.retain(|note| !is_assumed(note));
        replace(loaded, types.into());
    } else {
        sell(loaded, is_of_kwok, types);
    }
    Ok(Some(words))
}

#[cfg(feature = "live")]
fn assumed_types(_: &NodePool) -> Result<Catalogue> {
    crate::cluster::kwok_types(None)
}

#[cfg(not(feature = "live"))]
fn assumed_types(pool: &NodePool) -> Result<Catalogue> {
    let ClassRef { group, kind, name } = &pool.class;
    anyhow::bail!(
        "NodePool {} has nodeClassRef {group}/{kind} {name}, and this program is built without KWOK's instance types; expected \
         plimsoll.catalogue in the file",
        pool.name
    )
}

/// Gives each class of a cluster what its provider sells. NodePools of EC2 buy nothing where the region is not known; their names are returned.
#[cfg(feature = "live")]
pub(crate) fn of_cluster(loaded: &mut Loaded, sold: &crate::flags::Sold) -> Result<Vec<String>> {
    let facts = Arc::clone(loaded.snapshot.catalogues.provider());
    if sold.region.is_some() {
        if !classes(loaded, is_of_kwok).is_empty() {
            let path = sold.instance_types_file_path.as_deref();
            let types = crate::cluster::kwok_types(path)?;
            sell(loaded, is_of_kwok, beside_others(&types, &facts));
        }
        return Ok(Vec::new());
    }
    if !classes(loaded, is_of_ec2).is_empty() {
        sell(loaded, is_of_ec2, Catalogue::new(facts, [], []));
    }
    let left_out = pools(loaded).filter(|pool| is_of_ec2(&pool.class));
    Ok(left_out.map(|pool| pool.name.to_string()).collect())
}

fn is_of_kwok(class: &ClassRef) -> bool {
    *class.group == *KWOK && *class.kind == *KWOK_CLASS
}

#[cfg(feature = "live")]
fn is_of_ec2(class: &ClassRef) -> bool {
    *class.kind == *plimsoll_ec2_facts::provider::CLASS
}

/// NodePools of a file, those of its changes among them.
fn pools(loaded: &Loaded) -> impl Iterator<Item = &NodePool> {
    let later = loaded.changes.iter().filter_map(|timed| {
        let Change::Upsert { object, .. } = &timed.change else {
            return None;
        };
        match object {
            Object::Whole(plimsoll_model::Object::Pool(pool)) => Some(&**pool),
            _ => None,
        }
    });
    let first = loaded.objects.pools.iter().map(|pool| &**pool);
    first.chain(later)
}

/// Classes of NodePools, and of NodeClaims, which keep the class that they were made with.
fn classes(loaded: &Loaded, is_meant: fn(&ClassRef) -> bool) -> BTreeSet<ClassRef> {
    let claims = loaded.objects.claims.iter().map(|claim| &claim.class);
    let all = pools(loaded).map(|pool| &pool.class).chain(claims);
    all.filter(|class| is_meant(class)).cloned().collect()
}

/// Types of KWOK in a catalogue of several providers: labels that only the others give their nodes are absent, and not open to any value.
fn beside_others(types: &Catalogue, facts: &Arc<ProviderFacts>) -> Catalogue {
    let keys = facts.keys_of_types();
    let own_keys = types.own_keys().iter().cloned();
    let types = types.types().iter().map(|listed| {
        let mut own = InstanceType::clone(listed);
        for key in &keys {
            if own.requirements.get(key.as_str()).is_none() {
                own.requirements
                    .add(Requirement::does_not_exist(key.clone()));
            }
        }
        own
    });
    Catalogue::new(Arc::clone(facts), types, own_keys)
}

/// Sells these types to some classes, in place of what is sold to the others.
fn sell(loaded: &mut Loaded, is_meant: fn(&ClassRef) -> bool, types: Catalogue) {
    let types = Arc::new(types);
    let meant = classes(loaded, is_meant).into_iter();
    let meant = meant.map(|class| (class, Arc::clone(&types)));
    let listed = &loaded.snapshot.catalogues;
    let known = listed.classes();
    let known = known.map(|class| (class.clone(), Arc::clone(listed.of(class))));
    let all = Catalogues::new(Arc::clone(listed.of_others()), known.chain(meant));
    replace(loaded, all);
}

/// Puts other catalogues into a snapshot. A file written from it lists them: no region stands for them.
fn replace(loaded: &mut Loaded, catalogues: Catalogues) {
    let Snapshot { now, seed, .. } = loaded.snapshot;
    let settings = Arc::clone(&loaded.snapshot.settings);
    let subnets = loaded.snapshot.catalogues.subnets().to_vec();
    let catalogues = Arc::new(catalogues.with_subnets(subnets));
    loaded.snapshot = Snapshot::new(now, seed, settings, catalogues, loaded.objects.clone());
    loaded.catalogue = CatalogueText::Inline;
}

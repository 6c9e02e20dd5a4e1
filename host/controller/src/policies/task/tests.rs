//! Status and events of a Policy about a real module, through changes of its object.

use plimsoll_api::kinds::Condition;
use plimsoll_oracles::fixture;
use serde_json::{Value, json};

use super::super::share::Pools;
use super::super::tests::{common_of, copy_of_ranking, pools, ranking, ranking_shown};
use super::*;

fn policy(name: &str, created: &str, spec: &Value) -> Policy {
    let mut policy = json!({
        "apiVersion": "plimsoll.dev/v1alpha1", "kind": "Policy",
        "metadata": {"name": name, "uid": name, "creationTimestamp": created},
        "spec": {"hook": "Rank", "configMapRef": {"name": "its"}},
    });
    for (field, value) in spec.as_object().into_iter().flatten() {
        policy["spec"][field] = value.clone();
    }
    serde_json::from_value(policy).expect("a policy")
}

fn mine(spec: &Value) -> Policy {
    policy("mine", "2026-03-02T09:00:00Z", spec)
}

/// The task of a policy whose ConfigMap holds a module of hook Rank.
fn task(policy: &Policy, common: &Arc<Common>) -> PolicyTask {
    let name = policy.metadata.name.as_deref().expect("a name");
    let mut task = PolicyTask::new(name, policy, Arc::clone(common));
    task.content = holds();
    task
}

fn holds() -> Content {
    Content::Holds(Stored {
        entries: [("policy.wasm".to_owned(), ranking().to_vec())].into(),
        ..Stored::default()
    })
}

/// The status once a task has seen a policy so.
async fn said(task: &mut PolicyTask, policy: &Policy) -> PolicyStatus {
    let wanted = Wanted::read(policy, "plimsoll").expect("it makes sense");
    task.settle(&wanted).await;
    task.status(policy)
}

fn ready(status: &PolicyStatus) -> (&str, &str, &str) {
    let own: &Condition = events::condition(status, "Ready").expect("it is said");
    (&own.status, &own.reason, &own.message)
}

/// Words for the module of hook Rank, behind which a sentence follows.
fn is_loaded(status: &PolicyStatus, more: &str) -> String {
    let module = status.serving.as_deref().unwrap_or_default();
    assert!(module.starts_with(&ranking_shown()), "{module}");
    format!("module {module} is loaded; {more}")
}

#[tokio::test]
async fn a_module_that_no_pool_is_selected_for_says_so_and_is_ready() {
    let common = common_of(&[], pools(&["general"]));
    let absent = mine(&json!({}));
    let mut task = task(&absent, &common);
    let of_nobody = json!({"nodePoolSelector": {"matchLabels": {"team": "nobody"}}});
    for (policy, selector) in [
        (absent, "is absent"),
        (mine(&of_nobody), "matches no NodePool"),
    ] {
        let said = said(&mut task, &policy).await;
        let why = format!("no NodePool is selected: spec.nodePoolSelector {selector}");
        let words = is_loaded(&said, &why);
        assert_eq!(ready(&said), ("True", "NoNodePools", &*words));
        assert_eq!((said.pools, said.conflicts), (0, 0));
    }
    let said = said(&mut task, &mine(&json!({"nodePoolSelector": {}}))).await;
    assert_eq!(ready(&said), ("True", "Serving", ""));
    assert_eq!(said.node_pools, ["general"]);
}

#[tokio::test]
async fn a_module_whose_pools_are_all_served_by_others_names_these_and_why() {
    let all = json!({"nodePoolSelector": {}});
    for (created, why) in [
        ("2026-03-01T09:00:00Z", "which is older"),
        (
            "2026-03-02T09:00:00Z",
            "which is as old and the first by name",
        ),
    ] {
        let common = common_of(&[], pools(&["general", "gpu"]));
        let other = policy("a-first", created, &all);
        said(&mut task(&other, &common), &other).await;
        let policy = mine(&all);
        let said = said(&mut task(&policy, &common), &policy).await;
        let words = is_loaded(
            &said,
            &format!("policy a-first, {why}, serves the NodePools that it selects: general, gpu"),
        );
        assert_eq!(ready(&said), ("True", "ServedByAnother", &*words));
        assert_eq!((said.pools, said.conflicts), (0, 2));
    }
}

#[tokio::test]
async fn a_module_whose_pools_name_others_says_whether_these_serve() {
    let all = json!({"nodePoolSelector": {}});
    let mut named = Pools::default();
    let pool = fixture::pool("general").with(|pool| pool.policies.rank = Some("wished".into()));
    named.put(&pool.build());
    named.complete();
    let common = common_of(&[], named);
    let policy = mine(&all);
    let mut task = task(&policy, &common);
    let before = said(&mut task, &policy).await;
    let words = is_loaded(
        &before,
        "no NodePool is left to it: those that it selects name policies in an annotation that do not serve, such as wished: general",
    );
    assert_eq!(ready(&before), ("True", "NoNodePools", &*words));
    let wished = self::policy("wished", "2026-03-03T09:00:00Z", &json!({}));
    said(&mut self::task(&wished, &common), &wished).await;
    let after = said(&mut task, &policy).await;
    let words = is_loaded(
        &after,
        "policy wished, named in their annotation, serves the NodePools that it selects: general",
    );
    assert_eq!(ready(&after), ("True", "ServedByAnother", &*words));
}

#[tokio::test]
async fn a_module_of_another_hook_than_is_asked_for_goes_on_for_its_own_and_says_so() {
    let maps = [copy_of_ranking()];
    let common = common_of(&maps, pools(&["general"]));
    let right = mine(&json!({"nodePoolSelector": {}}));
    let mut first = task(&right, &common);
    let before = said(&mut first, &right).await;
    let mut wrong = mine(&json!({"nodePoolSelector": {}, "hook": "Consolidate"}));
    let refused = format!(
        "the module is for the hook rank; expected consolidate; hint: set spec.hook to Rank, the hook of this module; serving: {} for hook Rank, unchanged",
        ranking_shown()
    );
    let held = said(&mut first, &wrong).await;
    // The next process, to which nothing is known that the status does not say.
    wrong.status = Some(held.clone());
    let next = common_of(&maps, pools(&["general"]));
    let mut second = task(&wrong, &next);
    let held_again = said(&mut second, &wrong).await;
    for (status, common) in [(&held, &common), (&held_again, &next)] {
        assert_eq!(ready(status), ("False", "HookMismatch", &*refused));
        assert_eq!(status.serving, before.serving);
        assert_eq!(status.node_pools, ["general"], "as it is");
        assert_eq!(status.last_good, before.last_good);
        let generation = common.given.generations.current();
        assert_eq!(generation.names(Hook::Rank), ["mine"]);
        assert!(generation.names(Hook::Consolidate).is_empty());
    }
    let mended = said(&mut second, &right).await;
    assert_eq!(ready(&mended), ("True", "Serving", ""));
    let told = events::of_change(Some(&held_again), &mended);
    let told: Vec<_> = told.into_iter().map(|said| said.message).collect();
    let module = mended.serving.as_deref().unwrap_or_default();
    let words = format!("module {module} serves; Ready was False (HookMismatch) before");
    assert_eq!(told, [words]);
}

#[tokio::test]
async fn a_module_that_was_off_does_not_come_back_for_a_hook_that_is_not_asked_for() {
    let common = common_of(&[copy_of_ranking()], pools(&["general"]));
    let policy = mine(&json!({"nodePoolSelector": {}}));
    let mut task = task(&policy, &common);
    said(&mut task, &policy).await;
    let off = json!({"nodePoolSelector": {}, "mode": "Off"});
    said(&mut task, &mine(&off)).await;
    let other = json!({"nodePoolSelector": {}, "hook": "Consolidate"});
    let status = said(&mut task, &mine(&other)).await;
    let (is_ready, reason, words) = ready(&status);
    assert_eq!((is_ready, reason), ("False", "HookMismatch"));
    assert!(words.ends_with("the hook of this module"), "{words}");
    assert_eq!((status.serving, status.pools), (None, 0));
}

#[tokio::test]
async fn nothing_is_said_of_a_module_that_serves_before_all_pools_have_been_seen() {
    let common = common_of(&[], Pools::default());
    let policy = mine(&json!({"nodePoolSelector": {}}));
    let mut task = task(&policy, &common);
    said(&mut task, &policy).await;
    task.tell(&policy).await;
    assert_eq!(task.told, None);
}

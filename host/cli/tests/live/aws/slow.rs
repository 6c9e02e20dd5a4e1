//! A class that AWS does not answer for: others change and are launched meanwhile, and it goes when it is asked to.

use kube::api::{Patch, PatchParams};
use plimsoll_cloud::ScriptedFault;
use plimsoll_kube::node_class::FINALIZER;

use super::*;

impl Scene {
    /// Waits until a class, or none, is as it should be.
    async fn until_class(&self, name: &str, is: fn(Option<&DynamicObject>) -> bool) {
        let so = until(name, PATIENCE, async || {
            let class = self.classes().get_opt(name).await?;
            Ok(is(class.as_ref()).then_some(()))
        });
        so.await.expect("a class that is so");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_class_that_iam_does_not_answer_for_holds_up_no_other() {
    let scene = Scene::start("on-demand").await;
    let is_ready = |class: Option<&DynamicObject>| {
        let conditions = class.map(|class| &class.data["status"]["conditions"]);
        let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
        conditions.any(|own| own["type"] == "Ready" && own["status"] == "True")
    };
    scene.until_class("default", is_ready).await;
    let held = ScriptedFault::hold("CreateInstanceProfile", false);
    scene
        .cloud
        .with(|world| world.faults.push(held.times(u32::MAX)));
    let mut slow = class();
    slow["metadata"]["name"] = "slow".into();
    apply(&scene.client, &slow).await.expect("applied");
    let is_held = |class: Option<&DynamicObject>| {
        class.is_some_and(|class| class.finalizers().contains(&FINALIZER.to_owned()))
    };
    scene.until_class("slow", is_held).await;

    let written = Patch::Merge(json!({"spec": {"tags": {"team": "bank"}}}));
    let (classes, params) = (scene.classes(), PatchParams::default());
    let patched = classes.patch("default", &params, &written).await;
    patched.expect("taken");
    scene.run_pods(1).await;
    let teams = scene.alive().into_iter();
    let teams: Vec<String> = teams
        .filter_map(|mut own| own.tags.remove("team"))
        .collect();
    assert_eq!(teams, ["bank"]);

    let ended = classes.delete("slow", &DeleteParams::default()).await;
    ended.expect("asked to go");
    scene.until_class("slow", |class| class.is_none()).await;
}

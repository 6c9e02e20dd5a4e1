//! A module that is too large for one ConfigMap, on a real control plane: it serves once all its parts are there, and later from its copy,
//! which is in parts too.

use kube::api::DeleteParams;
use plimsoll_api::kinds::PolicyStatus;
use plimsoll_lab::{apply, until};
use plimsoll_policy::{MOST_BYTES, digest, lay_out, part_name};
use serde_json::json;

use super::PATIENCE;
use super::policies::{condition, is, list_price, policy};
use super::served::{ALONE, Asked, Served};

/// A shipped module with a section that is not read and that fills two ConfigMaps.
fn large() -> Vec<u8> {
    let mut state = 1_u32;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    });
    let name = b"\x05noise";
    let length = u32::try_from(2 * MOST_BYTES + name.len()).expect("a few mebibytes");
    // Seven bits a byte, the eighth says that there are more.
    let digit = |shift: u32| (length >> shift & 0x7f) | if shift < 28 { 0x80 } else { 0 };
    let digits = [0, 7, 14, 21, 28].map(|shift| u8::try_from(digit(shift)).expect("eight bits"));
    let mut module = [list_price(), &[0], &digits, name].concat();
    module.extend(noise.take(2 * MOST_BYTES));
    module
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_in_parts_serves_once_all_are_there_and_also_in_the_next_process() {
    let mut served = Served::start(Asked {
        flags: vec![ALONE.to_owned(), "--large-modules".to_owned()],
        ..Asked::default()
    })
    .await;
    let module = large();
    let sha256 = digest(&module);
    let maps = lay_out(module, &sha256);
    assert_eq!(maps.len(), 3);
    for part in [0, 2] {
        served
            .put_entries(&part_name("large", part), &maps[part])
            .await;
    }
    let mine = policy("mine", "large", &json!({"sha256": sha256}));
    apply(&served.client, &mine).await.expect("applied");
    let is_incomplete = |said: &PolicyStatus| is(said, "Ready", "False", "PackageIncomplete");
    let said = served
        .until_said("mine", "to miss a part", is_incomplete)
        .await;
    let (_, _, words) = condition(&said, "Ready");
    assert!(
        words.starts_with("part-01, part 2 of 3, is missing"),
        "{words}"
    );

    served.put_entries("large-01", &maps[1]).await;
    let serving = |said: &PolicyStatus| is(said, "Ready", "True", "Serving");
    let said = served.until_said("mine", "to serve", serving).await;
    assert_eq!(said.served_digest.as_deref(), Some(&*sha256));
    let copied = [0, 1, 2].map(|part| part_name(&sha256, part));
    assert_eq!(served.copies().await.expect("copies"), copied);

    served.delete_map("large-02").await;
    let said = served
        .until_said("mine", "to miss a part", is_incomplete)
        .await;
    let (_, _, words) = condition(&said, "Ready");
    assert!(
        words.starts_with("part-02, part 3 of 3, is missing"),
        "{words}"
    );
    served.succeed().await;
    served.run_pods("web", 1).await;
    let asked = |said: &PolicyStatus| is_incomplete(said) && said.calls > 0 && said.faults == 0;
    let said = served.until_said("mine", "to be asked", asked).await;
    assert_eq!(said.served_digest.as_deref(), Some(&*sha256));

    let deleted = served
        .policies()
        .delete("mine", &DeleteParams::default())
        .await;
    deleted.expect("deleted");
    let collected = until("all of the copy to go", PATIENCE, async || {
        Ok(served.copies().await?.is_empty().then_some(()))
    });
    collected.await.expect("collected");
    served.end();
}

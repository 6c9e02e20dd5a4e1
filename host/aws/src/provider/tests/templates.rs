//! Launch templates, which are made for launches and go after them.

use std::fmt;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};

use super::*;

/// Fields of warnings, each as `name=value`.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl Visit for Warnings {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.push(format!("{field}={value:?}"));
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn launch_templates_that_nobody_uses_are_deleted_and_made_again_when_they_are_needed() {
    let scene = Scene::new().await;
    let launch = async |attempt: u32| {
        let mut request = two(OnDemand);
        request.batch.token = format!("00ab-{attempt}").as_str().into();
        assert_eq!(ids(&claims(scene.launch(&request).await)).len(), 2);
    };
    let templates = || scene.cloud.with(|world| world.launch_templates.len());
    let asked = || {
        let calls = scene.cloud.calls().into_iter();
        let asked = calls.filter(|call| call.operation == "DescribeLaunchTemplates");
        asked.count()
    };
    launch(0).await;
    let before = asked();
    launch(1).await;
    assert_eq!((templates(), asked()), (1, before), "it is known");
    let now = Instant::now();
    let later = now + Duration::from_mins(2);
    scene.ec2.delete_unused_templates(now).await.expect("done");
    assert_eq!(templates(), 1);
    scene
        .ec2
        .delete_unused_templates(later)
        .await
        .expect("done");
    assert_eq!(templates(), 0);
    launch(2).await;
    // Somebody else deletes it.
    scene.cloud.with(|world| world.launch_templates.clear());
    launch(3).await;
    assert_eq!(templates(), 1);

    // The next process finds what this one leaves behind.
    let next = Ec2::new(scene.ec2.clients().clone(), (*scene.ec2.cluster()).clone());
    next.delete_unused_templates(later).await.expect("done");
    assert_eq!(templates(), 1, "nothing is known of it");
    next.find_templates().await.expect("found");
    next.delete_unused_templates(later).await.expect("done");
    assert_eq!(templates(), 0);
}

#[tokio::test]
async fn user_data_that_nearly_fills_its_room_is_told_in_the_log_when_its_template_is_made() {
    for (length, told) in [(12_000, false), (14_000, true)] {
        let scene = Scene::new().await;
        let warnings = Warnings::default();
        let _here = tracing::subscriber::set_default(warnings.clone());
        let long = format!("#!/bin/sh\n# {}", "x".repeat(length));
        scene.serve(&json!({"userData": long})).await;
        for attempt in 0..2 {
            let mut request = two(OnDemand);
            request.batch.token = format!("00ab-{attempt}").as_str().into();
            assert_eq!(ids(&claims(scene.launch(&request).await)).len(), 2);
        }
        let lines = warnings.0.lock().expect("warnings").clone();
        let of_length = lines.iter().filter(|line| line.starts_with("bytes="));
        let lengths: Vec<&String> = of_length.collect();
        assert_eq!(lengths.len(), usize::from(told), "{lines:?}");
        assert_eq!(lines.contains(&"class=\"default\"".to_owned()), told);
    }
}

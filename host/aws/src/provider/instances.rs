//! Instances of claims: read, listed, named and ended.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_api::kinds::Tags;
use plimsoll_base::ids::{ClaimName, NodeName, ProviderId};
use plimsoll_model::action::{Answer, LAUNCH_TOKEN_ANNOTATION, ListedInstance, Outcome, Reason};

use super::{Ec2, refused};
use crate::class::tags;
use crate::client::{CallError, Urgency};
use crate::drift::drift;
use crate::error::ErrorClass;
use crate::failures::of_instance;
use crate::instance::{Instance, instance_id};

impl Ec2 {
    async fn instance(&self, id: &str, urgency: Urgency) -> Result<Option<Instance>, CallError> {
        let found = self.clients.instance(id, urgency).await?;
        if found.is_some() {
            self.unseen.seen(id);
        }
        Ok(found)
    }

    pub(super) async fn get(&self, instance: &ProviderId) -> Outcome {
        let Some(id) = instance_id(instance) else {
            return Outcome::Done(Answer::Absent);
        };
        match self.instance(id, Urgency::Read).await {
            Ok(Some(own)) if !own.is_ending => {
                let class = own.tags.get(tags::CLASS).and_then(|name| self.class(name));
                let machine = own.machine_of(class.as_deref());
                Outcome::Done(Answer::Instance(Box::new(machine)))
            }
            Ok(None) if self.unseen.may_appear(id) => Outcome::Unknown,
            Ok(_) => Outcome::Done(Answer::Absent),
            Err(error) => refused(&error),
        }
    }

    /// The tag for want of which an instance is left as it is; `None` where it is the cluster's.
    fn missing_tag(&self, own: &Instance) -> Option<String> {
        let is_named = self.claims().contains_key(&own.provider_id());
        own.missing_tag(&self.cluster().name, is_named)
    }

    /// Only what is the cluster's is ended.
    pub(super) async fn terminate(&self, instance: &ProviderId) -> Outcome {
        let Some(id) = instance_id(instance) else {
            return Outcome::Done(Answer::Gone);
        };
        let own = match self.instance(id, Urgency::Terminate).await {
            Ok(Some(own)) => own,
            // It is there, and ends once EC2 knows of it.
            Ok(None) if self.unseen.may_appear(id) => return Outcome::Unknown,
            Ok(None) => return Outcome::Done(Answer::Gone),
            Err(error) => return refused(&error),
        };
        if own.is_ending {
            return Outcome::Done(Answer::Ending);
        }
        if let Some(tag) = self.missing_tag(&own) {
            let words = format!("instance {id} is not tagged {tag}; it is left as it is");
            return Outcome::Refused(Reason::Other(words));
        }
        match self.clients.terminate(id).await {
            Ok(()) => Outcome::Done(Answer::Ending),
            Err(error) => {
                let class = own.tags.get(tags::CLASS).and_then(|name| self.class(name));
                self.uncounted.note(of_instance(&own, class.as_deref()));
                refused(&error)
            }
        }
    }

    pub(super) async fn list(&self) -> Outcome {
        let cluster = self.cluster();
        let by = [
            (tags::NODE_POOL, None),
            (tags::CLASS, None),
            (tags::CLUSTER, Some(cluster.name.as_str())),
        ];
        let found = self.clients.instances(&by, Urgency::Read).await;
        let mut instances = match found {
            Ok(instances) => instances,
            Err(error) => return refused(&error),
        };
        match self.not_among(&instances).await {
            Ok(others) => instances.extend(others),
            Err(error) => return refused(&error),
        }
        for own in &instances {
            self.unseen.seen(&own.id);
        }
        let listed = instances.iter().map(|own| self.described(own));
        Outcome::Done(Answer::Listed(listed.collect()))
    }

    /// The cluster's instances that claims name and that are not among those that its tags have found: somebody has taken a tag off. The one
    /// with the cluster's name is put on again.
    async fn not_among(&self, found: &[Instance]) -> Result<Vec<Instance>, CallError> {
        let found: BTreeSet<ProviderId> = found.iter().map(Instance::provider_id).collect();
        let named: Vec<String> = {
            let claims = self.claims();
            let others = claims.keys().filter(|id| !found.contains(*id));
            others.filter_map(instance_id).map(str::to_owned).collect()
        };
        let mut others = self.clients.instances_named(&named).await?;
        others.retain(|own| self.missing_tag(own).is_none());
        for own in others.iter().filter(|own| !own.is_ending) {
            if own.tags.contains_key(tags::CLUSTER) {
                continue;
            }
            let tag = (tags::CLUSTER.to_owned(), self.cluster().name.clone());
            if let Err(error) = self.clients.tag(&own.id, &Tags::from([tag])).await {
                // It is known all the same, and tried again with the next list.
                tracing::warn!(instance = own.id, %error, "a tag is not put on again");
            }
        }
        Ok(others)
    }

    fn described(&self, own: &Instance) -> ListedInstance {
        let instance = own.provider_id();
        let claims = self.claims();
        let class = own.tags.get(tags::CLASS).and_then(|name| self.class(name));
        let drift = class.and_then(|class| drift(own, &class, claims.get(&instance)));
        ListedInstance {
            token: own
                .tags
                .get(LAUNCH_TOKEN_ANNOTATION)
                .map(|token| token.as_str().into()),
            ending: own.is_ending.then(|| own.launched.unwrap_or_default()),
            drift: drift.map(Arc::from),
            instance,
        }
    }

    pub(super) async fn tag(
        &self,
        instance: &ProviderId,
        claim: &ClaimName,
        node: &NodeName,
    ) -> Outcome {
        let Some(id) = instance_id(instance) else {
            return Outcome::Done(Answer::Nothing);
        };
        let own = match self.instance(id, Urgency::Read).await {
            Ok(Some(own)) => own,
            Ok(None) => return Outcome::Done(Answer::Nothing),
            Err(error) => return refused(&error),
        };
        if let Some(tag) = self.missing_tag(&own) {
            tracing::warn!(
                instance = id,
                tag,
                "an instance without the cluster's tag gets none"
            );
            return Outcome::Done(Answer::Nothing);
        }
        let cluster = self.cluster();
        let missing = tags::of_instance(&own.tags, &cluster.name, claim.as_str(), node.as_str());
        if missing.is_empty() {
            return Outcome::Done(Answer::Nothing);
        }
        match self.clients.tag(id, &missing).await {
            Ok(()) => Outcome::Done(Answer::Nothing),
            Err(error) if error.class() == ErrorClass::NotFound => Outcome::Done(Answer::Nothing),
            Err(error) => refused(&error),
        }
    }
}

//! Instances of claims that have not joined: looked for, so that one that has ended is told with EC2's reason, and its class left alone.

use std::collections::BTreeSet;

use super::{CallError, Ec2, ProviderId, Refusal, ServedClass, content, instance_id};
use crate::ended::EndedEarly;

/// Instances that one question names: as many as a filter takes.
const ASKED: usize = 200;

impl Ec2 {
    /// Instances of claims whose node has not joined, and that are not deleting.
    pub fn joining(&self) -> BTreeSet<ProviderId> {
        let claims = self.claims();
        let joining = claims
            .iter()
            .filter(|(_, claim)| !claim.has_joined && !claim.is_going);
        joining.map(|(id, _)| id.clone()).collect()
    }

    /// Those of these instances that have ended before they joined, each told once. Their classes are left alone for a while where another
    /// instance would end as well.
    pub async fn ended_early(
        &self,
        ids: &BTreeSet<ProviderId>,
    ) -> Result<Vec<EndedEarly>, CallError> {
        let joining = self.joining();
        self.setbacks.keep(|id| joining.contains(id));
        let asked: Vec<String> = ids
            .intersection(&joining)
            .filter_map(instance_id)
            .map(str::to_owned)
            .collect();
        let mut ended = Vec::new();
        for ids in asked.chunks(ASKED) {
            ended.extend(self.clients.ended(ids.to_vec()).await?);
        }
        let mut told = Vec::new();
        for (id, reason) in ended {
            // EC2 knows it: once it is not there any more it is gone.
            self.unseen.seen(&id);
            let claims = self.claims();
            let mut of_id = claims.iter();
            let found = of_id.find(|(own, _)| instance_id(own) == Some(&id));
            let Some((instance, claim)) = found else {
                continue;
            };
            if !self.setbacks.is_new(instance) {
                continue;
            }
            let (sentence, is_of_class) = reason.told();
            if is_of_class && let Some(class) = self.class(&claim.class) {
                let now = self.unseen.now();
                let content = content(&class);
                self.setbacks.note(&claim.class, content, &sentence, now);
            }
            told.push(EndedEarly {
                instance: instance.clone(),
                claim: claim.name.clone(),
                sentence,
            });
        }
        if !told.is_empty() {
            self.news.notify_one();
        }
        Ok(told)
    }

    /// Why nothing of a class is launched, since its instances end at once; `None` where it may be.
    pub(super) fn setback(&self, class: &ServedClass) -> Option<Refusal> {
        let now = self.unseen.now();
        self.setbacks.refusal(class.name(), content(class), now)
    }
}

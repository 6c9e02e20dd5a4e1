//! Launches, and the look for what one gave whose answer is not known.
//!
//! A launch is one call with the batch's token as its ClientToken and as a tag of its instances. A call whose answer was lost is made
//! again. A call that EC2 refuses for its token, since the class has changed meanwhile, has happened: its instances are read back by
//! the tag.

use std::sync::Arc;

use plimsoll_model::action::{
    Answer, ClaimLaunch, LAUNCH_TOKEN_ANNOTATION, LaunchAnswer, LaunchRequest, LaunchedInstance,
    Outcome,
};
use plimsoll_model::catalogue::CapacityType;

use super::{Ec2, launch_refused, refused, unknown};
use crate::client::{CallError, Doubt, Urgency};
use crate::error::ErrorClass;
use crate::failures::of_fleet;
use crate::instance::Instance;
use crate::launch::deal::{Supply, dealt, found};
use crate::launch::draft::{Draft, draft_into};
use crate::launch::fleet::{FleetAnswer, of_one_kind};
use crate::served::ServedClass;

impl Ec2 {
    pub(super) async fn launch(&self, request: &LaunchRequest) -> Outcome {
        let Some(first) = request.claims.first() else {
            return Outcome::Done(Answer::Launched(LaunchAnswer::default()));
        };
        let prepared = self.ready(&first.class.name);
        let prepared = prepared.and_then(|class| {
            let (addresses, now) = (self.clients.addresses(), self.unseen.now());
            let subnets = addresses.choose(&class.status().subnets, now);
            let draft = draft_into(&subnets, &class, &self.cluster(), request)?;
            Ok((class, draft))
        });
        let (class, draft) = match prepared {
            Ok(prepared) => prepared,
            Err(reason) => return Outcome::Refused(reason),
        };
        let token = &request.batch.token;
        let doubt = Doubt::default();
        match self.fleet(&class, &draft, request, &doubt).await {
            Ok(answer) => {
                self.unseen.forget(token);
                let given = answer.instances.iter();
                self.unseen.note_given(given.map(|given| given.id.as_str()));
                let machine = |own: Instance| own.machine(&class, first);
                let instances = instances(&answer, &draft).map(machine).collect();
                let (options, capacity_type) = of_one_kind(&request.options);
                for error in &answer.errors {
                    self.uncounted.note(of_fleet(error, &class, capacity_type));
                }
                self.count_addresses(&answer, &draft);
                let classes = self.served();
                let supply = self.supply(&class, &classes);
                let dealt = dealt(request, options, &supply, instances, &answer.errors);
                Outcome::Done(Answer::Launched(dealt))
            }
            // The token was used for another request: that call has happened, and this one has not.
            Err(error) if error.code == "IdempotentParameterMismatch" => self.find(request).await,
            Err(error) => {
                self.unseen.note_asked(token);
                if doubt.is_there() {
                    // The last try was refused, perhaps, and one before it was not.
                    return unknown(&error);
                }
                launch_refused(&error)
            }
        }
    }

    /// Takes note of the addresses that the instances of a launch will need, and of subnets that have too few.
    fn count_addresses(&self, answer: &FleetAnswer, draft: &Draft) {
        let addresses = self.clients.addresses();
        for subnet in answer
            .instances
            .iter()
            .filter_map(|own| own.subnet.as_ref())
        {
            let needed = draft.addresses.get(subnet).copied().unwrap_or(0);
            addresses.launched(subnet, needed);
        }
        let short = answer.errors.iter();
        let short = short.filter(|error| error.is_about_addresses() && !error.subnet.is_empty());
        for error in short {
            addresses.short(&error.subnet, self.unseen.now());
        }
    }

    /// What errors of a fleet for a class are read by.
    fn supply<'s>(&self, class: &'s ServedClass, classes: &'s [Arc<ServedClass>]) -> Supply<'s> {
        let (addresses, now) = (self.clients.addresses(), self.unseen.now());
        let subnets = &class.status().subnets;
        let zones = subnets.iter().map(|subnet| subnet.zone.as_str());
        let sold = classes.iter().map(Arc::as_ref).chain([class]);
        Supply {
            sold: sold.map(|class| &*class.catalogue).collect(),
            with_addresses: zones
                .filter(|zone| addresses.has_room(subnets, zone, now))
                .collect(),
        }
    }

    /// The call for a fleet, with its templates made before. A template that somebody deleted meanwhile is made once more.
    async fn fleet(
        &self,
        class: &ServedClass,
        draft: &Draft,
        request: &LaunchRequest,
        doubt: &Doubt,
    ) -> Result<FleetAnswer, CallError> {
        let token = request.batch.token.as_str();
        let fleet = draft.fleet(
            token,
            request.batch.size,
            class.object.spec.context.as_ref(),
        );
        let named = || fleet.templates.iter().map(|(name, _)| name);
        let _in_use = self
            .templates
            .begin(named().cloned().collect(), self.unseen.now());
        let count = i64::try_from(request.batch.size).unwrap_or(i64::MAX);
        let needed = draft.addresses.iter();
        let needed = needed.map(|(subnet, each)| (subnet.clone(), each.saturating_mul(count)));
        let _asked = self.clients.addresses().ask(needed.collect());
        let mut is_second = false;
        loop {
            let making = self.templates.making.lock().await;
            for (name, (template, _)) in named().zip(&draft.templates) {
                if !self.templates.is_there(name) {
                    self.clients.ensure_template(template).await?;
                    self.templates.found(name.clone(), self.unseen.now());
                }
            }
            drop(making);
            match self.clients.create_fleet(&fleet, doubt).await {
                Err(error) if error.class() == ErrorClass::LaunchTemplateGone && !is_second => {
                    named().for_each(|name| self.templates.lost(name));
                    is_second = true;
                }
                answered => return answered,
            }
        }
    }

    /// The instances that a launch has given, by the tag with its token.
    pub(super) async fn find(&self, request: &LaunchRequest) -> Outcome {
        let token = &request.batch.token;
        let cluster = self.cluster();
        let by = [(LAUNCH_TOKEN_ANNOTATION, Some(token.as_str()))];
        let seen = match self.clients.instances(&by, Urgency::Launch).await {
            Ok(seen) => seen,
            Err(error) => return refused(&error),
        };
        let is_ours = |own: &Instance| own.missing_tag(&cluster.name, true).is_none();
        let alive = seen
            .into_iter()
            .filter(|own| !own.is_ending && is_ours(own));
        let machines: Vec<LaunchedInstance> = match request.claims.first() {
            Some(first) => match self.class(&first.class.name) {
                Some(class) => alive.map(|own| own.machine(&class, first)).collect(),
                None => return Outcome::Unknown,
            },
            None => Vec::new(),
        };
        let mut answer = found(request, machines);
        let is_absent = |claim: &ClaimLaunch| matches!(claim, ClaimLaunch::Absent);
        if !answer.claims.iter().any(is_absent) {
            self.unseen.forget(token);
        } else if !self.unseen.has_had_time(token) {
            for claim in answer.claims.iter_mut().filter(|claim| is_absent(claim)) {
                *claim = ClaimLaunch::Unknown;
            }
        }
        Outcome::Done(Answer::Launched(answer))
    }
}

/// Instances that a fleet has given, as far as its answer says.
fn instances<'a>(answer: &'a FleetAnswer, draft: &'a Draft) -> impl Iterator<Item = Instance> + 'a {
    answer.instances.iter().map(|given| Instance {
        id: given.id.clone(),
        instance_type: given.instance_type.clone(),
        zone: given.zone.clone(),
        is_spot: draft.capacity_type == CapacityType::Spot,
        image: given.image.clone(),
        subnet: given.subnet.clone(),
        efa: draft.efa.get(&given.instance_type).copied().unwrap_or(0),
        ..Instance::default()
    })
}

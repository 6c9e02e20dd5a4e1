//! Fleets.

use std::time::Instant;

use aws_sdk_ec2::operation::create_fleet::CreateFleetOutput;
use aws_sdk_ec2::operation::create_fleet::builders::CreateFleetFluentBuilder;
use aws_sdk_ec2::types::{
    DefaultTargetCapacityType, FleetLaunchTemplateConfigRequest as ConfigRequest,
    FleetLaunchTemplateOverrides, FleetLaunchTemplateOverridesRequest as OverrideRequest,
    FleetLaunchTemplateSpecificationRequest as TemplateRequest, FleetOnDemandAllocationStrategy,
    FleetType, InstanceType, LaunchTemplateAndOverridesResponse, OnDemandOptionsRequest,
    ResourceType, SpotAllocationStrategy, SpotOptionsRequest, TagSpecification,
    TargetCapacitySpecificationRequest,
};

use plimsoll_api::kinds::Tags;

use super::buckets::Urgency;
use super::paced::Call;
use super::template::tag_list;
use super::{CallError, Clients, Doubt};
use crate::error::{ErrorClass, launch_failure};
use crate::launch::fleet::{FleetAnswer, FleetError, FleetInstance, FleetRequest, Override};

pub(super) const ACTION: &str = "ec2:CreateFleet";

impl Clients {
    /// Gets instances. Asked again with the same token it answers the same. Where it fails in doubt, it may have given them all the same.
    pub(crate) async fn create_fleet(
        &self,
        request: &FleetRequest,
        doubt: &Doubt,
    ) -> Result<FleetAnswer, CallError> {
        let (create, mut sent) = (self.fleet_call(request), Instant::now());
        let call = Call::new(ACTION, Urgency::Launch);
        let asked = self.paced(call, || {
            // Its turn has come.
            sent = Instant::now();
            let create = create.clone().customize();
            create.interceptor(doubt.clone()).send()
        });
        let answer = read(asked.await?);
        if answer.errors.iter().any(is_throttled) {
            self.buckets.throttled(ACTION, sent);
        }
        if answer.errors.iter().any(is_about_profile) {
            // Somebody has deleted it, or taken its role.
            self.kept_profiles.forget_all();
        }
        Ok(answer)
    }

    pub(super) fn fleet_call(&self, request: &FleetRequest) -> CreateFleetFluentBuilder {
        let kind = if request.is_spot {
            DefaultTargetCapacityType::Spot
        } else {
            DefaultTargetCapacityType::OnDemand
        };
        let capacity = TargetCapacitySpecificationRequest::builder()
            .default_target_capacity_type(kind)
            .total_target_capacity(request.count)
            .build();
        let tagged = [
            ResourceType::Instance,
            ResourceType::Volume,
            ResourceType::Fleet,
        ];
        let mut create = self
            .ec2
            .create_fleet()
            .client_token(&request.token)
            .r#type(FleetType::Instant)
            .set_launch_template_configs(Some(request.templates.iter().map(config).collect()))
            .target_capacity_specification(capacity)
            .set_context(request.context.clone())
            .set_tag_specifications(Some(specifications(tagged, &request.tags)));
        if request.is_spot {
            create = create.spot_options(spot(request.keeps_order));
        } else {
            create = create.on_demand_options(on_demand(request.keeps_order));
        }
        create
    }
}

/// EC2 has given fewer than were asked for, since it throttles the fleet's own calls.
fn is_throttled(error: &FleetError) -> bool {
    ErrorClass::of(&error.code, None) == ErrorClass::Throttled
}

fn is_about_profile(error: &FleetError) -> bool {
    let known = launch_failure(&error.code, &error.message);
    known.reason == "InstanceProfileNameInvalid"
}

/// Tags of each of these kinds of resources.
pub(super) fn specifications(kinds: [ResourceType; 3], tags: &Tags) -> Vec<TagSpecification> {
    let of_kind = |kind: ResourceType| {
        let tags = Some(tag_list(tags));
        TagSpecification::builder()
            .resource_type(kind)
            .set_tags(tags)
            .build()
    };
    kinds.map(of_kind).into()
}

fn read(answer: CreateFleetOutput) -> FleetAnswer {
    let instances = answer.instances.unwrap_or_default().into_iter();
    let instances = instances.flat_map(|given| {
        let overrides = overrides_of(given.launch_template_and_overrides);
        let instance_type = given.instance_type.map(|own| own.as_str().to_owned());
        let ids = given.instance_ids.unwrap_or_default().into_iter();
        ids.map(move |id| FleetInstance {
            id,
            instance_type: instance_type.clone().unwrap_or_else(|| type_of(&overrides)),
            zone: overrides.availability_zone.clone().unwrap_or_default(),
            subnet: overrides.subnet_id.clone(),
            image: overrides.image_id.clone(),
        })
    });
    let errors = answer.errors.unwrap_or_default().into_iter().map(|error| {
        let overrides = overrides_of(error.launch_template_and_overrides);
        FleetError {
            code: error.error_code.unwrap_or_default(),
            message: error.error_message.unwrap_or_default(),
            instance_type: type_of(&overrides),
            zone: overrides.availability_zone.unwrap_or_default(),
            subnet: overrides.subnet_id.unwrap_or_default(),
        }
    });
    FleetAnswer {
        instances: instances.collect(),
        errors: errors.collect(),
    }
}

fn config((name, overrides): &(String, Vec<Override>)) -> ConfigRequest {
    let template = TemplateRequest::builder()
        .launch_template_name(name)
        .version("$Latest")
        .build();
    let request = |own: &Override| {
        OverrideRequest::builder()
            .instance_type(InstanceType::from(own.instance_type.as_str()))
            .subnet_id(&own.subnet)
            .availability_zone(&own.zone)
            .image_id(&own.image)
            .priority(own.priority)
            .build()
    };
    ConfigRequest::builder()
        .launch_template_specification(template)
        .set_overrides(Some(overrides.iter().map(request).collect()))
        .build()
}

fn spot(keeps_order: bool) -> SpotOptionsRequest {
    let strategy = if keeps_order {
        SpotAllocationStrategy::CapacityOptimizedPrioritized
    } else {
        SpotAllocationStrategy::PriceCapacityOptimized
    };
    SpotOptionsRequest::builder()
        .allocation_strategy(strategy)
        .build()
}

fn on_demand(keeps_order: bool) -> OnDemandOptionsRequest {
    let strategy = if keeps_order {
        FleetOnDemandAllocationStrategy::Prioritized
    } else {
        FleetOnDemandAllocationStrategy::LowestPrice
    };
    OnDemandOptionsRequest::builder()
        .allocation_strategy(strategy)
        .build()
}

/// Overrides of an entry of an answer; an entry may lack them.
fn overrides_of(entry: Option<LaunchTemplateAndOverridesResponse>) -> FleetLaunchTemplateOverrides {
    let overrides = entry.and_then(|entry| entry.overrides);
    overrides.unwrap_or_else(|| FleetLaunchTemplateOverrides::builder().build())
}

fn type_of(overrides: &FleetLaunchTemplateOverrides) -> String {
    let own = overrides.instance_type.as_ref();
    own.map(|own| own.as_str().to_owned()).unwrap_or_default()
}

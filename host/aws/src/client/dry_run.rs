//! Dry runs: calls that EC2 answers as it would, without doing anything. The SDK makes each of them once.

use aws_sdk_ec2::config::Config;
use aws_sdk_ec2::config::retry::RetryConfig;
use aws_sdk_ec2::types::{
    InstanceNetworkInterfaceSpecification as Interface, InstanceType,
    LaunchTemplateSpecification as Template, ResourceType,
};
use plimsoll_api::kinds::Tags;

use super::fleet::{ACTION, specifications};
use super::paced::Call;
use super::{CallError, Clients};
use crate::error::ErrorClass;
use crate::launch::fleet::{FleetRequest, Override};
use crate::launch::template::{self, LaunchTemplate};

impl Clients {
    /// Asks whether a fleet would be given, without getting it.
    pub(crate) async fn try_fleet(&self, request: &FleetRequest) -> Result<(), CallError> {
        let create = self.fleet_call(request).set_client_token(None);
        let create = create.dry_run(true).customize();
        let asked = create.config_override(once()).send();
        would_succeed(self.paced_once(Call::read(ACTION), asked).await.map(drop))
    }

    /// Asks whether an instance would run by a launch template as a way to buy says, without running it.
    pub(crate) async fn try_run(
        &self,
        template: &LaunchTemplate,
        way: &Override,
        tags: &Tags,
    ) -> Result<(), CallError> {
        let tagged = [
            ResourceType::Instance,
            ResourceType::Volume,
            ResourceType::NetworkInterface,
        ];
        let interfaces = template.interfaces.iter();
        let interfaces = interfaces.map(|own| interface(own, &way.subnet)).collect();
        let template = Template::builder().launch_template_name(template.name());
        let run = self
            .ec2
            .run_instances()
            .dry_run(true)
            .min_count(1)
            .max_count(1)
            .launch_template(template.version("$Latest").build())
            .instance_type(InstanceType::from(way.instance_type.as_str()))
            .set_network_interfaces(Some(interfaces))
            .set_tag_specifications(Some(specifications(tagged, tags)));
        let asked = run.customize().config_override(once()).send();
        let call = Call::read("ec2:RunInstances");
        would_succeed(self.paced_once(call, asked).await.map(drop))
    }
}

/// A network interface of the template, in a subnet: what the call says of them counts in place of the template's.
fn interface(own: &template::Interface, subnet: &str) -> Interface {
    Interface::builder()
        .set_network_card_index(own.card)
        .device_index(own.device)
        .set_interface_type(own.kind.clone())
        .subnet_id(subnet)
        .build()
}

fn once() -> aws_sdk_ec2::config::Builder {
    Config::builder().retry_config(RetryConfig::disabled())
}

/// EC2 says by an error that a call would have succeeded.
fn would_succeed(asked: Result<(), CallError>) -> Result<(), CallError> {
    match asked {
        Err(error) if error.class() != ErrorClass::DryRunOk => Err(error),
        _ => Ok(()),
    }
}

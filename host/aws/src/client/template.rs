//! Launch templates.

use aws_sdk_ec2::types::{
    CapacityReservationPreference, ConnectionTrackingSpecificationRequest as TrackingRequest,
    Filter, LaunchTemplateBlockDeviceMappingRequest as DiskRequest,
    LaunchTemplateCapacityReservationSpecificationRequest as ReservationRequest,
    LaunchTemplateCpuOptionsRequest as CpuRequest,
    LaunchTemplateEbsBlockDeviceRequest as VolumeRequest,
    LaunchTemplateEnclaveOptionsRequest as EnclaveRequest,
    LaunchTemplateHttpTokensState as TokensState,
    LaunchTemplateIamInstanceProfileSpecificationRequest as ProfileRequest,
    LaunchTemplateInstanceMetadataEndpointState as EndpointState,
    LaunchTemplateInstanceMetadataOptionsRequest as MetadataRequest,
    LaunchTemplateInstanceMetadataProtocolIpv6 as ProtocolIpv6,
    LaunchTemplateInstanceMetadataTagsState as TagsState,
    LaunchTemplateInstanceNetworkInterfaceSpecificationRequest as InterfaceRequest,
    LaunchTemplatePlacementRequest as PlacementRequest,
    LaunchTemplateTagSpecificationRequest as TagsRequest,
    LaunchTemplatesMonitoringRequest as MonitoringRequest,
    NestedVirtualizationSpecification as NestedVirtualization, RequestLaunchTemplateData,
    ResourceType, Tag, TagSpecification, Tenancy, VolumeType,
};
use plimsoll_api::kinds::{MetadataOptions, Tags};

use super::buckets::Urgency;
use super::paced::Call;
use super::{CallError, Clients};
use crate::class::tags::CLASS;
use crate::error::ErrorClass;
use crate::launch::template::{Disk, Interface, LaunchTemplate};
use crate::user_data::{IpFamily, MOST_BYTES, nearly_too_long};

/// Entries of a list at once: Karpenter's number.
const PAGE: i32 = 200;
const DESCRIBE: &str = "ec2:DescribeLaunchTemplates";

pub(super) fn tag_list(tags: &Tags) -> Vec<Tag> {
    let tag = |(key, value): (&String, &String)| Tag::builder().key(key).value(value).build();
    tags.iter().map(tag).collect()
}

impl Clients {
    /// Makes a launch template unless there is one of its name, which then has the same content; its name.
    pub async fn ensure_template(&self, template: &LaunchTemplate) -> Result<String, CallError> {
        let name = template.name();
        let ask = self.ec2.describe_launch_templates();
        let ask = ask.launch_template_names(&name);
        let call = Call::new(DESCRIBE, Urgency::Launch);
        match self.paced(call, || ask.clone().send()).await {
            Ok(_) => return Ok(name),
            Err(error) if error.class() == ErrorClass::LaunchTemplateGone => {}
            Err(error) => return Err(error),
        }
        let own = TagSpecification::builder()
            .resource_type(ResourceType::LaunchTemplate)
            .set_tags(Some(tag_list(&template.tags)))
            .build();
        let create = self
            .ec2
            .create_launch_template()
            .launch_template_name(&name);
        let create = create
            .launch_template_data(data(template, &self.region))
            .tag_specifications(own);
        let call = Call::new("ec2:CreateLaunchTemplate", Urgency::Launch);
        match self.paced(call, || create.clone().send()).await {
            // Another launch made it meanwhile.
            Err(error) if error.code != "InvalidLaunchTemplateName.AlreadyExistsException" => {
                Err(error)
            }
            _ => {
                warn_of_length(template);
                Ok(name)
            }
        }
    }

    /// Names of the launch templates with these tags.
    pub async fn templates(&self, tags: &[(&str, &str)]) -> Result<Vec<String>, CallError> {
        let filter = |(key, value): &(&str, &str)| {
            Filter::builder()
                .name(format!("tag:{key}"))
                .values(*value)
                .build()
        };
        let filters: Vec<Filter> = tags.iter().map(filter).collect();
        let ask = self.ec2.describe_launch_templates().max_results(PAGE);
        let ask = ask.set_filters(Some(filters));
        let pages = self.pages(
            Call::read(DESCRIBE),
            |token| ask.clone().set_next_token(token).send(),
            |page| page.next_token.as_deref(),
        );
        let found = pages.await?.into_iter();
        let found = found.flat_map(|page| page.launch_templates.unwrap_or_default());
        Ok(found.filter_map(|own| own.launch_template_name).collect())
    }

    /// Deletes a launch template; one that is not there any more is gone.
    pub async fn delete_template(&self, name: &str) -> Result<(), CallError> {
        let delete = self.ec2.delete_launch_template();
        let delete = delete.launch_template_name(name);
        let call = Call::read("ec2:DeleteLaunchTemplate");
        match self.paced(call, || delete.clone().send()).await {
            Err(error) if error.class() != ErrorClass::LaunchTemplateGone => Err(error),
            _ => Ok(()),
        }
    }
}

/// Once for each template that is made: user data grows from release to release of what is written for nodes.
fn warn_of_length(template: &LaunchTemplate) {
    if let Some(bytes) = nearly_too_long(&template.user_data) {
        let class = template.tags.get(CLASS).map(String::as_str);
        tracing::warn!(
            class,
            bytes,
            most = MOST_BYTES,
            "user data is nearly as long as EC2 takes it; shorten spec.userData of the EC2NodeClass"
        );
    }
}

fn data(template: &LaunchTemplate, region: &str) -> RequestLaunchTemplateData {
    let mut kinds = vec![ResourceType::NetworkInterface];
    if template.is_spot {
        kinds.push(ResourceType::SpotInstancesRequest);
    }
    let tags = |kind: ResourceType| {
        let tags = Some(tag_list(&template.tags));
        TagsRequest::builder()
            .resource_type(kind)
            .set_tags(tags)
            .build()
    };
    let interfaces = template.interfaces.iter();
    let interfaces = interfaces.map(|own| interface(own, template)).collect();
    let tenancy = if template.is_dedicated {
        Tenancy::Dedicated
    } else {
        Tenancy::Default
    };
    let disks: Vec<DiskRequest> = template.disks.iter().map(disk).collect();
    RequestLaunchTemplateData::builder()
        .image_id(&template.image)
        .set_user_data((!template.user_data.is_empty()).then(|| template.user_data.clone()))
        .iam_instance_profile(ProfileRequest::builder().name(&template.profile).build())
        .monitoring(
            MonitoringRequest::builder()
                .enabled(template.monitoring)
                .build(),
        )
        .set_block_device_mappings((!disks.is_empty()).then_some(disks))
        .metadata_options(metadata(&template.metadata, region))
        .enclave_options(EnclaveRequest::builder().enabled(template.enclaves).build())
        .placement(PlacementRequest::builder().tenancy(tenancy).build())
        .set_capacity_reservation_specification(reservations(template))
        .set_network_interfaces(Some(interfaces))
        .set_cpu_options(template.nested_virtualization.as_deref().map(|own| {
            CpuRequest::builder()
                .nested_virtualization(NestedVirtualization::from(own))
                .build()
        }))
        .set_tag_specifications(Some(kinds.into_iter().map(tags).collect()))
        .build()
}

/// The word on capacity reservations; EC2 fills open ones unless it is told otherwise.
fn reservations(template: &LaunchTemplate) -> Option<ReservationRequest> {
    let left = ReservationRequest::builder()
        .capacity_reservation_preference(CapacityReservationPreference::None);
    (!template.fills_open_reservations).then(|| left.build())
}

/// One for EFA alone has no addresses, and nothing that concerns them.
fn interface(own: &Interface, template: &LaunchTemplate) -> InterfaceRequest {
    let request = InterfaceRequest::builder()
        .set_network_card_index(own.card)
        .device_index(own.device)
        .set_interface_type(own.kind.clone())
        .set_groups(Some(template.security_groups.clone()));
    if !own.has_addresses() {
        return request.build();
    }
    let tracking = template.tracking.as_ref().map(|own| {
        TrackingRequest::builder()
            .set_tcp_established_timeout(own.tcp_established_timeout)
            .set_udp_stream_timeout(own.udp_stream_timeout)
            .set_udp_timeout(own.udp_timeout)
            .build()
    });
    let is_ipv6 = template.ip_family == IpFamily::Ipv6;
    request
        .set_associate_public_ip_address(template.public_address)
        .set_ipv4_prefix_count(template.prefixes.filter(|_| !is_ipv6))
        .set_ipv6_prefix_count(template.prefixes.filter(|_| is_ipv6))
        .set_primary_ipv6(is_ipv6.then_some(true))
        .set_ipv6_address_count(is_ipv6.then_some(1))
        .set_connection_tracking_specification(tracking)
        .build()
}

fn disk(disk: &Disk) -> DiskRequest {
    let volume = disk.volume.as_ref().map(|volume| {
        VolumeRequest::builder()
            .set_delete_on_termination(volume.delete_on_termination)
            .set_encrypted(volume.encrypted)
            .set_iops(volume.iops.and_then(positive))
            .set_kms_key_id(volume.kms_key_id.clone())
            .set_snapshot_id(volume.snapshot_id.clone())
            .set_throughput(volume.throughput.and_then(positive))
            .set_volume_initialization_rate(volume.volume_initialization_rate)
            .set_volume_size(disk.gibibytes())
            .set_volume_type(volume.volume_type.as_deref().map(VolumeType::from))
            .build()
    });
    DiskRequest::builder()
        .set_device_name(disk.device.clone())
        .set_ebs(volume)
        .build()
}

/// Nothing is not sent.
fn positive(number: i64) -> Option<i32> {
    i32::try_from(number).ok().filter(|number| *number > 0)
}

/// The settings of the metadata service. Isolated regions know no setting of IPv6, and refuse a request that has it.
fn metadata(options: &MetadataOptions, region: &str) -> MetadataRequest {
    let is_isolated = region.starts_with("us-iso");
    let hops = options.http_put_response_hop_limit;
    MetadataRequest::builder()
        .set_http_endpoint(options.http_endpoint.as_deref().map(EndpointState::from))
        .set_http_protocol_ipv6(
            options
                .http_protocol_ipv6
                .as_deref()
                .filter(|_| !is_isolated)
                .map(ProtocolIpv6::from),
        )
        .set_http_put_response_hop_limit(hops.and_then(positive))
        .set_http_tokens(options.http_tokens.as_deref().map(TokensState::from))
        .instance_metadata_tags(TagsState::Disabled)
        .build()
}

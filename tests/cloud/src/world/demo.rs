//! A small cloud to begin with: three zones, a subnet in each, one security group, the images of one release, a role and a queue.

use super::{Cluster, Image, SecurityGroup, Subnet, Tags, World};

/// Kubernetes version of the images.
const KUBERNETES: &str = "1.36";
/// Release of the images.
const RELEASE: &str = "v20260601";
/// Tag that subnets and groups of a cluster are selected by.
const DISCOVERY: &str = "karpenter.sh/discovery";

impl World {
    /// A cloud with all that a cluster of that name needs.
    pub fn demo(cluster: &str) -> Self {
        let mut world = Self::new();
        let tags = Tags::from([(DISCOVERY.to_owned(), cluster.to_owned())]);
        for (number, zone) in world.zones.clone().into_iter().enumerate() {
            world.subnets.push(Subnet {
                id: format!("subnet-{:017x}", number + 1),
                zone,
                zone_id: format!("use1-az{}", number + 1),
                free_addresses: 8_187,
                tags: tags.clone(),
            });
        }
        world.security_groups.push(SecurityGroup {
            id: format!("sg-{:017x}", 1),
            name: format!("{cluster}-nodes"),
            tags,
        });
        for variant in ["standard", "nvidia"] {
            for architecture in ["x86_64", "arm64"] {
                world.add_image(architecture, variant);
            }
        }
        world.add_image("x86_64", "neuron");
        world.roles.push(format!("KarpenterNodeRole-{cluster}"));
        let own = Cluster {
            service_cidr: "10.100.0.0/16".to_owned(),
            endpoint: format!("https://{cluster}.example"),
            version: KUBERNETES.to_owned(),
            certificate_authority: "LS0tLQ==".to_owned(),
        };
        world.clusters.insert(cluster.to_owned(), own);
        world.queues.entry(cluster.to_owned()).or_default();
        world
    }

    /// An image of AL2023, with the parameters that name it.
    fn add_image(&mut self, architecture: &str, variant: &str) {
        let id = format!("ami-{:017x}", self.images.len() + 1);
        let name =
            format!("amazon-eks-node-al2023-{architecture}-{variant}-{KUBERNETES}-{RELEASE}");
        let folder = format!(
            "/aws/service/eks/optimized-ami/{KUBERNETES}/amazon-linux-2023/{architecture}/{variant}"
        );
        for version in ["recommended", &*name] {
            let parameter = format!("{folder}/{version}/image_id");
            self.parameters.insert(parameter, id.clone());
        }
        self.images.push(Image {
            id,
            name,
            architecture: architecture.to_owned(),
            created: "2026-06-01T00:00:00.000Z".to_owned(),
            deprecated: None,
            owner: "amazon".to_owned(),
            tags: Tags::new(),
        });
    }
}

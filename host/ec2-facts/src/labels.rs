//! The labels that a node of a type carries by its type alone, exactly as documented.
//!
//! Labels that depend on where and how it was bought (zone, capacity type, pool) are not here. A key whose value the
//! sources do not state is absent, as it is on a node. Source: Karpenter's reference page of instance types.

use std::borrow::Cow;

use crate::instance_type::InstanceType;

/// A label key and its value.
pub type Label = (&'static str, Cow<'static, str>);

const OPERATING_SYSTEM: &str = "linux";

impl InstanceType {
    /// The labels of a Linux node of this type, sorted by key.
    pub fn labels(&self) -> Vec<Label> {
        let mut labels = Vec::with_capacity(24);
        self.push_accelerator_labels(&mut labels);
        labels.push((
            "karpenter.k8s.aws/instance-capability-flex",
            truth(self.is_flex()),
        ));
        labels.push((
            "karpenter.k8s.aws/instance-category",
            self.category().into(),
        ));
        labels.push(("karpenter.k8s.aws/instance-cpu", number(self.vcpus)));
        labels.push((
            "karpenter.k8s.aws/instance-cpu-manufacturer",
            self.cpu_manufacturer.into(),
        ));
        labels.push((
            "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz",
            number(self.clock_mhz),
        ));
        push_stated(
            &mut labels,
            "karpenter.k8s.aws/instance-ebs-bandwidth",
            self.ebs_mbps,
        );
        labels.push((
            "karpenter.k8s.aws/instance-encryption-in-transit-supported",
            truth(self.encryption_in_transit),
        ));
        labels.push(("karpenter.k8s.aws/instance-family", self.family().into()));
        labels.push((
            "karpenter.k8s.aws/instance-generation",
            self.generation().into(),
        ));
        self.push_gpu_labels(&mut labels);
        if let Some(hypervisor) = self.hypervisor {
            labels.push((
                "karpenter.k8s.aws/instance-hypervisor",
                hypervisor.as_str().into(),
            ));
        }
        push_stated(
            &mut labels,
            "karpenter.k8s.aws/instance-local-nvme",
            self.local_nvme_gb,
        );
        labels.push(("karpenter.k8s.aws/instance-memory", number(self.memory_mib)));
        push_stated(
            &mut labels,
            "karpenter.k8s.aws/instance-network-bandwidth",
            self.network_mbps,
        );
        labels.push(("karpenter.k8s.aws/instance-size", self.size().into()));
        labels.push(("kubernetes.io/arch", self.architecture.as_str().into()));
        labels.push(("kubernetes.io/os", OPERATING_SYSTEM.into()));
        labels.push(("node.kubernetes.io/instance-type", self.name.into()));
        labels
    }

    fn push_accelerator_labels(&self, labels: &mut Vec<Label>) {
        let Some(accelerator) = &self.accelerator else {
            return;
        };
        labels.push((
            "karpenter.k8s.aws/instance-accelerator-count",
            number(accelerator.count),
        ));
        labels.push((
            "karpenter.k8s.aws/instance-accelerator-manufacturer",
            accelerator.manufacturer.into(),
        ));
        labels.push((
            "karpenter.k8s.aws/instance-accelerator-name",
            accelerator.name.into(),
        ));
    }

    fn push_gpu_labels(&self, labels: &mut Vec<Label>) {
        let Some(gpu) = &self.gpu else { return };
        labels.push(("karpenter.k8s.aws/instance-gpu-count", number(gpu.count)));
        labels.push((
            "karpenter.k8s.aws/instance-gpu-manufacturer",
            gpu.manufacturer.into(),
        ));
        labels.push((
            "karpenter.k8s.aws/instance-gpu-memory",
            number(gpu.memory_mib),
        ));
        labels.push(("karpenter.k8s.aws/instance-gpu-name", gpu.name.into()));
    }
}

fn number(value: u32) -> Cow<'static, str> {
    Cow::Owned(value.to_string())
}

fn truth(value: bool) -> Cow<'static, str> {
    Cow::Borrowed(if value { "true" } else { "false" })
}

fn push_stated(labels: &mut Vec<Label>, key: &'static str, value: Option<u32>) {
    labels.extend(value.map(|value| (key, number(value))));
}

#[cfg(test)]
mod tests {
    use crate::instance_type::{instance_type, instance_types};

    /// The labels of a type as `key=value` lines, the long prefix left out.
    fn lines(name: &str) -> Vec<String> {
        let labels = instance_type(name).unwrap().labels();
        labels
            .iter()
            .map(|(key, value)| {
                format!("{}={value}", key.replace("karpenter.k8s.aws/instance-", ""))
            })
            .collect()
    }

    #[test]
    fn labels_are_sorted_and_unique_for_every_type() {
        for facts in instance_types() {
            let labels = facts.labels();
            assert!(
                labels.windows(2).all(|pair| pair[0].0 < pair[1].0),
                "{}",
                facts.name
            );
        }
    }

    #[test]
    fn a_gpu_type_carries_its_gpu_labels() {
        assert_eq!(
            lines("g4dn.xlarge"),
            [
                "capability-flex=false",
                "category=g",
                "cpu=4",
                "cpu-manufacturer=intel",
                "cpu-sustained-clock-speed-mhz=2500",
                "ebs-bandwidth=3500",
                "encryption-in-transit-supported=true",
                "family=g4dn",
                "generation=4",
                "gpu-count=1",
                "gpu-manufacturer=nvidia",
                "gpu-memory=16384",
                "gpu-name=t4",
                "hypervisor=nitro",
                "local-nvme=125",
                "memory=16384",
                "network-bandwidth=5000",
                "size=xlarge",
                "kubernetes.io/arch=amd64",
                "kubernetes.io/os=linux",
                "node.kubernetes.io/instance-type=g4dn.xlarge",
            ]
        );
    }

    #[test]
    fn what_is_not_stated_is_not_a_label() {
        let metal = lines("c5.metal");
        assert!(
            !metal
                .iter()
                .any(|line| line.starts_with("hypervisor") || line.starts_with("local-nvme")),
            "{metal:?}"
        );
        let old = lines("t1.micro");
        assert!(
            !old.iter().any(|line| line.contains("bandwidth")),
            "{old:?}"
        );
        assert!(
            old.contains(&"cpu-sustained-clock-speed-mhz=0".to_owned()),
            "{old:?}"
        );
        let inference = lines("inf2.24xlarge");
        assert_eq!(
            inference[..3],
            [
                "accelerator-count=6",
                "accelerator-manufacturer=aws",
                "accelerator-name=inferentia2"
            ]
        );
    }
}

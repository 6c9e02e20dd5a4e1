//! Spare room: what capacity buffers ask for, as pods that do not exist.
//!
//! ```text
//! buffer ─► shape (template or workload) ─► how many units ─► window open? ─► pods that wait
//!                                                                                │
//!              words for the buffer ◄─ plan ◄─ planned after all real pods ◄─────┘
//! ```
//!
//! Every [`crate::snapshot::Snapshot`] has these pods among its own, so that planning and disruption treat their room as they
//! treat that of waiting pods. They exist nowhere else: they are never bound, nominated, evicted or counted, and a
//! real pod takes their room whenever it needs it.
//! Rules of the arithmetic are Karpenter's behaviour: the larger of replicas and percentage, never more than limits allow.

mod resolve;

use std::sync::Arc;

pub use resolve::{BufferRoom, MOST_UNITS, Unready, next_change, resolve};

use plimsoll_base::ids::{ObjectName, Uid};
use plimsoll_base::time::Timestamp;

use crate::{CapacityBuffer, Owner, OwnerKind, Pod, PodSpec, PodTemplate, Replicated};

/// The pods that stand for what all buffers ask for at an instant.
pub fn pods(
    buffers: &[Arc<CapacityBuffer>],
    templates: &[Arc<PodTemplate>],
    workloads: &[Arc<Replicated>],
    now: Timestamp,
) -> Vec<Arc<Pod>> {
    let units = |buffer: &Arc<CapacityBuffer>| {
        resolve(buffer, templates, workloads, now)
            .map(|room| units(buffer, &room))
            .unwrap_or_default()
    };
    buffers.iter().flat_map(units).collect()
}

/// The pods of one buffer. What only a pod that exists can have is taken off its shape: volumes, and any priority.
fn units(buffer: &CapacityBuffer, room: &BufferRoom) -> Vec<Arc<Pod>> {
    let spec = Arc::new(PodSpec {
        volumes: Vec::new(),
        priority: i32::MIN,
        ..PodSpec::clone(&room.shape.spec)
    });
    let unit = |number: u32| {
        Arc::new(Pod {
            labels: Arc::clone(&room.shape.labels),
            spec: Arc::clone(&spec),
            owner: Some(Owner {
                kind: OwnerKind::CapacityBuffer,
                name: Arc::clone(&buffer.name.name),
                uid: buffer.uid.clone(),
            }),
            ..Pod::pending(
                Uid::from(format!("{}-{number}", buffer.uid)),
                ObjectName::new(
                    Arc::clone(&buffer.name.namespace),
                    format!("capacity-buffer-{}-{number}", buffer.name.name),
                ),
                buffer.created,
            )
        })
    };
    (0..room.units).map(unit).collect()
}

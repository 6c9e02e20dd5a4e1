//! Leases as the API server keeps them, read into records and written from them.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff;
use plimsoll_base::time::Timestamp;

use super::election::Record;

impl Record {
    /// Holder and terms that a lease states; nothing and 0 where it states none.
    pub(super) fn read(lease: &Lease) -> Self {
        let spec = lease.spec.clone().unwrap_or_default();
        let seconds = spec.lease_duration_seconds.unwrap_or_default();
        let time = |time: Option<MicroTime>| {
            time.map_or_else(Timestamp::default, |time| {
                Timestamp::from_millis(time.0.as_millisecond())
            })
        };
        Self {
            holder: spec.holder_identity.unwrap_or_default(),
            duration: Duration::from_secs(u64::try_from(seconds).unwrap_or_default()),
            acquired: time(spec.acquire_time),
            renewed: time(spec.renew_time),
            transitions: spec.lease_transitions.unwrap_or_default(),
        }
    }

    /// The same as part of a lease.
    pub(super) fn written(&self) -> LeaseSpec {
        let seconds = i32::try_from(self.duration.as_secs());
        let time = |time: Timestamp| {
            let time = jiff::Timestamp::from_millisecond(time.millis());
            time.ok().map(MicroTime)
        };
        LeaseSpec {
            holder_identity: Some(self.holder.clone()),
            lease_duration_seconds: Some(seconds.unwrap_or(i32::MAX)),
            acquire_time: time(self.acquired),
            renew_time: time(self.renewed),
            lease_transitions: Some(self.transitions),
            ..LeaseSpec::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = Record {
            holder: "one".to_owned(),
            duration: Duration::from_secs(15),
            acquired: Timestamp::from_millis(1_000_250),
            renewed: Timestamp::from_millis(1_007_001),
            transitions: 3,
        };
        let lease = Lease {
            spec: Some(record.written()),
            ..Lease::default()
        };
        assert_eq!(Record::read(&lease), record);
        assert_eq!(Record::read(&Lease::default()), Record::default());
    }
}

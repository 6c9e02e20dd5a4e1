//! Cost of instances, by type and capacity type, and by use: starting, standing idle, or carrying pods.
//!
//! Money is integers: nano-dollars per hour times milliseconds, divided once at the end.

use std::collections::BTreeMap;

use plimsoll_base::ids::{ProviderId, TypeName};
use plimsoll_model::catalogue::CapacityType;

use crate::card::NodeHours;
use crate::cloud::{Cloud, Instance};

const MILLIS_PER_HOUR: i128 = 3_600_000;

/// Use of an instance, by which its cost is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Bought, and pods cannot use it yet.
    Starting,
    /// Pods can use it and none but daemons does, or it is deleting.
    Idle,
    /// Pods run on it.
    Busy,
}

type Row = (TypeName, CapacityType);

#[derive(Clone, Debug)]
struct Paid {
    row: Row,
    price: i64,
    does: Use,
}

/// Running sums of money.
#[derive(Clone, Debug, Default)]
pub(crate) struct Money {
    instances: BTreeMap<ProviderId, Paid>,
    /// Nano-dollars per hour by use.
    rates: [i64; 3],
    sums: [i128; 3],
    /// Instances and nano-dollars per hour.
    running: BTreeMap<Row, (i64, i64)>,
    hours: BTreeMap<Row, (i128, i128)>,
}

impl Money {
    /// Time passes with everything as it is.
    pub(crate) fn advance(&mut self, millis: i128) {
        for (sum, rate) in self.sums.iter_mut().zip(self.rates) {
            *sum += i128::from(rate) * millis;
        }
        for (row, (count, rate)) in &self.running {
            let sums = match self.hours.get_mut(row) {
                Some(sums) => sums,
                None => self.hours.entry(row.clone()).or_default(),
            };
            sums.0 += i128::from(*count) * millis;
            sums.1 += i128::from(*rate) * millis;
        }
    }

    /// An instance is paid for from now on.
    pub(crate) fn bought(&mut self, id: &ProviderId, instance: &Instance) {
        let key = &instance.offering;
        let paid = Paid {
            row: (key.instance_type.clone(), key.capacity_type),
            price: instance.price.nanos(),
            does: Use::Starting,
        };
        self.count(&paid, 1);
        self.instances.insert(id.clone(), paid);
    }

    /// An instance is paid for no longer.
    pub(crate) fn ended(&mut self, id: &ProviderId) {
        if let Some(paid) = self.instances.remove(id) {
            self.count(&paid, -1);
        }
    }

    /// Prices are others than a moment ago.
    pub(crate) fn repriced(&mut self, cloud: &Cloud) {
        for (id, instance) in &cloud.instances {
            let price = instance.price.nanos();
            self.change(id, |paid| paid.price = price);
        }
    }

    /// Sets the use of an instance from now on. Once usable it does not start again.
    pub(crate) fn uses(&mut self, id: &ProviderId, does: Use) {
        let known = self.instances.get(id).map(|paid| paid.does);
        if known.is_some_and(|known| known != does && does != Use::Starting) {
            self.change(id, |paid| paid.does = does);
        }
    }

    fn change(&mut self, id: &ProviderId, change: impl FnOnce(&mut Paid)) {
        if let Some(mut paid) = self.instances.remove(id) {
            self.count(&paid, -1);
            change(&mut paid);
            self.count(&paid, 1);
            self.instances.insert(id.clone(), paid);
        }
    }

    fn count(&mut self, paid: &Paid, sign: i64) {
        self.rates[paid.does as usize] += sign * paid.price;
        let running = self.running.entry(paid.row.clone()).or_default();
        running.0 += sign;
        running.1 += sign * paid.price;
        if running.0 == 0 {
            self.running.remove(&paid.row);
        }
    }

    /// Instances that are paid for now.
    pub(crate) fn instances(&self) -> usize {
        self.instances.len()
    }

    /// Nano-dollars per hour now.
    pub(crate) fn rate(&self) -> i64 {
        self.rates.iter().sum()
    }

    /// Nano-dollars per hour now for instances on which pods run.
    pub(crate) fn busy_rate(&self) -> i64 {
        self.rates[Use::Busy as usize]
    }

    /// Nano-dollars per hour now for an instance on which pods run; `None` for any other.
    pub(crate) fn busy_price(&self, id: &ProviderId) -> Option<i64> {
        let paid = self.instances.get(id)?;
        (paid.does == Use::Busy).then_some(paid.price)
    }

    /// Instances by type now.
    pub(crate) fn by_type(&self) -> impl Iterator<Item = (&TypeName, i64)> {
        self.running
            .iter()
            .map(|((name, _), (count, _))| (name, *count))
    }

    /// Nano-dollars so far, for everything.
    pub(crate) fn cost(&self) -> i64 {
        per_hour(self.sums.iter().sum())
    }

    /// Nano-dollars so far, for one use.
    pub(crate) fn cost_of(&self, does: Use) -> i64 {
        per_hour(self.sums[does as usize])
    }

    /// Milliseconds of instances so far.
    pub(crate) fn millis(&self) -> i128 {
        self.hours.values().map(|(millis, _)| millis).sum()
    }

    /// Hours and cost by type and capacity type.
    pub(crate) fn node_hours(&self) -> Vec<NodeHours> {
        let row = |((name, terms), (millis, cost)): (&Row, &(i128, i128))| NodeHours {
            instance_type: name.clone(),
            capacity_type: *terms,
            thousandths: per_hour(millis * 1000),
            cost: per_hour(*cost),
        };
        self.hours.iter().map(row).collect()
    }
}

/// Something per hour times milliseconds, in hours.
pub(crate) fn per_hour(sum: i128) -> i64 {
    i64::try_from(sum / MILLIS_PER_HOUR).unwrap_or(i64::MAX)
}

//! Orders of a run as its log tells of them: how many of each purpose were carried out, and when, from the first plan on.

use std::collections::BTreeMap;

use serde_json::Value;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Orders of one purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// Orders that have ended.
    pub count: usize,
    /// Seconds from the first plan to the first end of one.
    pub first: f64,
    /// The same to the last.
    pub last: f64,
}

/// Orders by purpose, as a log of level `debug` tells of them; none where it tells of no plan.
pub fn sent(log: &str) -> BTreeMap<String, Sent> {
    let mut sent: BTreeMap<String, Sent> = BTreeMap::new();
    let read = |line| serde_json::from_str::<Value>(line).ok();
    let mut lines = log.lines().filter_map(read);
    let planned = lines.find(|line| line["message"] == "planned");
    let Some(start) = planned.as_ref().and_then(seconds) else {
        return sent;
    };
    for line in lines.filter(|line| line["message"] == "order ended") {
        if let (Some(at), Some(purpose)) = (seconds(&line), line["purpose"].as_str()) {
            let after = (at - start).rem_euclid(DAY);
            let one = Sent {
                count: 0,
                first: after,
                last: after,
            };
            let all = sent.entry(purpose.to_owned()).or_insert(one);
            all.count += 1;
            all.last = after;
        }
    }
    sent
}

/// The time of day at which a line was written.
fn seconds(line: &Value) -> Option<f64> {
    let (_, time) = line["time"].as_str()?.split_once('T')?;
    let mut parts = time.strip_suffix('Z')?.split(':');
    let mut next = || parts.next()?.parse::<f64>().ok();
    Some((next()? * 60.0 + next()?) * 60.0 + next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_count_from_the_first_plan() {
        let line = |time: &str, message: &str| {
            format!("{{\"time\":\"{time}Z\",\"message\":\"{message}\",\"purpose\":\"Create\"}}\n")
        };
        let log = [
            line("2026-01-02T23:59:58.500", "order ended"),
            line("2026-01-02T23:59:59.000", "planned"),
            line("2026-01-02T23:59:59.500", "order ended"),
            "no line of it\n".to_owned(),
            line("2026-01-03T00:00:01.000", "order ended"),
        ];
        let create = Sent {
            count: 2,
            first: 0.5,
            last: 2.0,
        };
        assert_eq!(
            sent(&log.concat()),
            BTreeMap::from([("Create".to_owned(), create)])
        );
        assert!(sent("").is_empty());
    }
}

//! Pools that turn out not to be ready, in the log and on the pool itself: what its conditions begin to say.

use plimsoll_api::Kind;
use plimsoll_base::event_reason::EventReason;
use plimsoll_kube::event::Notice;
use plimsoll_model::action::{ObjectKey, Order, Request, Write};
use plimsoll_model::{ConditionStatus, ConditionType, DesiredCondition, NodePool};

/// Events for a write that was carried out, where it says of a pool why nothing can be launched of it. What of the pool itself cannot be
/// read was told when it was read.
pub(crate) fn written<'p>(
    order: &Order,
    pool: impl Fn(&str) -> Option<&'p NodePool>,
) -> Vec<Notice> {
    let Request::Write(Write::ChangeStatus(ObjectKey::Pool(name), change)) = &order.request else {
        return Vec::new();
    };
    let is_unread = pool(name.as_str()).is_some_and(|pool| pool.unread.problem.is_some());
    let notice = |said: &DesiredCondition| {
        let reason = match said.kind {
            ConditionType::ValidationSucceeded if !is_unread => EventReason::FailedValidation,
            ConditionType::NodeClassReady => EventReason::NodeClassNotReady,
            _ => return None,
        };
        let (kind, message) = (said.kind.as_str(), &said.message);
        tracing::warn!(
            NodePool = name.as_str(),
            reason = &*said.reason,
            "nodepool is not ready: {kind}: {message}"
        );
        let message = format!("{message}: nothing is launched from the NodePool");
        Some(Notice::new(
            Kind::NodePool,
            ("", name.as_str()),
            reason,
            message,
        ))
    };
    let fails = change.conditions.iter();
    let fails = fails.filter(|said| said.status == ConditionStatus::False);
    fails.filter_map(notice).collect()
}

#[cfg(test)]
mod tests {
    use plimsoll_base::ids::{PoolName, Uid};
    use plimsoll_model::action::{ActionId, Purpose, StatusChange};

    use super::*;

    fn order(conditions: Vec<DesiredCondition>) -> Order {
        let pool = ObjectKey::Pool(PoolName::from("general"));
        let change = StatusChange {
            conditions,
            ..StatusChange::default()
        };
        Order {
            id: ActionId::of(&pool, None, Purpose::MarkStatus, 0),
            object: pool.clone(),
            attempt: 0,
            uid: Some(Uid::from("u")),
            version: None,
            purpose: Purpose::MarkStatus,
            request: Request::Write(Write::ChangeStatus(pool, Box::new(change))),
        }
    }

    #[test]
    fn a_pool_tells_why_it_is_not_ready_and_nothing_while_it_is() {
        let class = ConditionType::NodeClassReady;
        let said = |conditions: Vec<DesiredCondition>| -> Vec<String> {
            let notices = written(&order(conditions), |_| None);
            let words = |it: Notice| format!("{}: {}", it.reason, it.message);
            notices.into_iter().map(words).collect()
        };
        let fails = DesiredCondition::fails(class, "NodeClassNotFound", "KWOKNodeClass a is gone");
        assert_eq!(
            said(vec![fails]),
            ["NodeClassNotReady: KWOKNodeClass a is gone: nothing is launched from the NodePool"]
        );
        assert_eq!(said(vec![DesiredCondition::holds(class)]), [""; 0]);
    }
}

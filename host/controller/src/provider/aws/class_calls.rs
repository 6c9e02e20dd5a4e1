//! Calls to AWS that a look at a class makes.

use std::future::Future;
use std::time::Duration;

use plimsoll_api::kinds::Ec2NodeClass;
use plimsoll_aws::{CallError, Ec2, Looked, Refusal, ServedClass, look, retire};
use plimsoll_base::time::Timestamp;
use tokio::time::timeout;

/// The longest that a class waits for the addresses of the cluster's services, which not all families need.
const PATIENCE: Duration = Duration::from_secs(10);

/// AWS, as far as classes are concerned.
pub(super) trait ClassCalls: Send + Sync + 'static {
    /// Asks what a class stands for. Instance profiles are made.
    fn look(&self, class: &Ec2NodeClass, now: Timestamp) -> impl Future<Output = Looked> + Send;

    /// Tries out whether a class could be launched. Launch templates are made; an error where AWS said neither.
    fn try_out(
        &self,
        class: &ServedClass,
    ) -> impl Future<Output = Result<Result<(), Refusal>, CallError>> + Send;

    /// Takes away what was made for a class; instance profiles stay in a network without a way to IAM.
    fn retire(
        &self,
        class: &Ec2NodeClass,
        is_isolated: bool,
    ) -> impl Future<Output = Result<(), CallError>> + Send;

    /// Certificate authority that nodes trust, in base64.
    fn ca_bundle(&self) -> String;
}

impl ClassCalls for Ec2 {
    async fn look(&self, class: &Ec2NodeClass, now: Timestamp) -> Looked {
        know_cluster(self).await;
        let looked = look(class, &self.cluster(), self.clients(), now).await;
        looked.with_queue(&self.queue())
    }

    async fn try_out(&self, class: &ServedClass) -> Result<Result<(), Refusal>, CallError> {
        Ec2::try_out(self, class).await
    }

    async fn retire(&self, class: &Ec2NodeClass, is_isolated: bool) -> Result<(), CallError> {
        retire(class, &self.cluster().name, self.clients(), is_isolated).await
    }

    fn ca_bundle(&self) -> String {
        self.cluster().ca_bundle.clone()
    }
}

/// Addresses of the cluster's services are asked for until they are known: nodes need them, and they stay.
async fn know_cluster(ec2: &Ec2) {
    let cluster = ec2.cluster();
    if cluster.service_cidr.is_some() {
        return;
    }
    match timeout(PATIENCE, ec2.clients().service_cidr(&cluster.name)).await {
        Ok(Ok(cidr)) => ec2.change_cluster(|cluster| cluster.service_cidr = cidr),
        Ok(Err(error)) => {
            tracing::warn!(%error, "addresses of the cluster's services are not known");
        }
        Err(_) => {
            tracing::warn!("EKS does not say in time which addresses the cluster's services have");
        }
    }
}

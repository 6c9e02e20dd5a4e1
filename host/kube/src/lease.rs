//! Leases by name, wherever they are: the namespace of a controller that somebody looks for.

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::ListParams;
use kube::{Api, Client, Error, ResourceExt};

/// Namespaces that have a lease of this name which somebody holds, the one renewed last first.
pub async fn holders(client: &Client, name: &str) -> Result<Vec<String>, Error> {
    let leases: Api<Lease> = Api::all(client.clone());
    let named = ListParams::default().fields(&format!("metadata.name={name}"));
    let mut held = leases.list(&named).await?.items;
    let spec = |lease: &Lease| lease.spec.clone().unwrap_or_default();
    held.retain(|lease| {
        spec(lease)
            .holder_identity
            .is_some_and(|holder| !holder.is_empty())
    });
    held.sort_by_key(|lease| std::cmp::Reverse(spec(lease).renew_time.map(|time| time.0)));
    Ok(held.iter().filter_map(ResourceExt::namespace).collect())
}

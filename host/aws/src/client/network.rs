//! Subnets and security groups.

use aws_sdk_ec2::types::Filter;
use k8s_openapi::jiff::Timestamp;
use plimsoll_api::kinds::FoundSecurityGroup;

use super::paced::Call;
use super::{CallError, Clients};
use crate::resolve::Query;
use crate::resolve::network::Subnet;

/// Entries of a list at once.
const PAGE: i32 = 500;

/// Filters of a query.
pub(super) fn filters(query: &Query) -> Vec<Filter> {
    let filter = |(name, values): &(String, Vec<String>)| {
        Filter::builder()
            .name(name)
            .set_values(Some(values.clone()))
            .build()
    };
    query.filters().iter().map(filter).collect()
}

impl Clients {
    /// Subnets that a query of a class finds; what was answered lately is not asked again.
    pub(crate) async fn subnets_of(
        &self,
        class: &str,
        query: &Query,
        now: Timestamp,
    ) -> Result<Vec<Subnet>, CallError> {
        if let Some(known) = self.kept.subnets(class, query, now) {
            return Ok(known);
        }
        let found = self.subnets(query).await?;
        self.kept.keep_subnets((class, query), &found, now);
        Ok(found)
    }

    async fn subnets(&self, query: &Query) -> Result<Vec<Subnet>, CallError> {
        let ask = self.ec2.describe_subnets().max_results(PAGE);
        let ask = ask.set_filters(Some(filters(query)));
        let pages = self.pages(
            Call::read("ec2:DescribeSubnets"),
            |token| ask.clone().set_next_token(token).send(),
            |page| page.next_token.as_deref(),
        );
        let found = pages.await?.into_iter();
        let found = found.flat_map(|page| page.subnets.unwrap_or_default());
        let read = |subnet: aws_sdk_ec2::types::Subnet| {
            Some(Subnet {
                id: subnet.subnet_id?,
                zone: subnet.availability_zone?,
                zone_id: subnet.availability_zone_id,
                free_addresses: subnet.available_ip_address_count.unwrap_or_default(),
            })
        };
        let found: Vec<Subnet> = found.filter_map(read).collect();
        for subnet in &found {
            self.addresses
                .told(&subnet.id, subnet.free_addresses.into());
        }
        Ok(found)
    }

    /// Security groups that a query of a class finds; what was answered lately is not asked again.
    pub(crate) async fn security_groups_of(
        &self,
        class: &str,
        query: &Query,
        now: Timestamp,
    ) -> Result<Vec<FoundSecurityGroup>, CallError> {
        if let Some(known) = self.kept.security_groups(class, query, now) {
            return Ok(known);
        }
        let found = self.security_groups(query).await?;
        self.kept.keep_security_groups((class, query), &found, now);
        Ok(found)
    }

    async fn security_groups(&self, query: &Query) -> Result<Vec<FoundSecurityGroup>, CallError> {
        let ask = self.ec2.describe_security_groups().max_results(PAGE);
        let ask = ask.set_filters(Some(filters(query)));
        let pages = self.pages(
            Call::read("ec2:DescribeSecurityGroups"),
            |token| ask.clone().set_next_token(token).send(),
            |page| page.next_token.as_deref(),
        );
        let found = pages.await?.into_iter();
        let found = found.flat_map(|page| page.security_groups.unwrap_or_default());
        let read = |group: aws_sdk_ec2::types::SecurityGroup| {
            Some(FoundSecurityGroup {
                id: group.group_id?,
                name: group.group_name,
            })
        };
        Ok(found.filter_map(read).collect())
    }
}

//! Instance profiles.

use std::time::Instant;

use aws_sdk_iam::types::Tag;
use plimsoll_api::kinds::Tags;

use super::{CallError, Clients};
use crate::error::ErrorClass;
use crate::resolve::unused_profiles::{FoundProfile, path_of_cluster};

/// An instance profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Name of its role; `None` where it has none.
    pub role: Option<String>,
}

impl Clients {
    /// An instance profile; `None` where there is none of that name. One with a role is not read again for a quarter of an hour.
    pub async fn profile(&self, name: &str) -> Result<Option<Profile>, CallError> {
        let known = self.kept_profiles.role(name, Instant::now());
        if known.is_some() {
            return Ok(Some(Profile { role: known }));
        }
        let asked = self
            .iam
            .get_instance_profile()
            .instance_profile_name(name)
            .send()
            .await;
        match asked.map_err(CallError::of("iam:GetInstanceProfile")) {
            Ok(answer) => {
                let roles = answer.instance_profile.map(|profile| profile.roles);
                let role = roles.and_then(|roles| roles.into_iter().next());
                let role = role.map(|role| role.role_name);
                if let Some(role) = &role {
                    self.kept_profiles.has(name, role, Instant::now());
                }
                Ok(Some(Profile { role }))
            }
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes an instance profile without a role; one of the name that is there is left as it is.
    pub async fn create_profile(
        &self,
        name: &str,
        path: &str,
        tags: &Tags,
    ) -> Result<(), CallError> {
        let tag = |(key, value): (&String, &String)| Tag::builder().key(key).value(value).build();
        let tags: Result<Vec<Tag>, _> = tags.iter().map(tag).collect();
        let tags = tags.expect("a tag has a key and a value");
        let create = self
            .iam
            .create_instance_profile()
            .instance_profile_name(name);
        let asked = create.path(path).set_tags(Some(tags)).send().await;
        match asked.map_err(CallError::of("iam:CreateInstanceProfile")) {
            Err(error) if error.class() != ErrorClass::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Gives an instance profile its role.
    pub async fn add_role(&self, name: &str, role: &str) -> Result<(), CallError> {
        let add = self
            .iam
            .add_role_to_instance_profile()
            .instance_profile_name(name);
        let asked = add.role_name(role).send().await;
        asked.map_err(CallError::of("iam:AddRoleToInstanceProfile"))?;
        self.kept_profiles.has(name, role, Instant::now());
        Ok(())
    }

    /// Takes its role from an instance profile.
    pub async fn remove_role(&self, name: &str, role: &str) -> Result<(), CallError> {
        self.kept_profiles.forget(name);
        let remove = self
            .iam
            .remove_role_from_instance_profile()
            .instance_profile_name(name);
        let asked = remove.role_name(role).send().await;
        match asked.map_err(CallError::of("iam:RemoveRoleFromInstanceProfile")) {
            Err(error) if error.class() != ErrorClass::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Deletes an instance profile without a role.
    pub async fn delete_profile(&self, name: &str) -> Result<(), CallError> {
        self.kept_profiles.forget(name);
        let asked = self
            .iam
            .delete_instance_profile()
            .instance_profile_name(name)
            .send()
            .await;
        match asked.map_err(CallError::of("iam:DeleteInstanceProfile")) {
            Err(error) if error.class() != ErrorClass::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The instance profiles that were made for classes of a cluster.
    pub async fn profiles_of_cluster(&self, cluster: &str) -> Result<Vec<FoundProfile>, CallError> {
        self.profiles(&path_of_cluster(self.region(), cluster))
            .await
    }

    /// The instance profiles below a path.
    pub async fn profiles(&self, path: &str) -> Result<Vec<FoundProfile>, CallError> {
        let pages = self.iam.list_instance_profiles().path_prefix(path);
        let found: Result<Vec<_>, _> = pages.into_paginator().items().send().collect().await;
        let found = found.map_err(CallError::of("iam:ListInstanceProfiles"))?;
        let read = |profile: aws_sdk_iam::types::InstanceProfile| FoundProfile {
            name: profile.instance_profile_name,
            path: profile.path,
            role: profile.roles.into_iter().next().map(|role| role.role_name),
        };
        Ok(found.into_iter().map(read).collect())
    }
}

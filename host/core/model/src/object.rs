//! Objects as they come in, and the version that orders them.

use std::hash::Hash;
use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName, PoolName};
use serde::{Deserialize, Serialize};

use super::{Volumes, WorkloadKind};

/// The API server's resource version: greater is later, over all objects of a kind.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Version(pub u64);

/// An object that one thing tells apart from all others of its kind.
pub trait Keyed {
    /// What tells it apart: its name, with namespace and kind where there are several.
    type Key: Ord + Hash + Clone;

    /// The key of this object.
    fn key(&self) -> Self::Key;
}

macro_rules! one_or_tuple {
    ($one:ty) => { $one };
    ($($each:ty),+) => { ($($each),+) };
}

macro_rules! objects {
    ($($group:ident {
        $($(#[$doc:meta])* $kind:ident($type:ident) in $list:ident by $($key:ident: $of:ty),+;)*
    })*) => {
        /// One object of any kind that decisions read.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum Object {
            $($($(#[$doc])* $kind(Arc<super::$type>),)*)*
            /// All volumes, volume claims, classes and limits at once.
            Volumes(Arc<Volumes>),
        }

        impl Object {
            /// `true` if both are the same object, maybe at different versions: of one kind, and of one name.
            pub fn is_same(&self, other: &Self) -> bool {
                match (self, other) {
                    $($((Self::$kind(a), Self::$kind(b)) => ($(&a.$key,)+) == ($(&b.$key,)+),)*)*
                    (Self::Volumes(_), Self::Volumes(_)) => true,
                    _ => false,
                }
            }
        }

        $($(
            impl Keyed for super::$type {
                type Key = one_or_tuple!($($of),+);

                fn key(&self) -> Self::Key {
                    ($(self.$key.clone()),+)
                }
            }

            impl From<super::$type> for Object {
                fn from(object: super::$type) -> Self {
                    Self::$kind(Arc::new(object))
                }
            }
        )*)*

        /// Everything known, as separate objects in any order.
        #[derive(Clone, Debug, Default)]
        pub struct Objects {
            $($($(#[$doc])* pub $list: Vec<Arc<super::$type>>,)*)*
            /// Volumes and their claims, classes and limits.
            pub volumes: Arc<Volumes>,
        }

        impl Objects {
            /// Adds an object. Volumes, of which there is one value, take the place of those before.
            pub fn push(&mut self, object: Object) {
                match object {
                    $($(Object::$kind(object) => self.$list.push(object),)*)*
                    Object::Volumes(volumes) => self.volumes = volumes,
                }
            }

            /// Sorts each list by namespace and name, workloads by kind before.
            pub fn sort(&mut self) {
                $($(self.$list.sort_by(|a, b| ($(&a.$key,)+).cmp(&($(&b.$key,)+)));)*)*
            }

            /// Each object, kind by kind, volumes last.
            pub fn iter(&self) -> impl Iterator<Item = Object> {
                std::iter::empty()
                    $($(.chain(self.$list.iter().cloned().map(Object::$kind)))*)*
                    .chain([Object::Volumes(Arc::clone(&self.volumes))])
            }
        }
    };
}

super::kinds!(objects);

impl Object {
    /// `true` if what capacity buffers ask for may depend on it.
    pub fn is_of_buffers(&self) -> bool {
        matches!(
            self,
            Self::Buffer(_) | Self::Template(_) | Self::Workload(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_base::labels::Labels;

    use super::*;
    use crate::Namespace;

    fn namespace(name: &str, labels: Labels) -> Object {
        let name = Arc::from(name);
        Object::Namespace(Arc::new(Namespace { name, labels }))
    }

    #[test]
    fn objects_are_the_same_by_kind_and_name() {
        let labels = Labels::from_iter([("team".into(), "a".into())]);
        let shop = namespace("shop", Labels::default());
        assert!(shop.is_same(&namespace("shop", labels)));
        assert!(!shop.is_same(&namespace("bank", Labels::default())));
        let volumes = Object::Volumes(Arc::default());
        assert!(!shop.is_same(&volumes) && volumes.is_same(&volumes));
    }

    #[test]
    fn what_is_added_comes_back_sorted_and_volumes_last() {
        let [bank, shop] = ["bank", "shop"].map(|name| namespace(name, Labels::default()));
        let volumes = Object::Volumes(Arc::default());
        let mut objects = Objects::default();
        for object in [&shop, &volumes, &bank] {
            objects.push(object.clone());
        }
        objects.sort();
        let all: Vec<Object> = objects.iter().collect();
        assert_eq!(all, [bank, shop, volumes]);
    }
}

//! Objects of every kind by key, by the table of kinds.

use std::sync::Arc;

use plimsoll_model::{Object, Version, Volumes};

use super::store::Store;

macro_rules! stores {
    ($($group:ident {
        $($(#[$doc:meta])* $kind:ident($type:ident) in $list:ident by $($key:ident: $of:ty),+;)*
    })*) => {
        /// Objects of every kind, each with the version it was last seen at.
        #[derive(Clone, Debug, Default)]
        pub struct Stores {
            $($($(#[$doc])* pub $list: Store<plimsoll_model::$type>,)*)*
            /// Volumes and their claims, classes and limits.
            pub volumes: Arc<Volumes>,
        }

        impl Stores {
            /// Takes in an object as it is at a version; `false` if that tells nothing new.
            pub(super) fn apply(&mut self, object: Object, version: Version) -> bool {
                match object {
                    $($(Object::$kind(object) => self.$list.apply(object, version).is_some(),)*)*
                    Object::Volumes(volumes) => {
                        self.volumes = volumes;
                        true
                    }
                }
            }

            /// Takes in that an object is no more, as of a version; `false` if that tells nothing new.
            pub(super) fn remove(&mut self, object: &Object, version: Version) -> bool {
                match object {
                    $($(Object::$kind(object) => {
                        self.$list.remove(&plimsoll_model::Keyed::key(&**object), version).is_some()
                    })*)*
                    Object::Volumes(_) => {
                        self.volumes = Arc::default();
                        true
                    }
                }
            }
        }
    };
}

plimsoll_model::kinds!(stores);

//! Additions of admission to a pod that is made of a template: the overhead, node selector and tolerations of its RuntimeClass, the
//! requests and limits that LimitRanges of its namespace give to containers, and the number that its PriorityClass stands for.
//!
//! A template has none of these, its pods have all of them (API server v1.36.3). What the pods of a template that has none yet will
//! be is worked out here, on the objects as they are written. Files may hold any of these objects; a running controller follows
//! LimitRanges alone ([`Admission::reads`]).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::object::Kind;

/// Priorities of the classes that every cluster has.
const SYSTEM: [(&str, i64); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

/// RuntimeClasses, LimitRanges and PriorityClasses.
#[derive(Debug, Default)]
pub struct Admission {
    /// RuntimeClasses by name.
    runtimes: BTreeMap<String, Value>,
    /// Items of type `Container` of LimitRanges, by namespace.
    limits: BTreeMap<String, Vec<Value>>,
    /// Values of PriorityClasses by name.
    priorities: BTreeMap<String, i64>,
    /// Value of the class of pods that name none.
    priority: Option<i64>,
}

impl Admission {
    /// Takes in an object of the kinds that admission reads; `false` for any other.
    pub fn take(&mut self, api_version: &str, kind: &str, object: &Value) -> bool {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let name = text(object, "/metadata/name").to_owned();
        match (group, kind) {
            ("node.k8s.io", "RuntimeClass") => {
                self.runtimes.insert(name, object.clone());
            }
            ("", "LimitRange") => {
                let items = object.pointer("/spec/limits").and_then(Value::as_array);
                let items = items.into_iter().flatten();
                let of_containers = items.filter(|item| text(item, "/type") == "Container");
                let own = self.limits.entry(namespace(object)).or_default();
                own.extend(of_containers.cloned());
            }
            ("scheduling.k8s.io", "PriorityClass") => {
                let value = object.get("value").and_then(Value::as_i64).unwrap_or(0);
                if object.get("globalDefault") == Some(&Value::Bool(true)) {
                    self.priority = self.priority.max(Some(value));
                }
                self.priorities.insert(name, value);
            }
            _ => return false,
        }
        true
    }

    /// `true` if admission reads objects of a kind.
    pub fn reads(kind: Kind) -> bool {
        kind == Kind::LimitRange
    }

    /// `true` if objects of a kind are templates whose pods admission completes.
    pub fn completes(kind: Kind) -> bool {
        template_of(kind).is_some()
    }

    /// Writes into an object's template what admission gives to the pods that are made of it, or into a pod itself that is made for
    /// a file.
    pub fn complete(&self, kind: Kind, object: &mut Value) {
        let namespace = namespace(object);
        let path = template_of(kind).or((kind == Kind::Pod).then_some("/spec"));
        let spec = path.and_then(|path| object.pointer_mut(path));
        let Some(spec) = spec.and_then(Value::as_object_mut) else {
            return;
        };
        self.give_priority(spec);
        self.give_runtime(spec);
        for item in self.limits.get(&namespace).into_iter().flatten() {
            for list in ["initContainers", "containers"] {
                let containers = spec.get_mut(list).and_then(Value::as_array_mut);
                for container in containers.into_iter().flatten() {
                    give_limits(item, container);
                }
            }
        }
    }

    fn give_priority(&self, spec: &mut Map<String, Value>) {
        let name = spec.get("priorityClassName").and_then(Value::as_str);
        let value = match name.filter(|name| !name.is_empty()) {
            Some(name) => {
                let of_system = SYSTEM.iter().find(|(own, _)| *own == name);
                let own = self.priorities.get(name).copied();
                own.or(of_system.map(|(_, value)| *value))
            }
            None => self.priority,
        };
        if let Some(value) = value {
            give(spec, "priority", value.into());
        }
    }

    fn give_runtime(&self, spec: &mut Map<String, Value>) {
        let name = spec.get("runtimeClassName").and_then(Value::as_str);
        let Some(class) = name.and_then(|name| self.runtimes.get(name)) else {
            return;
        };
        if let Some(overhead) = class.pointer("/overhead/podFixed") {
            give(spec, "overhead", overhead.clone());
        }
        if let Some(Value::Object(labels)) = class.pointer("/scheduling/nodeSelector") {
            give(spec, "nodeSelector", json!({}));
            if let Some(own) = spec.get_mut("nodeSelector").and_then(Value::as_object_mut) {
                own.extend(labels.clone());
            }
        }
        if let Some(Value::Array(more)) = class.pointer("/scheduling/tolerations") {
            give(spec, "tolerations", json!([]));
            if let Some(own) = spec.get_mut("tolerations").and_then(Value::as_array_mut) {
                own.extend(more.iter().cloned());
            }
        }
    }
}

/// Path of the pod's specification in a template of a kind.
fn template_of(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::DaemonSet => Some("/spec/template/spec"),
        Kind::PodTemplate => Some("/template/spec"),
        _ => None,
    }
}

/// Gives a container what an item of a LimitRange has for those that do not say. What an item leaves out follows from its other
/// fields, as the API server fills it in; a container's own limit stands in for its request.
fn give_limits(item: &Value, container: &mut Value) {
    let Some(container) = container.as_object_mut() else {
        return;
    };
    let of_item = |field: &str| item.get(field).and_then(Value::as_object).cloned();
    let mut limits = of_item("max").unwrap_or_default();
    limits.extend(of_item("default").unwrap_or_default());
    let mut requests = of_item("min").unwrap_or_default();
    requests.extend(limits.clone());
    requests.extend(of_item("defaultRequest").unwrap_or_default());
    give(container, "resources", json!({}));
    let resources = container
        .get_mut("resources")
        .and_then(Value::as_object_mut);
    let Some(resources) = resources else {
        return;
    };
    let own_limits = resources.get("limits").and_then(Value::as_object);
    if let Some(own) = own_limits {
        requests.extend(own.clone());
    }
    for (field, defaults) in [("requests", requests), ("limits", limits)] {
        give(resources, field, json!({}));
        if let Some(own) = resources.get_mut(field).and_then(Value::as_object_mut) {
            for (name, amount) in defaults {
                own.entry(name).or_insert(amount);
            }
        }
    }
}

/// Sets a field that is absent or null.
fn give(fields: &mut Map<String, Value>, name: &str, value: Value) {
    let field = fields.entry(name).or_insert(Value::Null);
    if field.is_null() {
        *field = value;
    }
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    let found = object.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

fn namespace(object: &Value) -> String {
    match text(object, "/metadata/namespace") {
        "" => "default".to_owned(),
        namespace => namespace.to_owned(),
    }
}

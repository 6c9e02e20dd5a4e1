//! Policy documents: statements that allow or deny actions on resources under conditions.
//!
//! What is not understood is an error, since to pass it over would allow more, or less, than the document says.

use std::fmt;

use serde_json::{Map, Value};

use super::condition::Condition;
use super::pattern;
use super::right::AskedRight;

const VERSION: &str = "2012-10-17";
const FIELDS: [&str; 5] = ["Sid", "Effect", "Action", "Resource", "Condition"];

/// Why a document is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// The statement, by its `Sid` or else by its number; empty for what is not in one.
    pub statement: String,
    /// The field, such as `Condition.StringEquals`; empty for the whole.
    pub field: String,
    /// The fault there, and what was expected instead.
    pub reason: String,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            statement,
            field,
            reason,
        } = self;
        f.write_str("policy document: ")?;
        if !statement.is_empty() {
            write!(f, "statement {statement}: ")?;
        }
        if !field.is_empty() {
            write!(f, "{field}: ")?;
        }
        f.write_str(reason)
    }
}

impl std::error::Error for PolicyError {}

/// A policy document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    statements: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Statement {
    name: String,
    denies: bool,
    actions: Vec<String>,
    resources: Vec<String>,
    conditions: Vec<Condition>,
}

/// The word of documents on a right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Allowed,
    /// No statement allows it.
    NotAllowed,
    /// A statement denies it.
    Denied,
}

impl Policy {
    /// Reads a document. Fails where it is no JSON, or says what is not understood here.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let of_whole = |field: &str, reason: String| PolicyError {
            statement: String::new(),
            field: field.to_owned(),
            reason,
        };
        let tree: Value = serde_json::from_str(text)
            .map_err(|error| of_whole("", format!("it is no JSON: {error}")))?;
        if tree["Version"] != VERSION {
            let reason = format!("it is {}; expected \"{VERSION}\"", tree["Version"]);
            return Err(of_whole("Version", reason));
        }
        let statements = match &tree["Statement"] {
            Value::Array(statements) => statements.as_slice(),
            Value::Null => &[],
            one => std::slice::from_ref(one),
        };
        if statements.is_empty() {
            let reason = "there is none; expected at least one".to_owned();
            return Err(of_whole("Statement", reason));
        }
        let statements = statements.iter().enumerate();
        let statements = statements.map(|(at, tree)| Statement::read(at, tree));
        Ok(Self {
            statements: statements.collect::<Result<_, _>>()?,
        })
    }

    /// `true` if it allows a right and does not deny it.
    pub fn allows(&self, asked: &AskedRight) -> bool {
        self.decides(asked) == Decision::Allowed
    }

    pub(super) fn decides(&self, asked: &AskedRight) -> Decision {
        let about = || self.statements.iter().filter(|own| own.is_about(asked));
        if about().any(|own| own.denies) {
            Decision::Denied
        } else if about().next().is_some() {
            Decision::Allowed
        } else {
            Decision::NotAllowed
        }
    }

    /// The document without one action or one resource of one statement, for each of these; with their names, such as
    /// `EndOwn: ec2:TerminateInstances`. One that has none left says nothing.
    pub fn lessened(&self) -> Vec<(String, Self)> {
        let mut all = Vec::new();
        for (at, statement) in self.statements.iter().enumerate() {
            let mut add = |what: &str, change: &dyn Fn(&mut Statement)| {
                let mut less = self.clone();
                change(&mut less.statements[at]);
                all.push((format!("{}: {what}", statement.name), less));
            };
            for action in &statement.actions {
                add(action, &|own| own.actions.retain(|other| other != action));
            }
            for resource in &statement.resources {
                add(resource, &|own| {
                    own.resources.retain(|other| other != resource);
                });
            }
        }
        all
    }
}

impl Statement {
    fn read(at: usize, tree: &Value) -> Result<Self, PolicyError> {
        let name = match tree["Sid"].as_str() {
            Some(name) => name.to_owned(),
            None => (at + 1).to_string(),
        };
        let wrong = |field: &str, reason: String| PolicyError {
            statement: name.clone(),
            field: field.to_owned(),
            reason,
        };
        let Some(fields) = tree.as_object() else {
            return Err(wrong("", format!("it is {tree}; expected an object")));
        };
        if let Some(field) = fields
            .keys()
            .find(|field| !FIELDS.contains(&field.as_str()))
        {
            let reason = format!(
                "the field is not known; expected one of {}",
                FIELDS.join(", ")
            );
            return Err(wrong(field, reason));
        }
        let denies = match tree["Effect"].as_str() {
            Some("Allow") => false,
            Some("Deny") => true,
            _ => {
                let reason = format!("it is {}; expected \"Allow\" or \"Deny\"", tree["Effect"]);
                return Err(wrong("Effect", reason));
            }
        };
        let list = |field: &str| texts(&tree[field]).map_err(|reason| wrong(field, reason));
        let (actions, resources) = (list("Action")?, list("Resource")?);
        if let Some(action) = actions.iter().find(|own| !own.contains(':') && *own != "*") {
            let reason = format!("\"{action}\" is no action; expected SERVICE:OPERATION or *");
            return Err(wrong("Action", reason));
        }
        if let Some(resource) = resources
            .iter()
            .find(|own| *own != "*" && !own.starts_with("arn:"))
        {
            let reason = format!("\"{resource}\" is no resource; expected an ARN or *");
            return Err(wrong("Resource", reason));
        }
        let conditions = match &tree["Condition"] {
            Value::Null => Vec::new(),
            Value::Object(operators) => {
                conditions(operators).map_err(|(field, reason)| wrong(&field, reason))?
            }
            other => {
                let reason = format!("it is {other}; expected an object of operators");
                return Err(wrong("Condition", reason));
            }
        };
        Ok(Self {
            name,
            denies,
            actions,
            resources,
            conditions,
        })
    }

    /// `true` if it decides on a right.
    fn is_about(&self, asked: &AskedRight) -> bool {
        // Letters of actions count in either case, those of resources as they are.
        let action = asked.action.to_ascii_lowercase();
        let acts = |own: &String| pattern::fits(&own.to_ascii_lowercase(), &action);
        let fits = |own: &String| pattern::fits(own, &asked.resource);
        self.actions.iter().any(acts)
            && self.resources.iter().any(fits)
            && self.conditions.iter().all(|own| own.holds(asked))
    }
}

/// Conditions of all operators; an error has its field.
fn conditions(operators: &Map<String, Value>) -> Result<Vec<Condition>, (String, String)> {
    let mut all = Vec::new();
    for (operator, keys) in operators {
        let field = format!("Condition.{operator}");
        let Some(keys) = keys.as_object() else {
            return Err((field, format!("it is {keys}; expected an object of keys")));
        };
        for (key, values) in keys {
            let read = texts(values).and_then(|values| {
                filled(key)?;
                Condition::read(operator, key, values)
            });
            all.push(read.map_err(|reason| (field.clone(), reason))?);
        }
    }
    Ok(all)
}

/// A text, or a list of at least one.
fn texts(value: &Value) -> Result<Vec<String>, String> {
    let entries = match value {
        Value::Array(entries) => entries.as_slice(),
        one => std::slice::from_ref(one),
    };
    let texts = entries.iter().map(|entry| {
        let text = entry
            .as_str()
            .ok_or_else(|| format!("{entry} is no text; expected one or a list of texts"))?;
        filled(text)?;
        Ok(text.to_owned())
    });
    let texts: Vec<String> = texts.collect::<Result<_, String>>()?;
    if texts.is_empty() {
        return Err("the list is empty; expected at least one text".to_owned());
    }
    Ok(texts)
}

/// Refuses text with a placeholder.
fn filled(text: &str) -> Result<(), String> {
    if text.contains("${") {
        return Err(format!(
            "\"{text}\" has a placeholder; expected it to be filled in"
        ));
    }
    Ok(())
}

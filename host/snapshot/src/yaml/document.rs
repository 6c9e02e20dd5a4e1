//! The outer frame of a YAML document: lists, our section, single objects.
//!
//! Each object becomes a JSON value and takes the same path as one that was JSON from the start, so that errors, defaults and
//! unknown fields are treated alike. Keys given twice are refused by the parser.

use std::fmt;
use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::Options;

use super::split::Documents;
use crate::error::{Position, SnapshotError};
use crate::gather::Gatherer;
use crate::limits::Limits;

/// Deepest nesting read.
const MAX_DEPTH: usize = 128;

/// Reads every document of a stream that begins behind so many lines of a text.
pub(crate) fn read(
    input: impl BufRead,
    limits: &Limits,
    lines_before: u64,
    gatherer: &mut Gatherer,
) -> Result<(), SnapshotError> {
    let mut documents = Documents::new(input, limits.object, lines_before);
    while documents.next()? {
        let begin = Position {
            line: documents.begin(),
            column: 1,
        };
        gatherer.begin_document(begin);
        let mut frame = Frame {
            gatherer,
            is_list: false,
            failure: None,
        };
        let read = serde_saphyr::with_deserializer_from_reader_with_options(
            &mut documents,
            options(limits),
            |deserializer| Document(&mut frame).deserialize(deserializer),
        );
        let Frame {
            is_list, failure, ..
        } = frame;
        if let Err(error) = read {
            let ours = failure.or_else(|| documents.take_failure());
            return Err(ours.unwrap_or_else(|| syntax(&error, begin)));
        }
        gatherer.end_document(is_list)?;
    }
    Ok(())
}

/// Bounds on what a document may unfold to; its plain length is bounded elsewhere.
fn options(limits: &Limits) -> Options {
    let mut options = Options::default();
    options.with_snippet = false;
    if let Some(budget) = &mut options.budget {
        budget.max_reader_input_bytes = None;
        budget.max_events = usize::MAX;
        budget.max_nodes = usize::MAX;
        budget.max_total_scalar_bytes = usize::try_from(limits.text).unwrap_or(usize::MAX);
        budget.max_depth = MAX_DEPTH;
    }
    options
}

fn syntax(error: &serde_saphyr::Error, begin: Position) -> SnapshotError {
    let inner = error.without_snippet();
    let place = inner.location();
    let words = inner.to_string();
    let words = words.lines().next().unwrap_or_default();
    let words = words
        .rsplit_once(" at line ")
        .map_or(words, |(words, _)| words);
    SnapshotError::Yaml {
        position: Position {
            line: begin.line + place.map_or(1, |place| place.line()).max(1) - 1,
            column: place.map_or(1, |place| place.column()),
        },
        words: words.to_owned(),
    }
}

/// Where the parts of a document go.
struct Frame<'a> {
    gatherer: &'a mut Gatherer,
    is_list: bool,
    failure: Option<SnapshotError>,
}

impl Frame<'_> {
    /// Keeps our own error, and stops the parser.
    fn keep<E: serde::de::Error>(&mut self, result: Result<(), SnapshotError>) -> Result<(), E> {
        result.map_err(|error| {
            let told = E::custom(&error);
            self.failure = Some(error);
            told
        })
    }
}

/// A document.
struct Document<'a, 'b>(&'a mut Frame<'b>);

impl<'de> DeserializeSeed<'de> for Document<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of objects")
    }

    /// Null, which kubectl skips: as good as a list of nothing.
    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.is_list = true;
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.0.is_list = true;
        Elements(self.0, Element::Item).visit_seq(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let frame = self.0;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "items" => {
                    frame.is_list = true;
                    map.next_value_seed(Elements(frame, Element::Item))?;
                }
                "changes" => map.next_value_seed(Elements(frame, Element::Change))?,
                "plimsoll" => {
                    let begun = frame.gatherer.begin_section();
                    frame.keep::<A::Error>(begun)?;
                    map.next_value_seed(Section(frame))?;
                }
                _ => {
                    let value: Value = map.next_value()?;
                    frame.gatherer.document_field(key, value);
                }
            }
        }
        Ok(())
    }
}

/// Kind of the elements of a list.
#[derive(Clone, Copy)]
enum Element {
    Item,
    Change,
}

/// The elements of a list.
struct Elements<'a, 'b>(&'a mut Frame<'b>, Element);

impl<'de> DeserializeSeed<'de> for Elements<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Elements<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self(frame, element) = self;
        while let Some(value) = list.next_element::<Value>()? {
            let taken = match element {
                Element::Item => frame.gatherer.item(&value),
                Element::Change => frame.gatherer.change(&value),
            };
            frame.keep::<A::Error>(taken)?;
        }
        Ok(())
    }
}

/// Our section.
struct Section<'a, 'b>(&'a mut Frame<'b>);

impl<'de> DeserializeSeed<'de> for Section<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Section<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fields of the plimsoll section")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let frame = self.0;
        while let Some(key) = map.next_key::<String>()? {
            if key == "changes" {
                map.next_value_seed(Elements(frame, Element::Change))?;
                continue;
            }
            let value: Value = map.next_value()?;
            let kept = frame.gatherer.section_field(key, value);
            frame.keep::<A::Error>(kept)?;
        }
        Ok(())
    }
}

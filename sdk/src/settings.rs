//! Settings: typed by the author's struct, checked twice with the same rules (by the host against the schema, by the
//! module when it reads them), complained about with the name of the setting, its value and what was expected.

pub use crate::bindings::configure::plimsoll::policy::types::{Problem, Setting};

/// Settings of a policy; derive it.
pub trait Settings: Sized {
    /// JSON Schema of the settings, as it goes into the manifest.
    const SCHEMA: &'static str;

    /// Reads settings, fills in defaults, and lists everything that is wrong instead of stopping at the first.
    fn from_values(values: &[(String, Setting)]) -> Result<Self, Vec<Problem>>;
}

/// For policies without settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoSettings;

impl Settings for NoSettings {
    const SCHEMA: &'static str =
        r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#;

    fn from_values(values: &[(String, Setting)]) -> Result<Self, Vec<Problem>> {
        let problems = Reader::new(values).finish(&[]);
        if problems.is_empty() {
            Ok(Self)
        } else {
            Err(problems)
        }
    }
}

/// Limits of a setting. Made by `derive(Settings)`.
#[derive(Debug)]
pub struct Rule<'a> {
    /// Used where the setting is not given; `None` makes it mandatory.
    pub default: Option<Setting>,
    /// Least number allowed.
    pub min: Option<f64>,
    /// Greatest number allowed.
    pub max: Option<f64>,
    /// Texts allowed; none means any.
    pub one_of: &'a [&'a str],
}

/// A type a setting can have.
pub trait SettingValue: Sized {
    /// Name of the type in complaints.
    const KIND: &'static str;

    /// The value, if the setting has this type.
    fn from_setting(setting: &Setting) -> Option<Self>;
}

impl SettingValue for bool {
    const KIND: &'static str = "true or false";

    fn from_setting(setting: &Setting) -> Option<Self> {
        if let Setting::Flag(value) = setting {
            Some(*value)
        } else {
            None
        }
    }
}

impl SettingValue for f64 {
    const KIND: &'static str = "a number";

    fn from_setting(setting: &Setting) -> Option<Self> {
        if let Setting::Num(value) = setting {
            value.is_finite().then_some(*value)
        } else {
            None
        }
    }
}

impl SettingValue for u32 {
    const KIND: &'static str = "a whole number, 0 or more";

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked first"
    )]
    fn from_setting(setting: &Setting) -> Option<Self> {
        let value = f64::from_setting(setting)?;
        let fits = (0.0..=f64::from(Self::MAX)).contains(&value) && value.fract() == 0.0;
        fits.then_some(value as Self)
    }
}

impl SettingValue for String {
    const KIND: &'static str = "a text";

    fn from_setting(setting: &Setting) -> Option<Self> {
        if let Setting::Text(value) = setting {
            Some(value.clone())
        } else {
            None
        }
    }
}

impl SettingValue for Vec<f64> {
    const KIND: &'static str = "a list of numbers";

    fn from_setting(setting: &Setting) -> Option<Self> {
        match setting {
            Setting::Nums(values) => values
                .iter()
                .all(|value| value.is_finite())
                .then(|| values.clone()),
            Setting::Texts(values) => values.is_empty().then(Self::new),
            _ => None,
        }
    }
}

impl SettingValue for Vec<String> {
    const KIND: &'static str = "a list of texts";

    fn from_setting(setting: &Setting) -> Option<Self> {
        match setting {
            Setting::Texts(values) => Some(values.clone()),
            Setting::Nums(values) => values.is_empty().then(Self::new),
            _ => None,
        }
    }
}

/// Reads settings one by one and collects complaints. Used by `derive(Settings)`.
#[derive(Debug)]
pub struct Reader<'a> {
    values: &'a [(String, Setting)],
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    /// A reader of the settings the host passed.
    pub fn new(values: &'a [(String, Setting)]) -> Self {
        Self {
            values,
            problems: Vec::new(),
        }
    }

    /// The setting of that name, or its default; `None` after a complaint.
    pub fn read<T: SettingValue>(&mut self, name: &str, rule: &Rule<'_>) -> Option<T> {
        let given = self
            .values
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, setting)| setting);
        let Some(setting) = given.or(rule.default.as_ref()) else {
            self.complain(name, format!("is missing; expected {}", T::KIND));
            return None;
        };
        let Some(value) = T::from_setting(setting) else {
            self.complain(name, format!("is {}; expected {}", shown(setting), T::KIND));
            return None;
        };
        if let Some(broken) = rule.broken_by(setting) {
            self.complain(name, broken);
            return None;
        }
        Some(value)
    }

    /// Complains of every setting that is not in `known`, and returns all complaints.
    pub fn finish(mut self, known: &[&str]) -> Vec<Problem> {
        for (name, _) in self.values {
            if !known.contains(&name.as_str()) {
                let message = match known {
                    [] => String::from("is not a setting of this policy; it has none"),
                    _ => format!(
                        "is not a setting of this policy; it has {}",
                        known.join(", ")
                    ),
                };
                self.problems.push(Problem {
                    path: name.clone(),
                    message,
                });
            }
        }
        self.problems
    }

    fn complain(&mut self, name: &str, message: String) {
        self.problems.push(Problem {
            path: name.to_owned(),
            message,
        });
    }
}

impl Rule<'_> {
    fn broken_by(&self, setting: &Setting) -> Option<String> {
        let numbers = match setting {
            Setting::Num(value) => std::slice::from_ref(value),
            Setting::Nums(values) => values.as_slice(),
            _ => &[],
        };
        let texts = match setting {
            Setting::Text(value) => std::slice::from_ref(value),
            Setting::Texts(values) => values.as_slice(),
            _ => &[],
        };
        for value in numbers {
            if let Some(min) = self.min.filter(|min| value < min) {
                return Some(format!("is {value}; expected at least {min}"));
            }
            if let Some(max) = self.max.filter(|max| value > max) {
                return Some(format!("is {value}; expected at most {max}"));
            }
        }
        let stranger = texts
            .iter()
            .find(|text| !self.one_of.is_empty() && !self.one_of.contains(&text.as_str()));
        stranger.map(|text| format!("is \"{text}\"; expected one of {}", self.one_of.join(", ")))
    }
}

/// A problem for each text of a list that is not written as it should be: its path is the setting's name, and it says what
/// was `expected`.
///
/// ```
/// use plimsoll_sdk::settings::unreadable;
/// let hours = ["22".to_owned(), "late".to_owned()];
/// let problems = unreadable("hours", &hours, |text| text.parse::<u32>().is_ok(), "an hour such as 22");
/// assert_eq!(problems[0].message, "has \"late\"; expected an hour such as 22");
/// ```
pub fn unreadable(
    path: &str,
    texts: &[String],
    reads: impl Fn(&str) -> bool,
    expected: &str,
) -> Vec<Problem> {
    let wrong = texts.iter().filter(|text| !reads(text));
    let problem = |text| Problem {
        path: path.to_owned(),
        message: format!("has \"{text}\"; expected {expected}"),
    };
    wrong.map(problem).collect()
}

/// Ends a test whose settings struct has a default that its own limits refuse.
#[doc(hidden)]
#[expect(
    clippy::panic,
    reason = "a mistake in the author's struct, met by the first test that uses it"
)]
pub fn defaults_break_their_rules(problems: &[Problem]) -> ! {
    match problems.first() {
        Some(problem) => panic!(
            "the default of setting {} {}",
            problem.path, problem.message
        ),
        None => unreachable!("settings were refused without a complaint"),
    }
}

fn shown(setting: &Setting) -> String {
    match setting {
        Setting::Flag(value) => value.to_string(),
        Setting::Num(value) => value.to_string(),
        Setting::Text(value) => format!("\"{value}\""),
        Setting::Nums(values) => format!("a list of {} numbers", values.len()),
        Setting::Texts(values) => format!("a list of {} texts", values.len()),
    }
}

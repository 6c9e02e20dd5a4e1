//! Arguments: the specs to run, the program to run them against, and for how long at most.

use std::path::PathBuf;
use std::time::Duration;

/// Shown where the arguments are wrong.
pub(crate) const USAGE: &str =
    "usage: conformance --serve PROGRAM [OPTION]... (all | some COUNT SEED | short COUNT SEED | focus PATTERN)

  --serve PROGRAM        plimsoll
  --gates NAME=BOOL,...  its feature gates
  --limit SECONDS        the longest that a spec may take

Short specs take two minutes at most. PATTERN is a regular expression of Go; a spec's name is \"Regression \" and the texts around it.";

/// Gates that the suite needs.
const GATES: &str = "NodeRepair=true,StaticCapacity=true,CapacityBuffer=true";
/// The longest spec waits eleven minutes for a roll-back and then watches for two.
const LIMIT: Duration = Duration::from_mins(18);

/// A choice of specs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Specs {
    /// Every one.
    All,
    /// So many, chosen by a seed.
    Some {
        /// How many.
        count: usize,
        /// The same seed chooses the same.
        seed: u64,
    },
    /// So many of those that take two minutes at most, chosen by a seed.
    Short {
        /// How many.
        count: usize,
        /// The same seed chooses the same.
        seed: u64,
    },
    /// Those whose name a regular expression finds.
    Focus(String),
}

/// The whole command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// The controller's program.
    pub(crate) program: PathBuf,
    /// The controller's feature gates.
    pub(crate) gates: String,
    /// The longest that a spec may take.
    pub(crate) limit: Duration,
    /// The specs to run.
    pub(crate) specs: Specs,
}

impl Arguments {
    /// Reads the arguments; what is wrong with them, in words.
    pub(crate) fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut program = None;
        let (mut gates, mut limit) = (GATES.to_owned(), LIMIT);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} has no value"));
            match argument.as_str() {
                "--serve" => program = Some(value()?.into()),
                "--gates" => gates = value()?,
                "--limit" => limit = Duration::from_secs(number(&value()?)?),
                _ => {
                    let specs = specs(&argument, &mut arguments)?;
                    return match (program, arguments.next()) {
                        (None, _) => Err("--serve names no program".to_owned()),
                        (_, Some(more)) => Err(format!("\"{more}\" is one argument too many")),
                        (Some(program), None) => Ok(Self {
                            program,
                            gates,
                            limit,
                            specs,
                        }),
                    };
                }
            }
        }
        Err("no specs are named".to_owned())
    }
}

fn specs(choice: &str, more: &mut impl Iterator<Item = String>) -> Result<Specs, String> {
    let mut value = |what| more.next().ok_or(format!("{choice} names no {what}"));
    match choice {
        "all" => Ok(Specs::All),
        "some" => Ok(Specs::Some {
            count: number(&value("number of specs")?)?,
            seed: number(&value("seed")?)?,
        }),
        "short" => Ok(Specs::Short {
            count: number(&value("number of specs")?)?,
            seed: number(&value("seed")?)?,
        }),
        "focus" => Ok(Specs::Focus(value("pattern")?)),
        _ => Err(format!(
            "\"{choice}\" is no choice of specs; expected all, some, short or focus"
        )),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    let wrong = |_| format!("\"{text}\" is no number; expected 0 or more");
    text.parse().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Arguments, String> {
        Arguments::read(line.split(' ').map(str::to_owned))
    }

    #[test]
    fn options_come_before_the_choice_of_specs() {
        let asked = read("--limit 60 --serve bin/plimsoll some 10 7").unwrap();
        assert_eq!(asked.program, PathBuf::from("bin/plimsoll"));
        assert_eq!(asked.limit, Duration::from_mins(1));
        assert_eq!(asked.specs, Specs::Some { count: 10, seed: 7 });
        assert_eq!(
            read("--serve p short 6 1").unwrap().specs,
            Specs::Short { count: 6, seed: 1 }
        );
        assert_eq!(
            read("--serve p focus Drift").unwrap().specs,
            Specs::Focus("Drift".to_owned())
        );
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (line, wrong) in [
            ("all", "--serve names no program"),
            ("--serve p", "no specs are named"),
            (
                "--serve p every",
                "\"every\" is no choice of specs; expected all, some, short or focus",
            ),
            (
                "--serve p some ten 1",
                "\"ten\" is no number; expected 0 or more",
            ),
            ("--serve p all again", "\"again\" is one argument too many"),
            ("--serve p focus", "focus names no pattern"),
        ] {
            assert_eq!(read(line).unwrap_err(), wrong, "{line}");
        }
    }
}

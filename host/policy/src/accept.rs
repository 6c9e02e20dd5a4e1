//! From bytes to a module: every step in its order, and what each one saw.
//!
//! One walk serves all who ask: [`Engine::accept`] wants the module or the refusal, [`Engine::examine`] what each step saw on the way,
//! [`Engine::inspect`] what can be known without settings and without a compiler.

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;

use plimsoll_hooks::hook::PolicySettings;

use crate::any::AnyModule;
use crate::engine::{Engine, Inner};
use crate::gate::Refusal;
use crate::manifest::{Hook, Manifest};
use crate::module::{Accepted, Admitted, BudgetModule, ConsolidationModule, HookModule, Module};
use crate::records::vectors::{self, SelfTest};
use crate::settings::Schema;
use crate::shape::check_shape;
use crate::step::Step;
use crate::text;
use crate::unpack::unpack;
use crate::world::{Outline, listed, validate};

/// A step that was passed, and what was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// The step.
    pub step: Step,
    /// Finding of the step, for people.
    pub seen: String,
}

/// How far a module came.
#[derive(Debug, Clone, PartialEq)]
pub struct Examination {
    /// The steps that it passed, in their order.
    pub passed: Vec<Passed>,
    /// `Ok` if it was accepted, else the refusal at which it ended.
    pub end: Result<(), Refusal>,
}

/// Facts of a module that need neither a run nor a compiler.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// Bytes as stored.
    pub stored: usize,
    /// Bytes of the component.
    pub size: usize,
    /// SHA-256 of the component.
    pub sha256: String,
    /// Interfaces that it imports from its host.
    pub imports: Vec<String>,
    /// Interfaces and functions that it exports.
    pub exports: Vec<String>,
    /// Its manifest, as its section carries it.
    pub manifest: Manifest,
    /// The vectors that it carries, or why those cannot be put to it; nothing where it carries none.
    pub self_test: Option<Result<SelfTest, Refusal>>,
}

/// Where settings come from, once it is known which ones there are.
pub type Given<'s> = &'s dyn Fn(&Schema) -> Result<PolicySettings, Refusal>;

/// Told of every step that was passed.
type Noted<'n> = &'n mut dyn FnMut(Step, &dyn Display);

impl Engine {
    /// Facts of a module, once it has passed the steps that need neither settings nor a compiler; the refusal of the first step
    /// that fails.
    pub fn inspect(&self, stored: &[u8]) -> Result<Inspection, Refusal> {
        let (bytes, manifest) = self.inner.look_at(stored, None, &mut |_, _| ())?;
        let outline = Outline::read(&bytes)?;
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|name| text::clean(name, text::NAME))
                .collect()
        };
        let limits = &self.inner.limits.self_test;
        let read = |section| vectors::read(section, manifest.hook, limits);
        let self_test = outline.self_test().transpose();
        let self_test = self_test.map(|section| section.and_then(read));
        Ok(Inspection {
            stored: stored.len(),
            size: bytes.len(),
            sha256: crate::package::digest(&bytes),
            imports: names(&outline.imports),
            exports: names(&outline.exports),
            self_test,
            manifest,
        })
    }

    /// The component in a stored module.
    pub fn inflate(&self, stored: &[u8]) -> Result<Vec<u8>, Refusal> {
        unpack(stored, self.inner.limits.module_bytes).map(Cow::into_owned)
    }

    /// Refuses a stored module whose component has another digest.
    pub fn verify(&self, stored: &[u8], sha256: &str) -> Result<(), Refusal> {
        let bytes = unpack(stored, self.inner.limits.module_bytes)?;
        crate::package::verify("the module", &bytes, sha256)
    }

    /// Takes a ranking module in, or says at which step it failed and why. `stored` may be one zstd frame.
    pub fn accept(&self, stored: &[u8], settings: &PolicySettings) -> Result<Module, Refusal> {
        self.accept_with(stored, &|_| Ok(settings.clone()))
    }

    /// Takes a module of any one hook in, as [`accept`](Self::accept) does a ranking module.
    pub fn accept_as<M: HookModule>(
        &self,
        stored: &[u8],
        settings: &PolicySettings,
    ) -> Result<M, Refusal> {
        self.accept_with(stored, &|_| Ok(settings.clone()))
    }

    /// The same for settings that are read once it is known which ones there are.
    pub fn accept_with<M: HookModule>(
        &self,
        stored: &[u8],
        settings: Given<'_>,
    ) -> Result<M, Refusal> {
        M::accepted(self, stored, settings)
    }

    /// Takes a module through every step and tells what each one saw. What the module is for is what its manifest says.
    pub fn examine(&self, stored: &[u8], settings: Given<'_>) -> Examination {
        self.examined(stored, settings).0
    }

    /// The same, with the module where it was accepted.
    pub fn examined(&self, stored: &[u8], settings: Given<'_>) -> (Examination, Option<AnyModule>) {
        let mut passed = Vec::new();
        let end = self.look_through(stored, settings, &mut |step, seen| {
            let seen = seen.to_string();
            passed.push(Passed { step, seen });
        });
        let (end, module) = match end {
            Ok(module) => (Ok(()), Some(module)),
            Err(refusal) => (Err(refusal), None),
        };
        (Examination { passed, end }, module)
    }

    fn look_through(
        &self,
        stored: &[u8],
        settings: Given<'_>,
        noted: Noted<'_>,
    ) -> Result<AnyModule, Refusal> {
        let (bytes, manifest) = self.inner.look_at(stored, None, noted)?;
        match manifest.hook {
            Hook::Rank => self
                .admit::<Module>(&bytes, manifest, settings, noted)
                .map(Into::into),
            Hook::Consolidate => self
                .admit::<ConsolidationModule>(&bytes, manifest, settings, noted)
                .map(Into::into),
            Hook::Budget => self
                .admit::<BudgetModule>(&bytes, manifest, settings, noted)
                .map(Into::into),
        }
    }

    /// All steps, for a module of that hook, which is the one of `M`.
    pub(crate) fn walk<M: Admitted>(
        &self,
        hook: Hook,
        stored: &[u8],
        settings: Given<'_>,
    ) -> Result<M, Refusal> {
        let noted: Noted<'_> = &mut |_, _| ();
        let (bytes, manifest) = self.inner.look_at(stored, Some(hook), noted)?;
        self.admit(&bytes, manifest, settings, noted)
    }

    /// The steps from settings on.
    fn admit<M: Admitted>(
        &self,
        bytes: &[u8],
        manifest: Manifest,
        settings: Given<'_>,
        noted: Noted<'_>,
    ) -> Result<M, Refusal> {
        let inner = &self.inner;
        let settings = manifest.settings.complete(&settings(&manifest.settings)?)?;
        noted(Step::Settings, &count(settings.len(), "setting"));
        let component = inner.compiler.compile(inner, bytes)?;
        noted(Step::Compilation, &inner.compiler);
        let program: M::Program = inner.track.prepare(&component)?;
        noted(
            Step::Linking,
            &"every function has the type of interface 0.1",
        );
        let sha256 = crate::package::digest(bytes);
        let accepted = Accepted::new(Arc::clone(inner), &sha256, manifest, settings);
        accepted.validate_settings(&program)?;
        noted(Step::Agreement, &"the module agrees to its settings");
        let module = M::new(accepted, program);
        match Outline::read(bytes)?.self_test()? {
            None => noted(Step::SelfTest, &"the module carries none"),
            Some(section) => {
                let tested = module.clone().into().hold_to(section)?;
                noted(
                    Step::SelfTest,
                    &format_args!("{tested}, answered as recorded"),
                );
            }
        }
        Ok(module)
    }
}

impl Inner {
    /// The steps that need neither settings nor a compiler.
    fn look_at<'b>(
        &self,
        stored: &'b [u8],
        hook: Option<Hook>,
        noted: Noted<'_>,
    ) -> Result<(Cow<'b, [u8]>, Manifest), Refusal> {
        let limits = &self.limits;
        let bytes = unpack(stored, limits.module_bytes)?;
        noted(
            Step::Size,
            &format_args!(
                "{} bytes, {} as stored; at most {}",
                bytes.len(),
                stored.len(),
                limits.module_bytes
            ),
        );
        let shape = check_shape(&bytes)?;
        noted(
            Step::Shape,
            &format_args!(
                "{}, the longest of {} bytes",
                count(
                    usize::try_from(shape.functions).unwrap_or(usize::MAX),
                    "function"
                ),
                shape.longest
            ),
        );
        validate(&bytes)?;
        noted(
            Step::Validation,
            &"valid WebAssembly, without what is switched off",
        );
        let outline = Outline::read(&bytes)?;
        outline.check_imports()?;
        noted(Step::Imports, &listed(&outline.imports));
        let manifest = Manifest::parse(outline.manifest()?)?;
        noted(
            Step::Manifest,
            &format_args!("{} {}", manifest.name, manifest.version),
        );
        self.check_promises(&outline, &manifest, hook, noted)?;
        Ok((bytes, manifest))
    }

    /// Holds the manifest against the module's exports and against the limits that anybody may have.
    fn check_promises(
        &self,
        outline: &Outline<'_>,
        manifest: &Manifest,
        hook: Option<Hook>,
        noted: Noted<'_>,
    ) -> Result<(), Refusal> {
        if let Some(expected) = hook.filter(|hook| *hook != manifest.hook) {
            return Err(Refusal::WrongHook {
                found: manifest.hook,
                expected,
            });
        }
        outline.check_exports(manifest.hook)?;
        noted(Step::Interface, &listed(&outline.exports));
        manifest.limits.check(&self.limits, self.deciding.memory)?;
        noted(Step::Limits, &"asks for nothing beyond the ceilings");
        let mut required = manifest.required_columns.iter();
        if let Some(column) =
            required.find(|column| !manifest.hook.signals().contains(&column.as_str()))
        {
            let column = column.clone();
            return Err(Refusal::UnknownColumn { column });
        }
        noted(
            Step::Signals,
            &count(manifest.required_columns.len(), "required signal"),
        );
        Ok(())
    }
}

/// A number of things, for people.
fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

//! `plimsoll-judge [COUNT [SEED [MINOR [all]]]]`: judges plans of so many random clusters, on every core, and prints what was met.
//!
//! With `all`, rules of which a fault is known to be open are judged like the others.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]
#![expect(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "lines of text that people read, a few at a time"
)]

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail};
use plimsoll_judge::case::Case;
use plimsoll_judge::defect::Defect;
use plimsoll_judge::mutation::Mutation;
use plimsoll_judge::planned::planned;
use plimsoll_judge::run::{OpenRules, Tally, examine, of_case, smallest};
use plimsoll_judge::scheduler::{Minor, Scheduler};
use plimsoll_judge::simulated::compare;
use plimsoll_judge::verdict::Binding;

/// Clusters of a full run.
const COUNT: u64 = 20_000;
/// Clusters between two lines of progress.
const PROGRESS: usize = 500;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| match arguments.get(at) {
        Some(text) => text
            .parse()
            .with_context(|| format!("{text:?} is no number")),
        None => Ok(default),
    };
    let (count, seed) = (number(0, COUNT)?, number(1, 1)?);
    let minor = match arguments.get(2).map(String::as_str) {
        None | Some("1.36") => Minor::V1_36,
        Some("1.37") => Minor::V1_37,
        Some(other) => bail!("there is no scheduler of Kubernetes {other}; expected 1.36 or 1.37"),
    };
    let open = match arguments.get(3).map(String::as_str) {
        None => OpenRules::Counted,
        Some("all") => OpenRules::Judged,
        Some(other) => bail!("{other:?} is no choice of rules; expected `all` or nothing"),
    };
    let version = Scheduler::start(minor)?.version()?;
    println!("{count} clusters from seed {seed}, scheduler {version}");
    let run = Run {
        seed,
        count,
        minor,
        open,
        next: AtomicU64::new(0),
        told: Mutex::new((Tally::default(), 0)),
        began: Instant::now(),
    };
    let cores = std::thread::available_parallelism()?.get();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(|| run.work())).collect();
        let mut joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.try_for_each(|ended| ended.map_err(|_| anyhow!("a worker panicked"))?)
    })?;
    let (tally, found) = run
        .told
        .into_inner()
        .map_err(|_| anyhow!("a worker panicked"))?;
    print!("{tally}");
    println!("{found} clusters with defects, {:.0?}", run.began.elapsed());
    if found > 0 {
        bail!("the judge found defects in {found} plans");
    }
    Ok(())
}

/// Clusters to judge, dealt to workers one by one.
struct Run {
    seed: u64,
    count: u64,
    minor: Minor,
    open: OpenRules,
    next: AtomicU64,
    /// Figures so far, and clusters with defects.
    told: Mutex<(Tally, usize)>,
    began: Instant,
}

impl Run {
    fn work(&self) -> Result<()> {
        let mut scheduler = Scheduler::start(self.minor)?;
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            if at >= self.count {
                return Ok(());
            }
            let seed = self.seed.wrapping_add(at);
            let (case, judgement) = examine(seed, Mutation::None, self.open, &mut scheduler)
                .with_context(|| format!("cluster {seed}"))?;
            if let Some(defect) = judgement.defects.first() {
                tell(&case, defect, &mut scheduler)?;
            }
            let mut told = self.told.lock().map_err(|_| anyhow!("a worker panicked"))?;
            let (tally, found) = &mut *told;
            tally.count(&case, &judgement);
            *found += usize::from(!judgement.defects.is_empty());
            if tally.clusters % PROGRESS == 0 {
                let time = self.began.elapsed();
                println!(
                    "{} clusters, {found} with defects, {time:.0?}",
                    tally.clusters
                );
            }
        }
    }
}

/// Says what is wrong with the plan of a case; a small one goes to a file where PLIMSOLL_JUDGE_FINDINGS names a folder.
fn tell(case: &Case, defect: &Defect, scheduler: &mut Scheduler) -> Result<()> {
    println!("cluster {}: {defect}", case.seed);
    if let Some(folder) = std::env::var_os("PLIMSOLL_JUDGE_FINDINGS") {
        let small = smallest(case, defect.rule, scheduler);
        let path = Path::new(&folder).join(format!("{:?}-{}.yaml", defect.rule, case.seed));
        let text = format!("{}{}", remarks(&small, scheduler)?, small.yaml());
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
        println!("  {} objects: {}", small.objects.len(), path.display());
    }
    Ok(())
}

/// What is wrong with a small case and how it is planned, as comments above it.
fn remarks(small: &Case, scheduler: &mut Scheduler) -> Result<String> {
    let mut judgement = of_case(small, Mutation::None, scheduler, Binding::Tried)?;
    judgement.defects.extend(compare(small, scheduler)?.defects);
    let mut text: String = judgement
        .defects
        .iter()
        .map(|defect| format!("# {defect}\n"))
        .collect();
    if let Ok(planned) = planned(small) {
        for (pod, place) in &planned.placements {
            text.push_str(&format!("# {pod} -> {place:?}\n"));
        }
        for (at, claim) in planned.claims.iter().enumerate() {
            let first: Vec<String> = claim
                .options
                .iter()
                .map(|option| {
                    format!(
                        "{} {} {}",
                        option.instance_type, option.zone, option.capacity_type
                    )
                })
                .collect();
            text.push_str(&format!(
                "# New({at}): {}: {}\n",
                claim.pool,
                first.join(", ")
            ));
        }
        for refused in &planned.refused {
            text.push_str(&format!("# {} {}\n", refused.pod, refused.reason));
        }
    }
    Ok(text)
}

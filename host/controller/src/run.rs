//! The loop: one owner of the engine, fed by watches, ended orders, plans and the clock.

use std::future::Future;
use std::io::Write;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use kube::Client;
use plimsoll_api::Kind;
use plimsoll_base::units::PricePerHour;
use plimsoll_engine::{Engine, Input};
use plimsoll_kube::apply::Writer;
use plimsoll_kube::event::Notice;
use plimsoll_kube::watch;
use plimsoll_kube::{check_served, scheduler_rules};
use plimsoll_model::Object;
use plimsoll_model::action::{Action, Event as Report, ObjectKey, Order, Outcome};
use plimsoll_model::command::Settled;
use plimsoll_model::snapshot::Settings;
use tokio::sync::mpsc::Receiver;
use tokio::sync::watch as watch_channel;

use crate::bounds::BoundMeter;
use crate::clock::Clock;
use crate::decision::{Decided, Decisions, Failed, Keep};
use crate::fidelity::Fidelity;
use crate::metrics::reconciles::Controller as Counted;
use crate::metrics::{Meters, SpokenOf, families};
use crate::orders::{EndedOrder, Orders};
use crate::planner::Planner;
use crate::policies::{PolicyChanges, Pools};
use crate::provider::Provider;
use crate::publish::Publishing;
use crate::record::{Beginning, Recorder};
use crate::story;
use crate::telemetry::{Asking, Telemetry};
use crate::unready;
use crate::view::View;

/// Shortest pause before the engine is woken: it has just been asked.
const SHORTEST: Duration = Duration::from_millis(1);
/// The longest that the first word of the provider is waited for.
const FIRST_WORD: Duration = Duration::from_secs(5);

/// With what a controller begins.
pub struct Setup {
    /// The API server.
    pub client: Client,
    /// Where instances come from.
    pub provider: Arc<dyn Provider>,
    /// How to decide.
    pub settings: Settings,
    /// Seed of draws and names.
    pub seed: u64,
    /// Who decides.
    pub planner: Planner,
    /// Where to write down what happens.
    pub record: Option<Box<dyn Write + Send>>,
    /// Keeps snapshots on which the planner failed.
    pub keep: Keep,
    /// Figures and health of the process.
    pub telemetry: Telemetry,
    /// Told of the pools that there are.
    pub pools: watch_channel::Sender<Pools>,
    /// Events of others.
    pub notices: Receiver<Notice>,
}

/// The engine and all that it listens to and acts through.
pub struct Controller {
    engine: Engine,
    clock: Clock,
    view: View,
    orders: Orders,
    provider: Arc<dyn Provider>,
    decisions: Decisions,
    changes: PolicyChanges,
    publishing: Publishing,
    telemetry: Telemetry,
    meters: Meters,
    /// Those who want to see figures.
    asking: Receiver<Asking>,
    recorder: Option<Recorder>,
    fidelity: Fidelity,
    pools: watch_channel::Sender<Pools>,
    notices: Receiver<Notice>,
}

impl Controller {
    /// Checks that the API server serves what must be there, and begins to watch.
    pub async fn start(setup: Setup) -> Result<Self> {
        check_served(&setup.client, &[Kind::NodePool, Kind::NodeClaim]).await?;
        let mut settings = setup.settings;
        let rules = scheduler_rules(&setup.client)
            .await
            .context("the version of the API server")?;
        settings.nominations = rules.nominations;
        let mut kinds = watch::kinds(&settings);
        kinds.retain(|kind| *kind != Kind::DeviceClass || rules.device_classes);
        let settings = Arc::new(settings);
        let beginning = Beginning {
            seed: setup.seed,
            settings: Arc::clone(&settings),
        };
        let recorder = setup.record.map(|out| Recorder::begin(out, beginning));
        let recorder = recorder.transpose().context("the recording")?;
        let clock = Clock::default();
        let writer = Writer::new(setup.client.clone());
        Ok(Self {
            engine: Engine::new(settings, Arc::default(), setup.seed),
            view: View::start(
                &setup.client,
                &kinds,
                rules.resizes,
                setup.telemetry.clone(),
            ),
            orders: Orders::new(writer, Arc::clone(&setup.provider), clock.clone()),
            provider: setup.provider,
            changes: setup.planner.changes(),
            decisions: Decisions::new(
                setup.planner,
                BoundMeter::new(setup.telemetry.clone()),
                setup.keep,
            ),
            publishing: Publishing::new(setup.client, setup.telemetry.clone()),
            asking: setup.telemetry.to_loop(),
            telemetry: setup.telemetry,
            meters: Meters::default(),
            clock,
            recorder,
            fidelity: Fidelity::default(),
            pools: setup.pools,
            notices: setup.notices,
        })
    }

    /// Serves until told to stop. Orders under way are given up: what they came to is seen on the objects next time.
    pub async fn run(mut self, stop: impl Future<Output = ()>) -> Result<Fidelity> {
        let served = self.serve(stop).await;
        let written = self.recorder.take().map_or(Ok(()), Recorder::finish);
        served?;
        written.context("the recording")?;
        Ok(self.fidelity)
    }

    async fn serve(&mut self, stop: impl Future<Output = ()>) -> Result<()> {
        let mut stop = pin!(stop);
        self.feed(Input::Catalogues(self.provider.catalogues()))?;
        // Pools are judged by their classes: the provider's first word is about these, unless it takes too long.
        if let Ok(input) = tokio::time::timeout(FIRST_WORD, self.provider.next()).await {
            self.feed(input)?;
        }
        loop {
            let pause = self.pause();
            tokio::select! {
                () = &mut stop => return Ok(()),
                seen = self.view.next() => match seen {
                    Some(inputs) => self.seen(inputs)?,
                    None => bail!("every watch has ended; expected them to go on"),
                },
                Some(ended) = self.orders.next() => self.ended(ended)?,
                Some(decided) = self.decisions.next() => self.decided(decided)?,
                input = self.provider.next() => self.feed(input)?,
                input = self.changes.next() => self.feed(input)?,
                Some(asking) = self.asking.recv() => self.show(asking),
                Some(notice) = self.notices.recv() => self.view.tell([notice]),
                () = wait(pause) => self.feed(Input::Tick)?,
            }
            for notice in self.view.take_notices() {
                self.publishing.publish(notice);
            }
        }
    }

    /// How long until the engine wants to be woken.
    fn pause(&mut self) -> Option<Duration> {
        let wake = self.engine.next_wake()?;
        let left = wake.since(self.clock.now()).millis();
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        Some(left.max(SHORTEST))
    }

    /// Hands out what figures are made of. The receiver may be gone.
    fn show(&self, asking: Asking) {
        let decisions = (self.decisions.open(), self.orders.waiting());
        let now = self.clock.now();
        let cut = self
            .meters
            .cut(&self.engine, &self.fidelity, decisions, now);
        let _ = asking.send(cut);
    }

    fn ended(&mut self, ended: EndedOrder) -> Result<()> {
        let EndedOrder {
            order,
            outcome,
            took,
        } = ended;
        let order: &Order = &order;
        self.telemetry.ended(order, &outcome);
        self.meters.ended(&self.engine, order, (&outcome, took));
        if matches!(outcome, Outcome::Done(_)) {
            story::written(order);
            let pools = &self.engine.cluster().pools;
            let notices = unready::written(order, |name| pools.get(name).map(AsRef::as_ref));
            self.view.tell(notices);
        }
        if let Some(stale) = self.view.wrote(order) {
            self.feed(stale)?;
        }
        self.feed(Input::Outcome(order.id, outcome))
    }

    fn decided(&mut self, decided: Decided) -> Result<()> {
        let input = match decided {
            Ok(made) => {
                self.meters.decided(&made, self.clock.now());
                made.input
            }
            Err(failed) => self.failed(*failed),
        };
        if let Input::Solved(_, plan) = &input {
            story::planned(plan);
            self.telemetry.planned(plan);
        }
        self.feed(input)
    }

    /// Tells of a decision that could not be made; what the engine is to know of it.
    fn failed(&mut self, failed: Failed) -> Input {
        let sentence = failed.sentence();
        tracing::error!(digest = failed.digest, "{sentence}");
        let labels = [("controller", failed.controller().name())];
        self.telemetry
            .count(families::RECONCILE_PANICS.name, &labels);
        self.meters.undecided(failed.controller());
        let notices = self.view.on_pools(failed.reason(), &sentence);
        self.view.tell(notices);
        failed.input
    }

    fn seen(&mut self, inputs: Vec<Input>) -> Result<()> {
        let nodes = u32::try_from(self.engine.cluster().nodes.len()).unwrap_or(u32::MAX);
        self.telemetry
            .set(families::NODE_COUNT.name, &[], f64::from(nodes));
        inputs.into_iter().try_for_each(|input| self.feed(input))
    }

    fn feed(&mut self, input: Input) -> Result<()> {
        let now = self.clock.now();
        self.fidelity.observe(&self.engine, &input, now);
        self.provider.observe(&input, now);
        self.observe_pools(&input);
        self.record(|recorder| recorder.input(&input, now))?;
        let interruption = match &input {
            Input::Interrupted(_, interruption) => Some(*interruption),
            _ => None,
        };
        let spoken_of = SpokenOf::by(&self.engine, &input);
        let (counted, begun) = (Counted::of_input(&input), Instant::now());
        let actions = self.engine.handle(input, now);
        self.meters.handled(counted, begun.elapsed());
        if let Some(spoken_of) = spoken_of {
            self.meters.observe(&self.engine, &spoken_of, now);
        }
        self.record(|recorder| recorder.actions(&actions))?;
        let mut reports = Vec::new();
        for action in actions {
            match action {
                Action::Do(order) => self.orders.give(order),
                Action::Solve(request) => self.decisions.solve(request),
                Action::Consider(request) => self.decisions.consider(*request),
                Action::Report(report) => reports.push(report),
                Action::Begin(begun) => story::begun(&begun, self.engine.cluster()),
                Action::Settle(settled) => {
                    self.meters.settled(&settled);
                    self.decisions.settled(&settled);
                    tell_of(&settled);
                }
            }
        }
        story::reported(&reports, interruption, &self.view);
        for report in reports {
            self.tell(&report);
        }
        Ok(())
    }

    /// Tells who follows policies of the pools that these may serve.
    fn observe_pools(&self, input: &Input) {
        match input {
            Input::Applied(Object::Pool(pool), _) => {
                self.pools.send_if_modified(|pools| pools.put(pool))
            }
            Input::Deleted(Object::Pool(pool), _) => {
                (self.pools).send_if_modified(|pools| pools.remove(&pool.name))
            }
            Input::Synced => self.pools.send_if_modified(Pools::complete),
            _ => false,
        };
    }

    fn record(&mut self, write: impl FnOnce(&mut Recorder) -> std::io::Result<()>) -> Result<()> {
        self.recorder
            .as_mut()
            .map_or(Ok(()), write)
            .context("the recording")
    }

    /// Tells people of a report. One about a pod that is not there any more is lost: its name is not known.
    fn tell(&mut self, report: &Report) {
        tracing::debug!(object = ?report.object, reason = %report.reason, message = report.message, "report");
        let name = match &report.object {
            ObjectKey::Pod(uid) => self.view.pod(uid),
            _ => None,
        };
        let notice = Notice::of(report, name);
        self.view.tell(notice);
    }
}

fn tell_of(settled: &Settled) {
    let dollars = |price: PricePerHour| format!("{:.4}", price.dollars());
    // What was made to save is watched for an hour first.
    let is_known = settled.is_realised() || !settled.reason.facts().saves;
    tracing::info!(
        command = %settled.id,
        reason = settled.reason.as_str(),
        nodes = settled.nodes,
        gone = settled.gone.len(),
        replacements = settled.replacements,
        predicted = dollars(settled.predicted),
        realised = is_known.then(|| dollars(settled.realised)),
        watched = %settled.watched,
        "settled, in dollars per hour at list price"
    );
}

async fn wait(pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => std::future::pending().await,
    }
}

//! The loop: one owner of the engine, fed by watches, ended orders, plans and the clock.

use std::future::Future;
use std::io::Write;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kube::Client;
use plimsoll_api::Kind;
use plimsoll_core::action::{Action, ConsiderRequest, Event as Report, SolveRequest};
use plimsoll_core::catalogue::Catalogues;
use plimsoll_core::command::Settled;
use plimsoll_core::engine::{Engine, Input};
use plimsoll_core::snapshot::Settings;
use plimsoll_core::time::Timestamp;
use plimsoll_core::units::PricePerHour;
use plimsoll_kube::apply::Writer;
use plimsoll_kube::check_served;
use plimsoll_kube::event::{Notice, Publisher};
use plimsoll_kube::watch;
use plimsoll_kwok::{Boots, Kwok};
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::fidelity::Fidelity;
use crate::orders::Orders;
use crate::planner::Planner;
use crate::record::{Beginning, Recorder};
use crate::view::View;

/// Shortest pause before the engine is woken: it has just been asked.
const SHORTEST: Duration = Duration::from_millis(1);

/// With what a controller begins.
pub struct Setup {
    /// The API server.
    pub client: Client,
    /// Types and offerings that pools may buy, by class.
    pub catalogues: Arc<Catalogues>,
    /// How to decide.
    pub settings: Settings,
    /// Seed of draws and names.
    pub seed: u64,
    /// Who decides.
    pub planner: Planner,
    /// Where to write down what happens.
    pub record: Option<Box<dyn Write + Send>>,
}

/// The engine and all that it listens to and acts through.
pub struct Controller {
    engine: Engine,
    clock: Clock,
    view: View,
    orders: Orders,
    boots: Boots,
    planner: Arc<Planner>,
    /// Decisions being made, each an input once it is.
    solving: JoinSet<Input>,
    publisher: Publisher,
    reports: JoinSet<()>,
    recorder: Option<Recorder>,
    fidelity: Fidelity,
    catalogues: Arc<Catalogues>,
}

impl Controller {
    /// Checks that the API server serves what must be there, and begins to watch.
    pub async fn start(setup: Setup) -> Result<Self> {
        let kinds = watch::kinds(&setup.settings);
        check_served(&setup.client, &[Kind::NodePool, Kind::NodeClaim]).await?;
        let settings = Arc::new(setup.settings);
        let beginning = Beginning {
            seed: setup.seed,
            settings: Arc::clone(&settings),
        };
        let recorder = setup.record.map(|out| Recorder::begin(out, beginning));
        let recorder = recorder.transpose().context("the recording")?;
        let provider = Kwok::new(setup.client.clone(), Arc::clone(&setup.catalogues));
        Ok(Self {
            engine: Engine::new(settings, Arc::default(), setup.seed),
            clock: Clock::default(),
            view: View::start(&setup.client, &kinds),
            orders: Orders::new(Writer::new(setup.client.clone()), provider.clone()),
            boots: Boots::new(provider),
            planner: Arc::new(setup.planner),
            solving: JoinSet::new(),
            publisher: Publisher::new(setup.client),
            reports: JoinSet::new(),
            recorder,
            fidelity: Fidelity::default(),
            catalogues: setup.catalogues,
        })
    }

    /// Serves until told to stop. Orders under way are given up: what they came to is seen on the objects next time.
    pub async fn run(mut self, stop: impl Future<Output = ()>) -> Result<Fidelity> {
        let mut stop = pin!(stop);
        self.feed(Input::Catalogues(Arc::clone(&self.catalogues)))?;
        loop {
            let pause = self.pause();
            tokio::select! {
                () = &mut stop => return Ok(self.fidelity),
                seen = self.view.next() => match seen {
                    Some(inputs) => self.seen(inputs)?,
                    None => bail!("every watch has ended; expected them to go on"),
                },
                Some((order, outcome)) = self.orders.next() => {
                    if let Some(stale) = self.view.wrote(&order) {
                        self.feed(stale)?;
                    }
                    self.feed(Input::Outcome(order.id, outcome))?;
                }
                Some(solved) = self.solving.join_next() => {
                    let decided = solved.context("the planner's thread")?;
                    self.feed(decided)?;
                }
                () = wait(pause) => self.feed(Input::Tick)?,
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

    fn seen(&mut self, inputs: Vec<Input>) -> Result<()> {
        for notice in self.view.take_notices() {
            self.publish(notice);
        }
        inputs.into_iter().try_for_each(|input| self.feed(input))
    }

    fn feed(&mut self, input: Input) -> Result<()> {
        let now = self.clock.now();
        self.fidelity.observe(&self.engine, &input, now);
        self.boots.observe(&input, now);
        self.record(|recorder| recorder.input(&input, now))?;
        let actions = self.engine.handle(input, now);
        self.record(|recorder| recorder.actions(&actions))?;
        for action in actions {
            match action {
                Action::Do(order) => self.orders.give(order),
                Action::Solve(request) => self.solve(request, now),
                Action::Consider(request) => self.consider(*request, now),
                Action::Report(report) => self.tell(&report),
                Action::Settle(settled) => tell_of(&settled),
            }
        }
        Ok(())
    }

    fn record(&mut self, write: impl FnOnce(&mut Recorder) -> std::io::Result<()>) -> Result<()> {
        self.recorder
            .as_mut()
            .map_or(Ok(()), write)
            .context("the recording")
    }

    fn solve(&mut self, request: SolveRequest, now: Timestamp) {
        let planner = Arc::clone(&self.planner);
        tracing::info!(request = request.id, at = now.millis(), "planning");
        self.solving.spawn_blocking(move || {
            let plan = planner.plan(&request.snapshot);
            tracing::info!(
                request = request.id,
                placed = plan.placements.len(),
                claims = plan.claims.len(),
                unplaced = plan.unplaced.len(),
                "planned"
            );
            Input::Solved(request.id, Box::new(plan))
        });
    }

    fn consider(&mut self, request: ConsiderRequest, now: Timestamp) {
        let planner = Arc::clone(&self.planner);
        tracing::debug!(request = request.id, at = now.millis(), "considering");
        self.solving.spawn_blocking(move || {
            let decision = planner.consider(&request.snapshot, &request.question);
            tracing::debug!(
                request = request.id,
                commands = decision.commands.len(),
                "considered"
            );
            Input::Considered(request.id, Box::new(decision))
        });
    }

    fn tell(&mut self, report: &Report) {
        tracing::info!(object = ?report.object, reason = %report.reason, message = report.message, "report");
        if let Some(notice) = Notice::of(report) {
            self.publish(notice);
        }
    }

    fn publish(&mut self, notice: Notice) {
        while self.reports.try_join_next().is_some() {}
        let publisher = self.publisher.clone();
        self.reports.spawn(async move {
            if let Err(error) = publisher.publish(&notice).await {
                tracing::warn!(%error, reason = notice.reason, "event not published");
            }
        });
    }
}

fn tell_of(settled: &Settled) {
    let dollars = |price: PricePerHour| format!("{:.4}", price.dollars());
    tracing::info!(
        reason = settled.reason.as_str(),
        nodes = settled.nodes,
        gone = settled.gone,
        replacements = settled.replacements,
        predicted = dollars(settled.predicted),
        realised = dollars(settled.realised),
        "settled, in dollars per hour at list price"
    );
}

async fn wait(pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => std::future::pending().await,
    }
}

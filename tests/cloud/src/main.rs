//! The cloud as a program: serves a small world on loopback until it is told to end.
//!
//! ```text
//! plimsoll-cloud [--port N]
//! ```

use std::io::{self, Write as _};
use std::process::ExitCode;

use plimsoll_cloud::{Cloud, Options, World};
use tokio::signal::unix::{SignalKind, signal};

/// The cluster that the world is for.
const CLUSTER: &str = "demo";

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let port = match port(&arguments) {
        Ok(port) => port,
        Err(refused) => {
            eprintln!("error: {refused}\nhint: plimsoll-cloud [--port N]");
            return ExitCode::from(2);
        }
    };
    match serve(port).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: port {port} of 127.0.0.1 cannot be served: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The port that the arguments name; 0 where they name none.
fn port(arguments: &[String]) -> Result<u16, String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] => Ok(0),
        ["--port", number] => number
            .parse()
            .map_err(|_| format!("{number} is no port; expected a number up to 65535")),
        _ => Err(format!("{} is not understood", words.join(" "))),
    }
}

async fn serve(port: u16) -> io::Result<()> {
    // Before anything is said, so that the reader may end this at once.
    let (mut interrupted, mut terminated) = (
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
    );
    let world = World::demo(CLUSTER);
    let cloud = Cloud::start(Options { port, world }).await?;
    say(&cloud)?;
    tokio::select! {
        _ = interrupted.recv() => {}
        _ = terminated.recv() => {}
    }
    Ok(())
}

fn say(cloud: &Cloud) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", cloud.url())?;
    for (name, value) in cloud.environment(CLUSTER) {
        writeln!(out, "export {name}={value}")?;
    }
    out.flush()
}

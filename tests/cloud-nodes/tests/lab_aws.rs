//! The lab on EC2, as people start and end it.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

/// Programs of a control plane.
const PROGRAMS: usize = 5;

#[test]
fn a_lab_on_ec2_says_how_it_is_served_and_ends_all_that_it_started() {
    let program = Path::new(env!("CARGO_BIN_EXE_plimsoll-lab-aws"));
    let definitions = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../charts/plimsoll-crd/definitions"
    );
    let mut held = Command::new(program)
        .arg(program.with_file_name("plimsoll-lab"))
        .args([definitions, "plimsoll"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let lines = BufReader::new(held.stdout.take().expect("piped")).lines();
    let mut said: Vec<String> = Vec::new();
    for line in lines {
        said.push(line.expect("a line"));
        if said
            .last()
            .is_some_and(|line| line.starts_with("plimsoll "))
        {
            break;
        }
    }
    let after = |start: &str| {
        let mut rests = said.iter().filter_map(|line| line.strip_prefix(start));
        rests
            .next()
            .unwrap_or_else(|| panic!("{start} in {said:?}"))
    };
    let command = after("plimsoll ");
    assert!(command.starts_with("run --provider=aws "), "{command}");
    let kubeconfig = Path::new(after("kubeconfig "));
    assert!(kubeconfig.exists());
    assert_eq!(Path::new(after("export KUBECONFIG=")), kubeconfig);
    assert_eq!(
        after("export CLUSTER_NAME="),
        after("export INTERRUPTION_QUEUE=")
    );
    let cloud = after("export AWS_ENDPOINT_URL=http://");
    TcpStream::connect(cloud).expect("the cloud is there");
    let processes: Vec<&str> = after("processes ").split(' ').collect();
    assert_eq!(processes.len(), PROGRAMS, "{said:?}");
    assert!(processes.iter().all(|id| is_alive(id)));

    let asked = Command::new("kill")
        .args(["-INT", &held.id().to_string()])
        .status();
    assert!(asked.expect("a signal").success());
    assert!(held.wait().expect("it ends").success());
    assert!(!processes.iter().any(|id| is_alive(id)), "{processes:?}");
    assert!(!kubeconfig.exists());
    TcpStream::connect(cloud).expect_err("the cloud is gone");
}

/// `true` if a process exists and has not ended (one that has ended but was not waited for is a zombie).
fn is_alive(id: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    status
        .lines()
        .any(|line| line.starts_with("State:") && !line.contains('Z'))
}

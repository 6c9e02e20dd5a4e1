//! The official SDK of Python at the cloud: whatever it does not read, or the models of the services do not have, is no answer of AWS.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::client::cloud;

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("check")
        .join(name)
}

/// A command that runs the check with the SDK, which is installed once; `None`, and a line on stderr, where it cannot be.
fn check(test: &str) -> Option<Command> {
    let installed = Command::new(here("install.sh")).output();
    let reason = match installed {
        Ok(installed) if installed.status.success() => {
            let python = String::from_utf8(installed.stdout).expect("a path");
            let mut check = Command::new(python.trim());
            check.arg("-B").arg(here("boto.py"));
            return Some(check);
        }
        Ok(failed) => String::from_utf8_lossy(&failed.stderr).replace('\n', "; "),
        Err(error) => error.to_string(),
    };
    // Past the test harness, which keeps what a passing test prints to itself.
    let line = format!("NOT RUN: {test}: boto3 is not installed: {reason}\n");
    let written = std::io::stderr().write_all(line.as_bytes());
    written.expect("standard error takes a line");
    None
}

fn said(output: &Output) -> String {
    let (out, talk) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(out).into_owned() + &String::from_utf8_lossy(talk)
}

#[test]
fn the_sdk_of_python_reads_every_answer() {
    let Some(mut check) = check("the_sdk_of_python_reads_every_answer") else {
        return;
    };
    check.arg(env!("CARGO_BIN_EXE_plimsoll-cloud"));
    let output = check.output().expect("a Python");
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("boto3 reads every answer"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_the_service_does_not_give_is_told() {
    let Some(mut check) = check("an_answer_that_the_service_does_not_give_is_told") else {
        return;
    };
    let cloud = cloud().await;
    cloud.with(|world| {
        for image in &mut world.images {
            "sparc".clone_into(&mut image.architecture);
        }
    });
    check.envs(cloud.environment("demo"));
    let output = check.output().expect("a Python");
    let said = said(&output);
    assert!(!output.status.success(), "{said}");
    let words = "ec2: DescribeImages.imagesSet.architecture is 'sparc', which is not among i386";
    assert!(said.contains(words), "{said}");
}

//! A program that AWS does not serve ends at its start, with a sentence that names the fault and the way out; no cluster is needed for that.

use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use plimsoll_cloud::{Fault, ScriptedFault, Trust};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::*;

const ROLE: &str = "arn:aws:iam::111122223333:role/plimsoll";
const ISSUER: &str = "https://oidc.eks.us-east-1.amazonaws.com/id/AB";
const SUBJECT: &str = "system:serviceaccount:nodes:plimsoll";
/// An address without an API server: a start that comes so far has got past AWS.
const KUBECONFIG: &str = r#"{"apiVersion": "v1", "kind": "Config", "current-context": "c",
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {}}]}"#;

/// A program to be started, in a folder of its own.
struct Started {
    folder: TempDir,
    cloud: Cloud,
    variables: Vec<(&'static str, String)>,
}

impl Started {
    /// One with a key that the cloud takes.
    async fn new() -> Self {
        let world = World::demo("lab");
        let cloud = Cloud::start(CloudOptions { port: 0, world }).await;
        let cloud = cloud.expect("a cloud starts");
        let folder = TempDir::new().expect("a folder");
        std::fs::write(folder.path().join("kubeconfig"), KUBECONFIG).expect("written");
        let said = [
            ("AWS_ENDPOINT_URL", cloud.url()),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "key".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
            ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
            ("CLUSTER_NAME", "lab".to_owned()),
            ("CLUSTER_ENDPOINT", "https://lab.example".to_owned()),
            ("CLUSTER_CA_BUNDLE", "LS0t".to_owned()),
        ];
        Self {
            folder,
            cloud,
            variables: said.into(),
        }
    }

    fn without(mut self, names: &[&str]) -> Self {
        self.variables.retain(|(name, _)| !names.contains(name));
        self
    }

    /// The same with a role in place of the key, and a token that claims so much.
    fn by_token(self, claims: &Value) -> Self {
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let token = format!("{}.{}.x", part("{}"), part(&claims.to_string()));
        let path = self.folder.path().join("token");
        std::fs::write(&path, token).expect("written");
        let mut own = self.without(&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]);
        own.variables.push(("AWS_ROLE_ARN", ROLE.to_owned()));
        let path = path.display().to_string();
        own.variables.push(("AWS_WEB_IDENTITY_TOKEN_FILE", path));
        own
    }

    /// Its words at its end, and the code of it.
    async fn ends(&self, flags: &[&str]) -> (String, Option<i32>) {
        let kubeconfig = self.folder.path().join("kubeconfig");
        let mut command = Command::new(program());
        command
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .args(["run", "--provider=aws", "--disable-leader-election"])
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .args(flags)
            .stdin(Stdio::null());
        let ended = spawn_blocking(move || command.output()).await;
        let ended = ended.expect("a thread").expect("it runs");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        (said, ended.status.code())
    }
}

#[tokio::test]
async fn a_flag_that_cannot_be_read_is_told_with_its_value_and_what_was_expected() {
    let started = Started::new().await;
    for (flag, words) in [
        (
            "--isolated-vpc=maybe",
            ["'maybe'", "--isolated-vpc", "true, false"],
        ),
        (
            "--disable-dry-run=2",
            ["'2'", "--disable-dry-run", "true, false"],
        ),
        (
            "--vm-memory-overhead-percent=1",
            [
                "'1'",
                "--vm-memory-overhead-percent",
                "at least 0 and below 1",
            ],
        ),
        (
            "--vm-memory-overhead-percent=much",
            ["'much'", "--vm-memory-overhead-percent", "such as 0.075"],
        ),
        ("--reserved-enis=-1", ["'-1'", "--reserved-enis", "0.."]),
        (
            "--ami-refresh-interval=59s",
            ["'59s'", "--ami-refresh-interval", "at least 1m"],
        ),
        (
            "--subnet-refresh-interval=often",
            ["'often'", "--subnet-refresh-interval", "at least 1m"],
        ),
    ] {
        let (said, code) = started.ends(&[flag]).await;
        assert!(words.iter().all(|own| said.contains(own)), "{flag}: {said}");
        assert_eq!(code, Some(2), "{flag}");
    }
    assert!(started.cloud.calls().is_empty());
}

#[tokio::test]
async fn variables_without_which_it_cannot_serve_are_named() {
    for (lacks, more, words) in [
        (
            &["AWS_REGION"][..],
            None,
            "no region; expected one in AWS_REGION",
        ),
        (
            &["CLUSTER_NAME"][..],
            None,
            "no name of the cluster; expected one as --cluster-name or CLUSTER_NAME",
        ),
        (
            &[][..],
            Some(("VM_MEMORY_OVERHEAD_PERCENT", "1.5")),
            "VM_MEMORY_OVERHEAD_PERCENT is \"1.5\"; expected a share of at least 0 and below 1",
        ),
        (
            &[][..],
            Some(("AMI_REFRESH_INTERVAL", "30s")),
            "AMI_REFRESH_INTERVAL is \"30s\"; expected a duration of at least 1m",
        ),
        (
            &[][..],
            Some(("ENABLE_ZONAL_SHIFT", "true")),
            "--enable-zonal-shift is \"true\"; expected false, the only value served",
        ),
        (
            &[][..],
            Some(("AWS_FEATURE_GATES", "NodeClassCEL")),
            "--aws-feature-gates has \"NodeClassCEL\"; expected NAME=true or NAME=false",
        ),
    ] {
        let mut started = Started::new().await.without(lacks);
        let more = more.map(|(name, value)| (name, value.to_owned()));
        started.variables.extend(more);
        let (said, code) = started.ends(&[]).await;
        assert!(said.contains(words), "{said}");
        assert!(matches!(code, Some(1 | 3)), "{code:?}");
    }
}

#[tokio::test]
async fn a_start_without_credentials_ends_with_one_sentence() {
    let keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    let started = Started::new().await.without(&keys);
    let (said, code) = started.ends(&["--log-output-paths=stderr"]).await;
    let words = "error: EC2 in us-east-1 cannot be used: ec2:DescribeInstanceTypes: no AWS credentials; expected a role for the service account";
    assert!(said.starts_with(words), "{said}");
    assert_eq!((said.lines().count(), code), (1, Some(3)), "{said}");
}

#[tokio::test]
async fn calls_that_are_not_taken_for_ours_end_it_with_the_way_out() {
    for (code, message, way_out) in [
        (
            "SignatureDoesNotMatch",
            "Signature expired: 20260101T000000Z is now earlier than 20260101T005500Z",
            "set the clock of this machine",
        ),
        ("RequestExpired", "Request has expired.", "set the clock"),
        (
            "ExpiredToken",
            "The security token included in the request is expired",
            "renew them",
        ),
        (
            "AuthFailure",
            "AWS was not able to validate the provided access credentials",
            "correct AWS_ACCESS_KEY_ID",
        ),
        (
            "UnauthorizedOperation",
            "You are not authorized to perform this operation.",
            "charts/aws/policy.json",
        ),
    ] {
        let started = Started::new().await;
        let fault = Fault::new(code, message).with_status(403);
        let fault = ScriptedFault::error("DescribeInstanceTypes", fault).times(100);
        started.cloud.with(|world| world.faults.push(fault));
        let (said, ended) = started.ends(&[]).await;
        let words = format!("EC2 in us-east-1 cannot be used: ec2:DescribeInstanceTypes: {code}: ");
        assert!(said.contains(&words) && said.contains(way_out), "{said}");
        assert_eq!(ended, Some(3), "{code}");
    }
}

#[tokio::test]
async fn a_role_that_does_not_let_the_service_account_in_is_told_with_the_subject_that_it_has_to_trust()
 {
    let audience = "sts.amazonaws.com";
    let trust = |subject: &str| Trust {
        audience: audience.to_owned(),
        subject: subject.to_owned(),
    };
    for (trusted, claims) in [
        // The release is in another namespace.
        (
            Some(trust("system:serviceaccount:kube-system:plimsoll")),
            json!({"iss": ISSUER, "sub": SUBJECT, "aud": [audience]}),
        ),
        (
            Some(trust(SUBJECT)),
            json!({"iss": ISSUER, "sub": SUBJECT, "aud": ["https://kubernetes.default.svc"]}),
        ),
        // The role trusts no one.
        (
            None,
            json!({"iss": ISSUER, "sub": SUBJECT, "aud": [audience]}),
        ),
    ] {
        let started = Started::new().await.by_token(&claims);
        started.cloud.with(|world| {
            let own = trusted.map(|own| ("plimsoll".to_owned(), own));
            world.trusts.extend(own);
        });
        let (said, code) = started.ends(&[]).await;
        let words = [
            format!("role {ROLE} does not let service account \"{SUBJECT}\""),
            format!(
                "where oidc.eks.us-east-1.amazonaws.com/id/AB:sub is {SUBJECT} and oidc.eks.us-east-1.amazonaws.com/id/AB:aud is {audience}"
            ),
        ];
        assert!(words.iter().all(|own| said.contains(own)), "{said}");
        assert_eq!(code, Some(3));
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        assert!(!said.contains("Error {"), "{said}");
    }
}

#[tokio::test]
async fn a_role_that_trusts_the_service_account_is_taken() {
    let claims = json!({"iss": ISSUER, "sub": SUBJECT, "aud": ["sts.amazonaws.com"]});
    let started = Started::new().await.by_token(&claims);
    let trust = Trust {
        audience: "sts.amazonaws.com".to_owned(),
        subject: SUBJECT.to_owned(),
    };
    started
        .cloud
        .with(|world| world.trusts.insert("plimsoll".to_owned(), trust));
    let (said, _) = started.ends(&[]).await;
    assert!(
        said.contains("the version of the API server cannot be read"),
        "{said}"
    );
    let calls = started.cloud.calls();
    let asked: Vec<&str> = calls.iter().map(|call| call.operation.as_str()).collect();
    assert_eq!(
        asked,
        ["AssumeRoleWithWebIdentity", "DescribeInstanceTypes"]
    );
}

#[tokio::test]
async fn the_endpoint_is_asked_of_eks_unless_it_is_given() {
    for (lacks, name, words, calls) in [
        (
            &[][..],
            "lab",
            "the version of the API server cannot be read",
            0,
        ),
        (
            &["CLUSTER_ENDPOINT"][..],
            "lab",
            "the version of the API server cannot be read",
            1,
        ),
        (
            &["CLUSTER_ENDPOINT"][..],
            "other",
            "EKS does not say where the API server of cluster \"other\" is: eks:DescribeCluster: ResourceNotFoundException",
            1,
        ),
    ] {
        let started = Started::new().await.without(lacks);
        let (said, code) = started.ends(&["--cluster-name", name]).await;
        assert!(said.contains(words), "{said}");
        assert_eq!(code, Some(3));
        let asked = started.cloud.calls().into_iter();
        let asked = asked.filter(|call| call.operation == "DescribeCluster");
        assert_eq!(asked.count(), calls, "{name}");
    }
}

#[tokio::test]
async fn the_version_is_asked_of_eks_where_it_has_the_control_plane() {
    let started = Started::new().await;
    let asked = || {
        let calls = started.cloud.calls().into_iter();
        calls
            .filter(|call| call.operation == "DescribeCluster")
            .count()
    };
    let flags = ["--cluster-name", "other", "--eks-control-plane"];
    let (said, code) = started.ends(&flags).await;
    let words =
        "EKS does not say the version of cluster \"other\"; expected the cluster's name in EKS";
    assert!(
        said.contains(words) && said.contains("ResourceNotFoundException"),
        "{said}"
    );
    assert_eq!((code, asked()), (Some(3), 1));
}

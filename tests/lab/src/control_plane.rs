//! The five programs of a control plane: how each is started, and what says that it is ready.
//!
//! Order: etcd, then the API server, then all that watch it. Every address is 127.0.0.1; data lies in the lab's folder
//! and is not synced to disk, since it is thrown away.

use std::path::Path;

use k8s_openapi::api::core::v1::ServiceAccount;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use tempfile::TempDir;

use crate::Options;
use crate::credentials::Credentials;
use crate::error::LabError;
use crate::ports::Ports;
use crate::processes::Processes;
use crate::programs::Programs;
use crate::readiness::{answers, until};
use crate::stages::write_stages;

/// Fields are dropped in this order: first the processes end, then their folder goes, then the ports are free.
pub(crate) struct ControlPlane {
    processes: Processes,
    credentials: Credentials,
    folder: TempDir,
    ports: Ports,
}

impl ControlPlane {
    /// Starts all programs and returns when each is ready.
    pub(crate) async fn start(
        programs: &Programs,
        options: &Options,
    ) -> Result<(Self, Client), LabError> {
        let mut folder = tempfile::Builder::new()
            .prefix("plimsoll-lab-")
            .tempdir()
            .map_err(|source| LabError::File {
                path: std::env::temp_dir(),
                source,
            })?;
        folder.disable_cleanup(options.keep_folder);
        let ports = Ports::reserve()?;
        let credentials = Credentials::write(folder.path(), ports.api_server())?;
        let processes = Processes::new(folder.path());
        let mut plane = Self {
            processes,
            credentials,
            folder,
            ports,
        };
        plane.start_store(programs).await?;
        plane.start_api_server(programs).await?;
        let client = plane.connect().await?;
        plane.start_controllers(programs, options)?;
        plane.controllers_work(&client, options).await?;
        Ok((plane, client))
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.credentials.kubeconfig
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn spare_ports(&self) -> [u16; 2] {
        self.ports.spare()
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        self.processes.ids()
    }

    /// The processes, to look at and to disturb.
    pub(crate) fn running(&mut self) -> &mut Processes {
        &mut self.processes
    }

    /// Starts a program of the control plane that was killed, as it was before, and returns when it is ready.
    pub(crate) async fn start_again(&mut self, program: &str) -> Result<(), LabError> {
        self.processes.start_again(program)?;
        let (address, path) = match program {
            "etcd" => (format!("http://127.0.0.1:{}", self.ports.etcd()), "/health"),
            "kube-apiserver" => (
                format!("https://127.0.0.1:{}", self.ports.api_server()),
                "/readyz",
            ),
            "kube-scheduler" => (
                format!("https://127.0.0.1:{}", self.ports.scheduler()),
                "/readyz",
            ),
            "kube-controller-manager" => (
                format!("https://127.0.0.1:{}", self.ports.controller_manager()),
                "/healthz",
            ),
            "kwok" => (format!("http://127.0.0.1:{}", self.ports.kwok()), "/readyz"),
            _ => return Ok(()),
        };
        let runs = || match self.processes.has_ended(program)? {
            None => Ok(()),
            Some(status) => Err(LabError::Ended {
                program: program.to_owned(),
                status,
                log: self.processes.last_words(program),
            }),
        };
        answers(&address, path, &self.credentials.token, runs).await
    }

    async fn start_store(&mut self, programs: &Programs) -> Result<(), LabError> {
        let client = format!("http://127.0.0.1:{}", self.ports.etcd());
        let peer = format!("http://127.0.0.1:{}", self.ports.etcd_peer());
        let arguments = [
            "--name=lab".to_owned(),
            format!("--data-dir={}", self.path("etcd")),
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=lab={peer}"),
            "--unsafe-no-fsync=true".to_owned(),
            "--log-level=warn".to_owned(),
        ];
        self.processes
            .start("etcd", &programs["etcd"], &arguments)?;
        self.answers(&client, "/health").await
    }

    /// The service account plugin is off, so that pods need no service account objects.
    async fn start_api_server(&mut self, programs: &Programs) -> Result<(), LabError> {
        let arguments = [
            format!("--etcd-servers=http://127.0.0.1:{}", self.ports.etcd()),
            format!("--secure-port={}", self.ports.api_server()),
            "--bind-address=127.0.0.1".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            // A loopback address may not be an endpoint of the service `kubernetes`, and nothing looks for it.
            "--endpoint-reconciler-type=none".to_owned(),
            format!("--cert-dir={}", self.credentials.certificates.display()),
            "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
            format!(
                "--service-account-key-file={}",
                self.credentials.public_key.display()
            ),
            format!(
                "--service-account-signing-key-file={}",
                self.credentials.private_key.display()
            ),
            "--service-account-issuer=https://lab.plimsoll.dev".to_owned(),
            format!(
                "--token-auth-file={}",
                self.credentials.token_file.display()
            ),
            "--authorization-mode=Node,RBAC".to_owned(),
            "--disable-admission-plugins=ServiceAccount".to_owned(),
            // Off unless asked for, and on in some clusters: who names an owner must have rights to it.
            "--enable-admission-plugins=OwnerReferencesPermissionEnforcement".to_owned(),
            "--profiling=false".to_owned(),
        ];
        self.processes
            .start("kube-apiserver", &programs["kube-apiserver"], &arguments)?;
        self.answers(
            &format!("https://127.0.0.1:{}", self.ports.api_server()),
            "/readyz",
        )
        .await
    }

    fn start_controllers(
        &mut self,
        programs: &Programs,
        options: &Options,
    ) -> Result<(), LabError> {
        let scheduler = self.watcher("scheduler", self.ports.scheduler());
        self.processes
            .start("kube-scheduler", &programs["kube-scheduler"], &scheduler)?;
        let mut manager = self.watcher("controller-manager", self.ports.controller_manager());
        manager.extend([
            // What needs a cloud, a network or a way for nodes to join.
            "--controllers=*,-node-ipam-controller,-bootstrap-signer-controller,-token-cleaner-controller".to_owned(),
            format!("--service-account-private-key-file={}", self.credentials.private_key.display()),
            format!("--root-ca-file={}", self.credentials.certificates.join("apiserver.crt").display()),
        ]);
        self.processes.start(
            "kube-controller-manager",
            &programs["kube-controller-manager"],
            &manager,
        )?;
        let boot = options.node_boot..=options.node_boot_most;
        let stages = write_stages(self.folder.path(), boot, options.pod_start)?;
        let kwok = [
            format!("--kubeconfig={}", self.credentials.kubeconfig.display()),
            format!("--config={}", stages.display()),
            "--manage-all-nodes=false".to_owned(),
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake".to_owned(),
            "--node-lease-duration-seconds=40".to_owned(),
            "--node-ip=127.0.0.1".to_owned(),
            format!("--server-address=127.0.0.1:{}", self.ports.kwok()),
        ];
        self.processes.start("kwok", &programs["kwok"], &kwok)
    }

    /// Arguments that scheduler and controller manager share. Their limits on requests are raised: a test makes a
    /// thousand pods at once, and the machine is the limit that counts.
    fn watcher(&self, name: &str, port: u16) -> Vec<String> {
        let kubeconfig = self.credentials.kubeconfig.display();
        vec![
            format!("--kubeconfig={kubeconfig}"),
            format!("--authentication-kubeconfig={kubeconfig}"),
            format!("--authorization-kubeconfig={kubeconfig}"),
            "--leader-elect=false".to_owned(),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={port}"),
            format!("--cert-dir={}", self.path(&format!("{name}-certificates"))),
            "--kube-api-qps=1000".to_owned(),
            "--kube-api-burst=2000".to_owned(),
        ]
    }

    /// The scheduler says when its caches are filled. The controller manager is at work when it has made the account that every namespace gets.
    async fn controllers_work(&self, client: &Client, options: &Options) -> Result<(), LabError> {
        self.answers(
            &format!("https://127.0.0.1:{}", self.ports.scheduler()),
            "/readyz",
        )
        .await?;
        self.answers(
            &format!("https://127.0.0.1:{}", self.ports.controller_manager()),
            "/healthz",
        )
        .await?;
        self.answers(
            &format!("http://127.0.0.1:{}", self.ports.kwok()),
            "/readyz",
        )
        .await?;
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "default");
        until(
            "the controller manager to work",
            options.deadline,
            async || accounts.get_opt("default").await,
        )
        .await?;
        self.processes.all_alive()
    }

    async fn connect(&self) -> Result<Client, LabError> {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig())?;
        let mut config =
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        // As the controller's: a refusal that says to come again later is the caller's to see.
        config.default_retry = false;
        Ok(Client::try_from(config)?)
    }

    async fn answers(&self, address: &str, path: &str) -> Result<(), LabError> {
        answers(address, path, &self.credentials.token, || {
            self.processes.all_alive()
        })
        .await
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

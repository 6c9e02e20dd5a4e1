//! Credentials of a lab: a token with every right, a key for service account tokens, and the kubeconfig that holds the token.
//! All of it is made anew for each lab and lies in its folder, which only the user can read.

use std::fs;
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};

use crate::error::LabError;

/// Bytes before the point in the usual form of a public key on P-256 (RFC 5480): algorithm, curve, length of what follows.
const P256_HEADER: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// A key for service account tokens, in PEM.
struct SigningKey {
    private: String,
    public: String,
}

impl SigningKey {
    fn generate() -> Result<Self, LabError> {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let document =
            EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(|_| LabError::Key)?;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random)
            .map_err(|_| LabError::Key)?;
        let public = [&P256_HEADER, pair.public_key().as_ref()].concat();
        Ok(Self {
            private: pem::encode(&pem::Pem::new("PRIVATE KEY", document.as_ref())),
            public: pem::encode(&pem::Pem::new("PUBLIC KEY", public)),
        })
    }
}

/// Paths of what was written, and the token.
#[derive(Debug)]
pub(crate) struct Credentials {
    pub(crate) token: String,
    pub(crate) token_file: PathBuf,
    pub(crate) private_key: PathBuf,
    pub(crate) public_key: PathBuf,
    pub(crate) kubeconfig: PathBuf,
    /// Where the API server puts the certificate that it makes itself.
    pub(crate) certificates: PathBuf,
}

impl Credentials {
    /// Writes them into `folder` for an API server on `port`.
    pub(crate) fn write(folder: &Path, port: u16) -> Result<Self, LabError> {
        let token = random_token()?;
        let key = SigningKey::generate()?;
        let certificates = folder.join("certificates");
        let authority = certificates.join("apiserver.crt");
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: lab\n\
             clusters: [{{name: lab, cluster: {{server: 'https://127.0.0.1:{port}', certificate-authority: '{}'}}}}]\n\
             users: [{{name: lab, user: {{token: {token}}}}}]\n\
             contexts: [{{name: lab, context: {{cluster: lab, user: lab}}}}]\n",
            authority.display()
        );
        Ok(Self {
            token_file: write(
                folder,
                "tokens.csv",
                &format!("{token},lab,lab,\"system:masters\"\n"),
            )?,
            private_key: write(folder, "service-account.key", &key.private)?,
            public_key: write(folder, "service-account.pub", &key.public)?,
            kubeconfig: write(folder, "kubeconfig", &kubeconfig)?,
            certificates,
            token,
        })
    }
}

/// Writes a file of the lab and returns its path.
pub(crate) fn write(folder: &Path, name: &str, content: &str) -> Result<PathBuf, LabError> {
    let path = folder.join(name);
    match fs::write(&path, content) {
        Ok(()) => Ok(path),
        Err(source) => Err(LabError::File { path, source }),
    }
}

fn random_token() -> Result<String, LabError> {
    let mut bytes = [0; 16];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| LabError::Key)?;
    // Not digits alone: readers of YAML would take those for a number.
    Ok(format!("lab-{:032x}", u128::from_le_bytes(bytes)))
}

//! TLS: the certificate is always checked.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lcp_continuity::store::{Error, PostgresStore, Store};
use lcp_testkit::PostgresServer;

use crate::support::{Schema, begun};

/// Creates a key and a certificate for 127.0.0.1 below `folder`. Returns `None` without `openssl`.
fn certificate(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let (key, certificate) = (folder.join("key.pem"), folder.join("certificate.pem"));
    let status = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success()).then_some((key, certificate))
}

#[test]
fn server_certificate_is_verified() {
    let Some(server) = PostgresServer::start_if_there() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut schema = Schema::on(&server.url().replace("sslmode=disable", "sslmode=require"));
    let refused = |schema: &Schema| match PostgresStore::open_with(&schema.url, &schema.options) {
        Err(Error::Io(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert!(refused(&schema).contains("server does not support TLS"));

    let Some((key, certificate)) = certificate(folder.path()) else { return };
    server.use_tls(&key, &certificate).unwrap();
    for mode in ["prefer", "require", "verify-full"] {
        schema.options.root_certificate = None;
        schema.url = server.url().replace("disable", mode);
        let reason = refused(&schema);
        assert!(reason.contains("UnknownIssuer") || reason.contains("certificate"), "{reason}");
        schema.options.root_certificate = Some(certificate.clone());
        begun(&schema.open(), mode);
    }
    // The host name is checked as well.
    schema.url = schema.url.replace("127.0.0.1", "localhost");
    let reason = refused(&schema);
    assert!(reason.contains("not valid for name"), "{reason}");
    schema.options.root_certificate = Some(folder.path().join("none.pem"));
    assert!(refused(&schema).contains("none.pem"));
    // Without TLS the store opens as usual.
    schema.url = server.url();
    assert!(schema.open().conversation("require").is_ok());
}

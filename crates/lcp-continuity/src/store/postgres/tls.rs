//! TLS by rustls, which always checks the server's certificate.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::error::{Error, Result};

/// What the certificates are checked against: `roots` (PEM), or what the system
/// trusts.
pub(super) fn connector(roots: Option<&Path>) -> Result<MakeRustlsConnect> {
    let mut trusted = RootCertStore::empty();
    if let Some(path) = roots {
        for certificate in read(path)? {
            trusted.add(certificate).map_err(|error| unusable(path, &error))?;
        }
    } else {
        // Where there are none, a server with TLS is refused, with the reason.
        trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Io { reason: error.to_string() })?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn read(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|error| unusable(path, &error))?;
    if certificates.is_empty() {
        return Err(unusable(path, &"there is no certificate in it"));
    }
    Ok(certificates)
}

fn unusable(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Io { reason: format!("the certificates of {} cannot be used: {reason}", path.display()) }
}

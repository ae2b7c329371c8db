//! The causes of failed writes.

use std::io;

use object_store::Error as ObjectError;

use super::Error;
use super::object_store::write_failed;

#[test]
fn write_errors_map_to_error_kinds() {
    let error = |kind: io::ErrorKind| {
        let source = Box::new(io::Error::from(kind));
        write_failed(&ObjectError::Generic { store: "test", source })
    };
    assert_eq!(error(io::ErrorKind::StorageFull), Error::Full);
    assert_eq!(error(io::ErrorKind::QuotaExceeded), Error::Full);
    assert_eq!(error(io::ErrorKind::ReadOnlyFilesystem), Error::ReadOnly);
    assert!(matches!(error(io::ErrorKind::ConnectionReset), Error::Io(_)));
}

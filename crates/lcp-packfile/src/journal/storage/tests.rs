use super::*;

/// Returns a lock function of a file system that fails with an error of this kind.
fn refused(kind: ErrorKind) -> impl Fn() -> Result<(), TryLockError> {
    move || Err(TryLockError::Error(kind.into()))
}

#[test]
fn reading_works_without_lock_support() {
    let lock_shared = |lock: &dyn Fn() -> Result<(), TryLockError>| shared(Duration::ZERO, lock);
    assert!(lock_shared(&|| Ok(())).is_ok());
    assert!(lock_shared(&refused(ErrorKind::Unsupported)).is_ok());
    assert!(lock_shared(&refused(ErrorKind::PermissionDenied)).is_ok());
    let busy = lock_shared(&|| Err(TryLockError::WouldBlock)).unwrap_err();
    assert_eq!(busy.kind(), ErrorKind::WouldBlock);
}

#[test]
fn writing_works_without_lock_support_unless_denied() {
    assert!(is_free(None, refused(ErrorKind::Unsupported)).unwrap());
    let error = is_free(None, refused(ErrorKind::PermissionDenied)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
}

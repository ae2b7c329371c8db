//! Calls of the library: without the lock of the interpreter, with exceptions for errors and panics.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lcp_app::names::{self, Names};
use lcp_app::{Error, ErrorKind, FailedFile};
use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

mod exceptions {
    pyo3::import_exception!(lcp._errors, LcpError);
    pyo3::import_exception!(lcp._errors, UsageError);
    pyo3::import_exception!(lcp._errors, MalformedError);
    pyo3::import_exception!(lcp._errors, OverBudgetError);
    pyo3::import_exception!(lcp._errors, LimitError);
    pyo3::import_exception!(lcp._errors, FileError);
    pyo3::import_exception!(lcp._errors, SessionError);
}

/// Calls a function of the library while other Python threads run. An error becomes an exception,
/// and so does a panic, which would otherwise end the program.
pub(crate) fn call<T: Send>(
    py: Python<'_>,
    function: impl Send + FnOnce() -> Result<T, Error>,
) -> PyResult<T> {
    py.detach(|| catch(function))?.map_err(|error| exception(py, &error))
}

/// Calls a function, and turns a panic into an exception.
pub(crate) fn catch<T>(function: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(function)).map_err(|panic| {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        let message = format!("internal error: {}", message.unwrap_or_default());
        exceptions::LcpError::new_err((message, None::<String>, None::<String>))
    })
}

/// Returns the exception for an error.
fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let hint = error.library_hint().map(str::to_owned);
    let values = (error.message.clone(), error.code, hint);
    match error.kind {
        ErrorKind::Usage => exceptions::UsageError::new_err(values),
        ErrorKind::Malformed => exceptions::MalformedError::new_err(values),
        ErrorKind::OverBudget => exceptions::OverBudgetError::new_err(values),
        ErrorKind::Limit => exceptions::LimitError::new_err(values),
        ErrorKind::Session => exceptions::SessionError::new_err(values),
        ErrorKind::Io => {
            let file = error.file.as_deref();
            let number = file.and_then(|file| error_number(py, file));
            let path = file.map(|file| file.path.clone());
            exceptions::FileError::new_err((values.0, values.1, values.2, number, path))
        }
        _ => exceptions::LcpError::new_err(values),
    }
}

/// Returns the number of the failure in the module `errno`.
fn error_number(py: Python<'_>, file: &FailedFile) -> Option<i32> {
    let name = match file.kind {
        _ if file.os_code.is_some() && cfg!(unix) => return file.os_code,
        io::ErrorKind::NotFound => "ENOENT",
        io::ErrorKind::PermissionDenied => "EACCES",
        io::ErrorKind::AlreadyExists => "EEXIST",
        io::ErrorKind::IsADirectory => "EISDIR",
        io::ErrorKind::NotADirectory => "ENOTDIR",
        io::ErrorKind::StorageFull => "ENOSPC",
        _ => return None,
    };
    py.import("errno").ok()?.getattr(name).ok()?.extract().ok()
}

/// Returns the exception for an argument with an invalid value.
pub(crate) fn invalid_argument(name: &str, value: &str, expected: &[&str]) -> PyErr {
    let message = format!("{name}: expected one of {}, got {value:?}", expected.join(", "));
    usage_error(message)
}

/// Returns the value with this name, or an error that lists the names.
pub(crate) fn value_of<T: Copy + PartialEq>(
    argument: &str,
    names: &Names<T>,
    name: &str,
) -> PyResult<T> {
    let invalid = || invalid_argument(argument, name, &names::current(names));
    names::value_of(names, name).ok_or_else(invalid)
}

/// Returns the exception for an invalid argument.
pub(crate) fn usage_error(message: String) -> PyErr {
    exceptions::UsageError::new_err((message, None::<String>, None::<String>))
}

/// Returns the exception for a malformed input.
pub(crate) fn malformed_error(message: String) -> PyErr {
    exceptions::MalformedError::new_err((message, None::<String>, None::<String>))
}

/// Returns the text of an argument with this name.
pub(crate) fn text(value: &Bound<'_, PyAny>, name: &str) -> PyResult<PyBackedStr> {
    value.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyUnicodeEncodeError>(value.py()) {
            return usage_error(format!("{name}: the text has half of a surrogate pair"));
        }
        let kind = value.get_type().name().map(|kind| kind.to_string()).unwrap_or_default();
        pyo3::exceptions::PyTypeError::new_err(format!("{name}: expected a string, got {kind}"))
    })
}

/// Returns the text of an argument that can be left out.
pub(crate) fn optional_text(
    value: Option<&Bound<'_, PyAny>>,
    name: &str,
) -> PyResult<Option<String>> {
    value.map(|value| Ok(text(value, name)?.to_string())).transpose()
}

//! Columns of Arrow libraries, by the Arrow `PyCapsule` interface: texts to read, and results that
//! the libraries read without a copy.

use std::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray as _;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array as _, ArrayRef, LargeStringArray, make_array};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::call::{call, catch, malformed_error, usage_error};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The two capsules of an array: its type and its values.
type Capsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

/// A column of values, which Arrow libraries read without a copy.
#[pyclass(frozen, module = "lcp")]
pub(crate) struct Column(pub(crate) ArrayRef);

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("<lcp.Column: {} rows of {}>", self.0.len(), self.0.data_type())
    }

    /// Returns the type (the Arrow `PyCapsule` interface).
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(self.__arrow_c_array__(py, None)?.0)
    }

    /// Returns the type and the values (the Arrow `PyCapsule` interface). As the interface allows, a
    /// request for another type is ignored.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Capsules<'py>> {
        let _ = requested_schema;
        let (array, schema) =
            to_ffi(&self.0.to_data()).map_err(|error| malformed_error(error.to_string()))?;
        let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
        Ok((schema, PyCapsule::new_with_value(py, array, ARRAY)?))
    }
}

/// A column of texts, in chunks.
pub(crate) struct Texts<'n> {
    chunks: Vec<ArrayRef>,
    /// The name of the argument.
    name: &'n str,
}

impl<'n> Texts<'n> {
    /// Reads an argument: any object with the methods of the Arrow `PyCapsule` interface.
    pub(crate) fn new(column: &Bound<'_, PyAny>, name: &'n str) -> PyResult<Self> {
        check_buffers(column, name)?;
        let chunks = if column.hasattr("__arrow_c_array__")? {
            let capsules = column.call_method0("__arrow_c_array__")?;
            let (schema, array) = capsules.extract::<Capsules<'_>>()?;
            vec![import_array(&schema, &array, name)?]
        } else if column.hasattr("__arrow_c_stream__")? {
            let stream = column.call_method0("__arrow_c_stream__")?;
            import_stream(stream.cast::<PyCapsule>()?, name)?
        } else {
            return Err(wrong_type(name, &column.get_type().name()?.to_string()));
        };
        Ok(Self { chunks, name })
    }

    /// Returns the text of each row, if it has one.
    ///
    /// The texts are checked, because producers do not promise that they are UTF-8.
    pub(crate) fn rows(&self, py: Python<'_>) -> PyResult<Vec<Option<&str>>> {
        let rows = call(py, || {
            let rows = self.chunks.iter().flat_map(contents).enumerate();
            let rows = rows.map(|(at, bytes)| match bytes.map(str::from_utf8) {
                Some(text) => text.map(Some).map_err(|error| (at, error)),
                None => Ok(None),
            });
            Ok(rows.collect::<Result<Vec<_>, _>>())
        })?;
        rows.map_err(|(at, error)| malformed_error(format!("{}[{at}]: {error}", self.name)))
    }

    /// Returns the text of each row, or an error if one has no text.
    pub(crate) fn present_rows(&self, py: Python<'_>) -> PyResult<Vec<&str>> {
        let missing = |at| usage_error(format!("{}[{at}]: expected a string, got null", self.name));
        let rows = self.rows(py)?.into_iter().enumerate();
        rows.map(|(at, text)| text.ok_or_else(|| missing(at))).collect()
    }
}

/// Returns the type of the bytes of a column of texts. Slices are then checked as such, while
/// `arrow-array` would check all texts before the end of a slice.
fn type_of_bytes(schema: &FFI_ArrowSchema, name: &str) -> PyResult<DataType> {
    // It panics if the struct is empty.
    match catch(|| schema.format().to_owned())?.as_str() {
        "u" => Ok(DataType::Binary),
        "U" => Ok(DataType::LargeBinary),
        "vu" => Ok(DataType::BinaryView),
        // Nulls alone may have no type.
        "n" => Ok(DataType::Null),
        format => {
            let actual = DataType::try_from(schema).map(|actual| actual.to_string());
            Err(wrong_type(name, &actual.unwrap_or_else(|_| format.to_owned())))
        }
    }
}

/// Returns the bytes of each row, if it has a text.
fn contents(array: &ArrayRef) -> Vec<Option<&[u8]>> {
    if let Some(array) = array.as_binary_opt::<i32>() {
        array.iter().collect()
    } else if let Some(array) = array.as_binary_opt::<i64>() {
        array.iter().collect()
    } else if let Some(array) = array.as_binary_view_opt() {
        array.iter().collect()
    } else {
        vec![None; array.len()]
    }
}

/// Calls `validate` on arrays of pyarrow, in constant time. It compares the last offsets with the
/// lengths of the buffers, which the interface does not pass.
fn check_buffers(column: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    let module: String = column.get_type().getattr("__module__")?.extract().unwrap_or_default();
    if module.split('.').next() != Some("pyarrow") || !column.hasattr("validate")? {
        return Ok(());
    }
    column
        .call_method0("validate")
        .map(drop)
        .map_err(|error| malformed_error(format!("{name}: {}", error.value(column.py()))))
}

fn wrong_type(name: &str, actual: &str) -> PyErr {
    PyTypeError::new_err(format!("{name}: expected an Arrow column of strings, got {actual}"))
}

/// Guards moves out of capsules: without the lock of the interpreter, two threads could move the same
/// struct.
static MOVES: Mutex<()> = Mutex::new(());

/// Moves a struct out of a capsule by `from_raw`.
fn take<T>(from_raw: impl FnOnce() -> T) -> T {
    let _guard = MOVES.lock().unwrap_or_else(PoisonError::into_inner);
    from_raw()
}

/// Takes the array of two capsules.
#[expect(unsafe_code, reason = "capsules contain pointers to the structs of Arrow's C interface")]
fn import_array(
    schema_capsule: &Bound<'_, PyCapsule>,
    array_capsule: &Bound<'_, PyCapsule>,
    name: &str,
) -> PyResult<ArrayRef> {
    let schema = schema_capsule.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array_capsule.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: a capsule with this name owns a valid struct of this type. `from_raw` moves the struct
    // out and leaves a released one, so the capsule does not free it again. The interface gives a
    // capsule to one consumer, and `take` lets one thread of this module move at a time.
    let (schema, array) = take(|| unsafe {
        (FFI_ArrowSchema::from_raw(schema.as_ptr()), FFI_ArrowArray::from_raw(array.as_ptr()))
    });
    if array.is_released() {
        return Err(usage_error(format!("{name}: the array was already read")));
    }
    import(schema_capsule.py(), array, type_of_bytes(&schema, name)?, name)
}

/// Reads all arrays of the stream in a capsule, while other Python threads run.
#[expect(unsafe_code, reason = "a stream consists of C functions, which the producer provides")]
fn import_stream(capsule: &Bound<'_, PyCapsule>, name: &str) -> PyResult<Vec<ArrayRef>> {
    let py = capsule.py();
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: as in `import_array`.
    let mut stream = take(|| unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) });
    let released = || usage_error(format!("{name}: the stream was already read"));
    let get_schema = stream.get_schema().ok_or_else(released)?;
    let get_next = stream.get_next().ok_or_else(released)?;
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the functions get the stream that they belong to, and an empty struct to fill.
    let status = py.detach(|| unsafe { get_schema(&raw mut stream, &raw mut schema) });
    check_status(status, &mut stream, name)?;
    let data_type = type_of_bytes(&schema, name)?;
    let mut chunks = Vec::new();
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as above.
        let status = py.detach(|| unsafe { get_next(&raw mut stream, &raw mut array) });
        check_status(status, &mut stream, name)?;
        if array.is_released() {
            return Ok(chunks);
        }
        chunks.push(import(py, array, data_type.clone(), name)?);
    }
}

/// Returns an error with the message of a stream if a function of it failed.
#[expect(unsafe_code, reason = "a stream consists of C functions, which the producer provides")]
fn check_status(status: i32, stream: &mut FFI_ArrowArrayStream, name: &str) -> PyResult<()> {
    if status == 0 {
        return Ok(());
    }
    let get_message = stream.get_last_error();
    // SAFETY: the function gets its stream, which failed before.
    let message = get_message.map(|get_message| unsafe { get_message(stream) });
    let message = message.filter(|message| !message.is_null());
    // SAFETY: the text ends with a zero, and is valid until the next call of the stream.
    let message = message.map(|message| unsafe { CStr::from_ptr(message) }.to_string_lossy());
    let message = message.unwrap_or_else(|| format!("error {status}").into());
    Err(usage_error(format!("{name}: the stream cannot be read: {message}")))
}

/// Turns the structs of a capsule into an array.
#[expect(unsafe_code, reason = "the structs of Arrow's C interface contain pointers to the values")]
fn import(
    py: Python<'_>,
    array: FFI_ArrowArray,
    data_type: DataType,
    name: &str,
) -> PyResult<ArrayRef> {
    // SAFETY: the producer filled the struct for texts, which have the same buffers as bytes.
    let data = catch(|| unsafe { from_ffi_and_data_type(array, data_type) })?;
    let malformed = |error| malformed_error(format!("{name}: {error}"));
    let data = data.map_err(malformed)?;
    call(py, || Ok(data.validate_full()))?.map_err(malformed)?;
    Ok(make_array(data))
}

/// Returns the hash of each text of a column, as hexadecimal text.
#[pyfunction]
pub(crate) fn hash_column(column: Bound<'_, PyAny>) -> PyResult<Column> {
    let texts = Texts::new(&column, "column")?;
    let rows = texts.rows(column.py())?;
    call(column.py(), || {
        let hashes = rows.into_iter().map(|text| Some(blake3::hash(text?.as_bytes()).to_hex()));
        Ok(Column(Arc::new(hashes.collect::<LargeStringArray>())))
    })
}

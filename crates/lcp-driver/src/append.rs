//! Formatting onto the end of a string.

use std::fmt::{Arguments, Write};

/// Appends what `format_args!` made.
pub(crate) fn append(out: &mut String, args: Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(args);
}

//! Names of enum variants, and formatting onto the end of a string.

use std::fmt::{Arguments, Write};

/// Declares an enum without fields, each of whose variants has a stable name.
macro_rules! named_enum {
    ($(#[$meta:meta])* $vis:vis enum $Enum:ident {
        $($(#[$doc:meta])* $Variant:ident = $name:literal,)*
    }) => {
        $(#[$meta])*
        $vis enum $Enum {
            $($(#[$doc])* $Variant,)*
        }

        impl $Enum {
            /// All values, in order.
            $vis const ALL: [Self; [$($name),*].len()] = [$(Self::$Variant),*];

            /// Returns the name in flags, reports and messages.
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)*
                }
            }
        }
    };
}
pub(crate) use named_enum;

pub(crate) fn write_to(out: &mut String, args: Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(args);
}

/// Formats a number with a comma between thousands.
///
/// ```
/// use lcp_driver::group_thousands;
///
/// assert_eq!((group_thousands(999).as_str(), group_thousands(1_234_567).as_str()), ("999", "1,234,567"));
/// ```
#[must_use]
pub fn group_thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

//! The enumerations of the wire format, each defined by one table.
//!
//! A row defines a variant, its code and its name. It adds the variant to `ALL` and to both
//! conversions. Unknown codes are preserved as `Other` (RFC 0001 §6).

use std::borrow::Cow;

use crate::codec::{FieldReader, FieldValue, FieldWriter, OrderedReader};
use crate::wire::WireType;

/// Declares an enumeration without fields in which each variant has a stable name. The enumeration
/// gets `ALL`, `name`, `from_name` and `Display`.
///
/// ```
/// lcp_types::named_enum! {
///     /// A side.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub enum Side {
///         /// The left one.
///         Left = "left",
///         /// The right one.
///         Right = "right",
///     }
/// }
/// assert_eq!((Side::Left.name(), Side::from_name("right")), ("left", Some(Side::Right)));
/// ```
#[macro_export]
macro_rules! named_enum {
    ($(#[$meta:meta])* $vis:vis enum $Enum:ident {
        $($(#[$doc:meta])* $Variant:ident = $name:literal,)*
    }) => {
        $(#[$meta])*
        $vis enum $Enum {
            $($(#[$doc])* $Variant,)*
        }

        impl $Enum {
            /// Every value, in order.
            $vis const ALL: [Self; [$($name),*].len()] = [$(Self::$Variant),*];

            /// Returns the name that reports, flags and texts use.
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)*
                }
            }

            /// Returns the value with this name.
            #[must_use]
            #[allow(dead_code, reason = "not every enumeration is parsed")]
            $vis fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

/// Defines an enumeration with one row per value: `Variant = code, "name";`.
///
/// ```text
/// wire_enum! {
///     /// Doc of the type.
///     Role { /** Doc. */ User = 2, "user"; }
/// }
/// ```
/// expands to `enum Role { User, Other(u8) }` with `ALL`, `NAMES`, `from_code`,
/// `code`, `name`, `from_name`, `Display`, serde and the field traits of `codec`.
macro_rules! wire_enum {
    ($(#[$meta:meta])* $enum:ident { $($(#[$vmeta:meta])* $variant:ident = $code:literal, $name:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $enum {
            $($(#[$vmeta])* #[doc = concat!("`", $name, "`")] $variant,)*
            /// A code without a name in this version, written back unchanged.
            ///
            /// [`Self::from_code`] never returns this variant for a code that has a name. Do not
            /// construct such values either, because equality compares variants.
            Other(u8),
        }

        impl $enum {
            /// Every named value, in the order of its codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The code and the name of every named value.
            pub const NAMES: &'static [(u8, &'static str)] = &[$(($code, $name)),*];

            /// Returns the value with this code, or [`Self::Other`] if the code has no name.
            #[must_use]
            #[inline]
            pub const fn from_code(code: u8) -> Self {
                match code {
                    $($code => Self::$variant,)*
                    other => Self::Other(other),
                }
            }

            /// Returns the code on the wire.
            #[must_use]
            #[inline]
            pub const fn code(self) -> u8 {
                enum Place { $($variant,)* Other }
                // A table lookup is used because a `match` would compile to a jump that is
                // predicted badly.
                let place = match self {
                    $(Self::$variant => Place::$variant as usize,)*
                    Self::Other(_) => Place::Other as usize,
                };
                if let Self::Other(code) = self { code } else { Self::NAMES[place].0 }
            }

            /// Returns the name in manifests and reports, or `None` if the code has no name.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($name),)*
                    Self::Other(_) => None,
                }
            }

            /// Returns the value with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $enum {
            /// Writes the name, or the code in decimal if it has no name.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.pad(name),
                    None => write!(f, "{}", self.code()),
                }
            }
        }

        $crate::codec::scalar!(
            $enum,
            WireType::Varint,
            |from| Self::from_code(from.code(Self::NAMES)?),
            Self = Some(Self::from_code(u8::try_from(from.uint(u64::from(u8::MAX))?).ok()?)),
            |value| value,
            |value, field, to| to.code(field, value.code(), value.name())
        );

        $crate::owned::copy_into_owned!($enum);

        #[cfg(feature = "serde")]
        impl serde::Serialize for $enum {
            /// Serializes the name if there is one and the format is human-readable, and otherwise
            /// the code.
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                match self.name() {
                    Some(name) if to.is_human_readable() => to.serialize_str(name),
                    _ => to.serialize_u8(self.code()),
                }
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $enum {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct EnumVisitor;
                impl serde::de::Visitor<'_> for EnumVisitor {
                    type Value = $enum;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("the name or the code of a ", stringify!($enum)))
                    }

                    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<$enum, E> {
                        $enum::from_name(name)
                            .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(name), &self))
                    }

                    fn visit_u64<E: serde::de::Error>(self, code: u64) -> Result<$enum, E> {
                        u8::try_from(code)
                            .map($enum::from_code)
                            .map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(code), &self))
                    }
                }
                if from.is_human_readable() {
                    from.deserialize_any(EnumVisitor)
                } else {
                    from.deserialize_u8(EnumVisitor)
                }
            }
        }
    };
}

wire_enum! {
    /// The language of a CODE block.
    Lang {
        Rust = 0x01, "rust";
        TypeScript = 0x02, "typescript";
        JavaScript = 0x03, "javascript";
        Python = 0x04, "python";
        Go = 0x05, "go";
        Java = 0x06, "java";
        C = 0x07, "c";
        Cpp = 0x08, "cpp";
        Ruby = 0x09, "ruby";
        Shell = 0x0A, "shell";
        Sql = 0x0B, "sql";
        Html = 0x0C, "html";
        Css = 0x0D, "css";
        Json = 0x0E, "json";
        Yaml = 0x0F, "yaml";
        Toml = 0x10, "toml";
        Markdown = 0x11, "markdown";
        /// The writer did not know the language.
        Unknown = 0xFF, "unknown";
    }
}

wire_enum! {
    /// The role of the speaker in a CONVERSATION block.
    Role {
        /// The application, which gives instructions.
        System = 1, "system";
        /// The user.
        User = 2, "user";
        /// The model.
        Assistant = 3, "assistant";
        /// A tool that the model called.
        Tool = 4, "tool";
    }
}

wire_enum! {
    /// The outcome of the call in a TOOL_RESULT block.
    Status {
        /// The call succeeded.
        Ok = 1, "ok";
        /// The call failed.
        Error = 2, "error";
        /// The call timed out.
        Timeout = 3, "timeout";
    }
}

wire_enum! {
    /// The format of a DOCUMENT block's content.
    FormatHint {
        Markdown = 1, "markdown";
        Plain = 2, "plain";
        Html = 3, "html";
    }
}

wire_enum! {
    /// The format of a STRUCTURED_DATA block's content.
    DataFormat {
        Json = 1, "json";
        Yaml = 2, "yaml";
        Toml = 3, "toml";
        Csv = 4, "csv";
    }
}

wire_enum! {
    /// The kind of statement in an ANNOTATION block.
    AnnotationKind {
        /// The [`Priority`] of the target, as one byte.
        Priority = 1, "priority";
        /// A summary of the target, as UTF-8.
        Summary = 2, "summary";
        /// A [`Tag`](crate::Tag) for the target: `key=value` or a bare key, as UTF-8.
        Tag = 3, "tag";
    }
}

wire_enum! {
    /// The format of an IMAGE block's data.
    MediaType {
        Png = 1, "png";
        Jpeg = 2, "jpeg";
        Gif = 3, "gif";
        Svg = 4, "svg";
        Webp = 5, "webp";
    }
}

wire_enum! {
    /// The kind of an entry in a FILE_TREE block.
    FileEntryKind {
        File = 0, "file";
        Directory = 1, "directory";
    }
}

impl Role {
    /// Returns the label in headers: the name, or `role-9` for a code without a name.
    #[must_use]
    pub fn label(self) -> Cow<'static, str> {
        match self.name() {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("role-{}", self.code())),
        }
    }
}

named_enum! {
    /// The importance of a block (SPEC_08 §3), in order: `Critical` sorts first.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
    pub enum Priority {
        /// The block is always shown in full, even if that exceeds the budget.
        Critical = "critical",
        /// The block is shown in full if the budget allows it, and otherwise as its summary.
        High = "high",
        /// Like `High`, but with a later turn. This is the default for blocks without an
        /// annotation.
        #[default]
        Normal = "normal",
        /// The block is shown as its summary if the budget allows it, and otherwise as a
        /// placeholder.
        Low = "low",
        /// The block is shown as one line if the budget allows it, and otherwise not at all.
        Background = "background",
    }
}

impl Priority {
    /// Returns the byte in a PRIORITY annotation, from 1 to 5.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8 + 1
    }

    /// Returns the priority with this byte, or `None` if it is not from 1 to 5.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Critical),
            2 => Some(Self::High),
            3 => Some(Self::Normal),
            4 => Some(Self::Low),
            5 => Some(Self::Background),
            _ => None,
        }
    }
}

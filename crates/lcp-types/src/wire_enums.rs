//! Every enumeration of the wire format, each from one table.
//!
//! A row makes the variant, its code, its name, its place in `ALL` and both
//! conversions. Codes that no row names survive as `Other` (RFC 0001 §6).

use std::borrow::Cow;

use crate::codec::{FieldReader, FieldValue, FieldWriter, OrderedReader};
use crate::wire::WireType;

/// Declares an enumeration without fields, each of whose variants has a stable name: `ALL`, `name`,
/// `from_name` and `Display`.
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

            /// Returns the name in reports, flags and texts.
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

/// One row per value: `Variant = code, "name";`.
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
            /// A code that this version has no name for; written back unchanged.
            /// [`Self::from_code`] never gives it for a code that has a name, and
            /// values made by hand should not either: equality is by variant.
            Other(u8),
        }

        impl $enum {
            /// Every named value, in the order of its codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Code and name of every named value.
            pub const NAMES: &'static [(u8, &'static str)] = &[$(($code, $name)),*];

            /// The value with this code; unnamed codes give [`Self::Other`].
            #[must_use]
            #[inline]
            pub const fn from_code(code: u8) -> Self {
                match code {
                    $($code => Self::$variant,)*
                    other => Self::Other(other),
                }
            }

            /// The code on the wire.
            #[must_use]
            #[inline]
            pub const fn code(self) -> u8 {
                enum Place { $($variant,)* Other }
                // By a table: a match would jump to where a guess rarely leads.
                let place = match self {
                    $(Self::$variant => Place::$variant as usize,)*
                    Self::Other(_) => Place::Other as usize,
                };
                if let Self::Other(code) = self { code } else { Self::NAMES[place].0 }
            }

            /// The name in manifests and reports; `None` for unnamed codes.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($name),)*
                    Self::Other(_) => None,
                }
            }

            /// The value with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $enum {
            /// The name, or the code in decimal where there is none.
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
            /// The name where formats are for people and there is one, else the code.
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
    /// Who speaks in a CONVERSATION block.
    Role {
        /// Instructions of the application.
        System = 1, "system";
        /// The person.
        User = 2, "user";
        /// The model.
        Assistant = 3, "assistant";
        /// A tool that the model called.
        Tool = 4, "tool";
    }
}

wire_enum! {
    /// How the call of a TOOL_RESULT block ended.
    Status {
        /// It succeeded.
        Ok = 1, "ok";
        /// It failed.
        Error = 2, "error";
        /// It did not end in time.
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
    /// What an ANNOTATION block says of its target.
    AnnotationKind {
        /// The target's [`Priority`], one byte.
        Priority = 1, "priority";
        /// A summary of the target, UTF-8.
        Summary = 2, "summary";
        /// A [`Tag`](crate::Tag): `key=value` or a bare key, UTF-8.
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
    /// What an entry of a FILE_TREE block is.
    FileEntryKind {
        File = 0, "file";
        Directory = 1, "directory";
    }
}

impl Role {
    /// What labels and heads call it: its name, `role-9` of one that has none.
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
        /// Always in full, even over the budget.
        Critical = "critical",
        /// In full if the budget allows, else the summary.
        High = "high",
        /// Like `High`, after it. What a block has that nobody annotated.
        #[default]
        Normal = "normal",
        /// The summary if the budget allows, else a placeholder.
        Low = "low",
        /// A one-line reference if the budget allows, else nothing.
        Background = "background",
    }
}

impl Priority {
    /// The byte in a PRIORITY annotation, 1 to 5.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8 + 1
    }

    /// The priority with this byte; `None` for any but 1 to 5.
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

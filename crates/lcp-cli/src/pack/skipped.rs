//! What is left out, and why.

use std::io::ErrorKind;

/// Why there is no block of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// There is nothing in it.
    Empty,
    /// It has a NUL among its first 8 KiB, or is no picture of the kind that its name says.
    Binary,
    /// It is a picture, and those are not asked for.
    Image,
    /// It is larger than files may be.
    TooLarge,
    /// It could not be read.
    Unreadable,
    /// An ignore file that is none, so that nobody knows what it was to leave out: all that
    /// it would say something of is left out.
    IgnoreFile,
    /// It was there, and then was not.
    Vanished,
    /// A link, and those are not followed.
    Link,
    /// A link that leads nowhere.
    BrokenLink,
    /// A link that leads to a folder above it.
    Loop,
    /// A pipe, a socket or a device.
    Special,
    /// A change that is too large, or of a file that is left out, also where only files that
    /// differ are asked for.
    Change,
}

impl Reason {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Binary => "binary",
            Self::Image => "image",
            Self::TooLarge => "too_large",
            Self::Unreadable => "unreadable",
            Self::IgnoreFile => "ignore_file",
            Self::Vanished => "vanished",
            Self::Link => "link",
            Self::BrokenLink => "broken_link",
            Self::Loop => "loop",
            Self::Special => "special",
            Self::Change => "change",
        }
    }

    /// The reason of an error in reading.
    pub(super) fn of(error: &std::io::Error) -> Self {
        match error.kind() {
            // The folder that it was in may be something else by now.
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Vanished,
            _ => Self::Unreadable,
        }
    }

    /// Whether the pack lacks what it should have.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Unreadable | Self::IgnoreFile)
    }

    /// Whether the tree has it all the same.
    pub(super) fn is_in_tree(self) -> bool {
        matches!(self, Self::Empty | Self::Binary | Self::Image | Self::TooLarge | Self::Unreadable)
    }
}

/// Something that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its label; of a PATH that has none, what it was given as.
    pub path: String,
    /// Whether that is no label, and so stands in no pack.
    pub is_unlabelled: bool,
    /// Why.
    pub reason: Reason,
    /// Its size, where that is known.
    pub bytes: Option<u64>,
    /// What the system says.
    pub message: Option<String>,
}

impl Skipped {
    pub(super) fn new(path: impl Into<String>, reason: Reason) -> Self {
        Self { path: path.into(), is_unlabelled: false, reason, bytes: None, message: None }
    }

    pub(super) fn failed(path: impl Into<String>, error: &std::io::Error) -> Self {
        let message = Some(error.to_string());
        Self { message, ..Self::new(path, Reason::of(error)) }
    }
}

//! Shapes, and what they measure.
//!
//! More of it.

use std::fmt;

pub use crate::unit::{Metre, Unit};

mod unit;

/// How many sides may be.
pub const SIDES_MAX: usize = 12;

static NAMES: [&str; 3] = [
    "triangle",
    "square",
    "pentagon",
];

/// A shape.
///
/// With sides.
#[derive(Clone, Debug)]
pub struct Shape<T> {
    /// Their lengths.
    /// In metres.
    pub sides: Vec<T>,
    // Not for others.
    name: String, // a name
}

pub struct Point(pub f64, pub f64);

pub enum Kind {
    /// Equal sides.
    Regular,
    Other {
        /// Why it is not.
        reason: String,
        code: u32,
    },
}

/// Has an area.
pub trait Area {
    type Output;
    /// The area.
    fn area(&self) -> f64;
    fn is_empty(&self) -> bool {
        self.area() == 0.0
    }
}

impl<T: Into<f64> + Copy> Shape<T> {
    /// Makes one.
    pub fn new(
        sides: Vec<T>,
        name: &str,
    ) -> Self
    where
        T: fmt::Debug,
    {
        let _ = "{ not a body }";
        Self { sides, name: name.to_owned() }
    }

    /// Not for others.
    fn private(&self) -> Option<&T> {
        self.sides.first()
    }
}

impl<T> fmt::Display for Shape<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

macro_rules! shape {
    ($name:ident) => {
        struct $name;
    };
}

shape!(Extra);

pub mod inner {
    /// Deep.
    pub async fn deep() -> u8 {
        7
    }
}

#[cfg(test)]
mod checks {
    #[test]
    fn works() {
        assert_eq!(1 + 1, 2);
    }
}

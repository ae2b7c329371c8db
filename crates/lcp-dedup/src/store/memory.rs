//! A store that ends with its process.

use std::collections::HashMap;
use std::fmt;

use super::backend::{Backend, Found, Name, Put};
use super::error::Result;
use super::verified::Store;

/// Bodies in memory.
#[derive(Clone, Default)]
pub struct Memory {
    bodies: HashMap<Name, Vec<u8>>,
}

impl Store<Memory> {
    /// An empty store in memory.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(Memory::default())
    }
}

impl Backend for Memory {
    fn has(&self, names: &[Name]) -> Result<Vec<bool>> {
        Ok(names.iter().map(|name| self.bodies.contains_key(name)).collect())
    }

    fn get(&self, names: &[Name]) -> Result<Vec<Found>> {
        let found = |name| self.bodies.get(name).cloned().map_or(Found::Nothing, Found::Body);
        Ok(names.iter().map(found).collect())
    }

    fn put(&mut self, bodies: &[(Name, &[u8])], put: Put) -> Result<()> {
        for &(name, body) in bodies {
            if put == Put::Replace || !self.bodies.contains_key(&name) {
                self.bodies.insert(name, body.to_vec());
            }
        }
        Ok(())
    }
}

/// How many bodies there are, never what they say.
impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("bodies", &self.bodies.len()).finish()
    }
}

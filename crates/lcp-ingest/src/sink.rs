//! The receiver of the blocks of a pack.

use lcp_types::Block;

use crate::error::{Error, Result};

/// A receiver of the blocks of a pack, in order. A list of blocks collects them.
///
/// The first block may be the file tree, which is known only after all files have been read. Its
/// place is reserved first, because annotations refer to blocks by index.
pub trait BlockSink: Send {
    /// The error that stops ingestion.
    type Error: From<Error> + Send;

    /// Reserves the first block for the file tree. `expected` is the tree if all files are as they
    /// were found, and none of them is a pack.
    ///
    /// # Errors
    ///
    /// Returns an error if the block cannot be stored.
    fn reserve_tree(&mut self, expected: Block<'static>) -> Result<(), Self::Error>;

    /// Adds a block.
    ///
    /// # Errors
    ///
    /// Returns an error if the block cannot be stored.
    fn add(&mut self, block: Block<'static>) -> Result<(), Self::Error>;

    /// Sets the file tree.
    ///
    /// # Errors
    ///
    /// Returns an error if the block cannot be stored.
    fn set_tree(&mut self, tree: Block<'static>) -> Result<(), Self::Error>;

    /// Removes the reserved block, because the pack has no tree. No other block was added before.
    ///
    /// # Errors
    ///
    /// Returns an error if the block cannot be removed.
    fn cancel_tree(&mut self) -> Result<(), Self::Error>;
}

impl BlockSink for Vec<Block<'static>> {
    type Error = Error;

    fn reserve_tree(&mut self, expected: Block<'static>) -> Result<()> {
        self.push(expected);
        Ok(())
    }

    fn add(&mut self, block: Block<'static>) -> Result<()> {
        self.push(block);
        Ok(())
    }

    fn set_tree(&mut self, tree: Block<'static>) -> Result<()> {
        if let Some(first) = self.first_mut() {
            *first = tree;
        }
        Ok(())
    }

    fn cancel_tree(&mut self) -> Result<()> {
        self.clear();
        Ok(())
    }
}

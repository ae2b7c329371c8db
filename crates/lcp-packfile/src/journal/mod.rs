//! Packs that change where they lie, and never half (RFC 0003 §8): the journal beside a
//! pack, how it is written, and how what it says is undone.

mod storage;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use lcp_types::wire::{HEADER_BYTES, HEADER_FLAGS_OFFSET, HEADER_INDEX};

use crate::recover::is_sound;
pub use storage::{LockResult, PackFile, Storage, lock_shared, read, remove};

/// What journals of every version begin with.
const JOURNAL: [u8; 7] = *b"LCPJRNL";

/// What a journal of this version begins with.
const MAGIC: [u8; 8] = *b"LCPJRNL1";

/// Bytes before the old tail, and of the checksum behind it.
const HEAD_BYTES: usize = 48;
const CHECK_BYTES: usize = 4;

/// What is needed to make the old pack of one whose tail was overwritten, or is being.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// Bytes of the old pack.
    old_len: u64,
    /// Where the tail begins: where END began.
    end_offset: u64,
    /// Bytes of the new pack.
    new_len: u64,
    /// The first bytes of the old pack.
    header: [u8; HEADER_BYTES],
    /// CRC-32C of what stands between header and tail, in both.
    prefix_checksum: u32,
    /// The old pack from `end_offset` on.
    tail: Vec<u8>,
}

/// Where the journal of a pack is.
pub fn journal_path(pack: &Path) -> PathBuf {
    let mut path = pack.as_os_str().to_owned();
    path.push(".lcp-journal");
    path.into()
}

impl Journal {
    /// The journal of what makes `new_len` bytes of `old` by another tail from `end_offset`
    /// on; `None` if there is no such place behind the header.
    pub fn new(old: &[u8], end_offset: u64, new_len: u64) -> Option<Self> {
        let end = usize::try_from(end_offset).ok()?;
        let (kept, tail) = old.split_at_checked(end)?;
        let (header, kept) = kept.split_first_chunk()?;
        Some(Self {
            old_len: old.len() as u64,
            end_offset,
            new_len,
            header: *header,
            prefix_checksum: crc32c::crc32c(kept),
            tail: tail.to_vec(),
        })
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + self.tail.len() + CHECK_BYTES);
        bytes.extend_from_slice(&MAGIC);
        for number in [self.old_len, self.end_offset, self.new_len] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.header);
        bytes.extend_from_slice(&self.prefix_checksum.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&self.tail);
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
        bytes
    }

    /// Reads a journal; `None` if it is not whole, or none of this version.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (head, tail) = split_checksum(bytes)?;
        if head[..MAGIC.len()] != MAGIC {
            return None;
        }
        let long = |at: usize| {
            let bytes = head.get(at..).and_then(|rest| rest.first_chunk());
            bytes.map(|bytes| u64::from_le_bytes(*bytes))
        };
        let journal = Self {
            old_len: long(8)?,
            end_offset: long(16)?,
            new_len: long(24)?,
            header: *head.get(32..)?.first_chunk()?,
            prefix_checksum: u32::from_le_bytes(*head.get(40..)?.first_chunk()?),
            tail: tail.to_vec(),
        };
        let len = journal.end_offset.checked_add(tail.len() as u64)?;
        (len == journal.old_len && journal.end_offset >= HEADER_BYTES as u64).then_some(journal)
    }

    /// Returns whether it can be of this pack: the old one, the new one, or one between them. A
    /// pack that took the place of the one that was written to is none of these.
    pub fn is_of_pack(&self, pack: &[u8]) -> bool {
        let len = pack.len() as u64;
        let lengths = self.old_len.min(self.new_len)..=self.old_len.max(self.new_len);
        let end = usize::try_from(self.end_offset).unwrap_or(usize::MAX);
        let Some((header, kept)) = pack.get(..end).and_then(|pack| pack.split_first_chunk()) else {
            return false;
        };
        let plain = |mut header: [u8; HEADER_BYTES]| {
            header[HEADER_FLAGS_OFFSET] &= !HEADER_INDEX;
            header
        };
        lengths.contains(&len)
            && plain(*header) == plain(self.header)
            && crc32c::crc32c(kept) == self.prefix_checksum
    }

    /// Returns the old pack, given one that [belongs to it](Self::is_of_pack).
    pub fn restore(&self, mut pack: Vec<u8>) -> Vec<u8> {
        pack.truncate(usize::try_from(self.end_offset).unwrap_or(usize::MAX));
        pack.extend_from_slice(&self.tail);
        if let Some(header) = pack.first_chunk_mut() {
            *header = self.header;
        }
        pack
    }
}

/// Head and tail of a journal whose checksum holds.
fn split_checksum(bytes: &[u8]) -> Option<(&[u8; HEAD_BYTES], &[u8])> {
    let (said, check) = bytes.split_last_chunk::<CHECK_BYTES>()?;
    let parts = said.split_first_chunk::<HEAD_BYTES>()?;
    (u32::from_le_bytes(*check) == crc32c::crc32c(said)).then_some(parts)
}

/// Returns whether a crash may have left these bytes of a journal: cut off, or zeros.
fn may_be_begun(bytes: &[u8]) -> bool {
    let is_name = bytes.iter().zip(&MAGIC).all(|(byte, of)| byte == of || *byte == 0);
    is_name && split_checksum(bytes).is_none()
}

/// What a journal beside a pack means for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalState {
    /// There is none.
    Absent,
    /// It is not whole, and the pack is: nothing was done yet, or all was.
    Torn,
    /// It is damaged and the pack is, too, or it is of a newer version, or no journal.
    Unknown,
    /// The pack was to be changed, and is as it was before.
    RolledBack,
    /// It is of a pack that is not there any more.
    Foreign,
}

impl JournalState {
    /// What readers of the pack are told, where there is something.
    pub fn message(self) -> Option<&'static str> {
        match self {
            Self::Absent | Self::Torn => None,
            Self::RolledBack => Some(
                "an append was interrupted: the pack is read as it was before; `lcp append` or \
                 `lcp recover` tidies up",
            ),
            Self::Unknown => Some(
                "the journal beside the pack cannot be read (it is damaged, of a newer version, or \
                 something else): the pack is read as it stands",
            ),
            Self::Foreign => Some("the journal beside the pack is of another one: it is not used"),
        }
    }
}

/// Returns the meaning of a journal for its pack, and the journal if it is to be undone.
fn meaning(pack: &[u8], journal: &[u8]) -> (JournalState, Option<Journal>) {
    match Journal::from_bytes(journal) {
        Some(journal) if journal.is_of_pack(pack) => (JournalState::RolledBack, Some(journal)),
        Some(_) => (JournalState::Foreign, None),
        // A pack is not touched before its journal is whole. One of a pack that was touched,
        // and was damaged since, may be all that is left of the old pack.
        None if may_be_begun(journal) && is_sound(pack) => (JournalState::Torn, None),
        None => (JournalState::Unknown, None),
    }
}

/// The pack that a reader sees: where there is a journal, as it was before.
pub fn rolled_back(pack: Vec<u8>, journal: Option<&[u8]>) -> (Vec<u8>, JournalState) {
    let Some(journal) = journal else { return (pack, JournalState::Absent) };
    match meaning(&pack, journal) {
        (state, Some(journal)) => (journal.restore(pack), state),
        (state, None) => (pack, state),
    }
}

/// Restores the pack after an interruption and removes its journal, if it is readable.
///
/// # Errors
///
/// Those of the disk; it can be tried again.
pub fn roll_back(storage: &mut dyn Storage) -> io::Result<JournalState> {
    let Some(journal) = storage.journal()? else { return Ok(JournalState::Absent) };
    let (state, journal) = meaning(&storage.pack()?, &journal);
    match journal {
        Some(journal) => restore(storage, &journal)?,
        None if state == JournalState::Torn => remove_journal(storage)?,
        None => {}
    }
    Ok(state)
}

/// Replaces the tail of `old` from `end_offset` on, so that a crash leaves either pack.
///
/// # Errors
///
/// Those of the storage, and what cannot be: the two must be the same before `end_offset`, but
/// for the flag that announces an index.
pub fn replace_tail(
    storage: &mut dyn Storage,
    old: &[u8],
    new: &[u8],
    end_offset: u64,
) -> io::Result<()> {
    let (at, len) = (usize::try_from(end_offset).unwrap_or(usize::MAX), new.len() as u64);
    let journal = Journal::new(old, end_offset, len).filter(|journal| journal.is_of_pack(new));
    let (Some(journal), Some(tail)) = (journal, new.get(at..)) else {
        return Err(io::Error::other("the packs differ before their ends"));
    };
    let prepared = storage
        .write_journal(&journal.to_bytes())
        .and_then(|()| storage.sync_journal())
        .and_then(|()| storage.sync_folder());
    if let Err(error) = prepared {
        // The pack is as it was, whatever becomes of the journal. One that was there already is
        // somebody else's.
        if error.kind() != io::ErrorKind::AlreadyExists {
            let _ = remove_journal(storage);
        }
        return Err(error);
    }
    let flags = (old.get(HEADER_FLAGS_OFFSET), new.get(HEADER_FLAGS_OFFSET..=HEADER_FLAGS_OFFSET));
    let changed = flags.1.filter(|new| flags.0 != new.first());
    let written = changed
        .map_or(Ok(()), |flags| storage.write(HEADER_FLAGS_OFFSET as u64, flags))
        .and_then(|()| storage.write(end_offset, tail))
        .and_then(|()| storage.set_len(len))
        .and_then(|()| storage.sync())
        .and_then(|()| storage.remove_journal());
    if let Err(error) = written {
        // If this fails, too, the journal stays, and whoever opens the pack tries again.
        let _ = restore(storage, &journal);
        return Err(error);
    }
    // A crash that brings the journal back brings back the old pack, as a whole.
    let _ = storage.sync_folder();
    Ok(())
}

fn restore(storage: &mut dyn Storage, journal: &Journal) -> io::Result<()> {
    storage.write(0, &journal.header)?;
    storage.write(journal.end_offset, &journal.tail)?;
    storage.set_len(journal.old_len)?;
    storage.sync()?;
    remove_journal(storage)
}

fn remove_journal(storage: &mut dyn Storage) -> io::Result<()> {
    storage.remove_journal()?;
    storage.sync_folder()
}

//! Crash-safe modification of packs in place (RFC 0003 §8). Before a pack is modified, its old tail
//! is written to a journal next to it. After a crash, the journal restores the old pack.

mod storage;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use lcp_decoder::ReadAt;
use lcp_types::wire::{HEADER_BYTES, HEADER_FLAGS_OFFSET, HEADER_INDEX};

use crate::recover::is_sound;
pub use storage::{LockResult, PackFile, Storage, lock_shared, read, remove};

/// The first bytes of journals of every version.
const JOURNAL: [u8; 7] = *b"LCPJRNL";

/// The first bytes of journals of this version.
const MAGIC: [u8; 8] = *b"LCPJRNL1";

/// The size in bytes of the header before the old tail, and of the checksum after it.
const HEAD_BYTES: usize = 48;
const CHECK_BYTES: usize = 4;

/// The number of bytes of a pack that are read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// The data for restoring an old pack while its tail is being overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// The size of the old pack in bytes.
    old_len: u64,
    /// The offset of the tail, which is the offset of END in the old pack.
    end_offset: u64,
    /// The size of the new pack in bytes.
    new_len: u64,
    /// The header of the old pack.
    header: [u8; HEADER_BYTES],
    /// The CRC-32C of the bytes between header and tail, which are equal in both packs.
    prefix_checksum: u32,
    /// The bytes of the old pack from `end_offset` on.
    tail: Vec<u8>,
}

/// Returns the path of the journal for this pack.
pub fn journal_path(pack: &Path) -> PathBuf {
    let mut path = pack.as_os_str().to_owned();
    path.push(".lcp-journal");
    path.into()
}

impl Journal {
    /// Creates the journal for replacing the tail of `old` from `end_offset` on, which results in a
    /// pack of `new_len` bytes. Returns `None` if `end_offset` is within the header or beyond the
    /// end of `old`.
    ///
    /// # Errors
    ///
    /// Returns an error if `old` cannot be read.
    pub fn new<S: ReadAt + ?Sized>(
        old: &S,
        end_offset: u64,
        new_len: u64,
    ) -> io::Result<Option<Self>> {
        let (start, old_len) = (HEADER_BYTES as u64, old.size()?);
        if !(start..=old_len).contains(&end_offset) {
            return Ok(None);
        }
        let read = |range| -> io::Result<Vec<u8>> {
            let read = old.read(std::slice::from_ref(&range))?.into_iter().next();
            Ok(read.unwrap_or_default().into_owned())
        };
        let header = *read(0..start)?.first_chunk().ok_or(io::ErrorKind::UnexpectedEof)?;
        let tail = if end_offset == old_len { Vec::new() } else { read(end_offset..old_len)? };
        let mut prefix_checksum = 0;
        for at in (start..end_offset).step_by(CHUNK_BYTES) {
            let chunk = at..end_offset.min(at + CHUNK_BYTES as u64);
            for bytes in old.read(std::slice::from_ref(&chunk))? {
                prefix_checksum = crc32c::crc32c_append(prefix_checksum, &bytes);
            }
        }
        Ok(Some(Self { old_len, end_offset, new_len, header, prefix_checksum, tail }))
    }

    /// Encodes the journal.
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

    /// Decodes a journal. Returns `None` if the journal is incomplete, damaged, or of another
    /// version.
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

    /// Returns whether the journal can belong to this pack: to its old state, its new state or one
    /// between them. A different pack that has replaced the file does not match.
    pub fn is_of_pack(&self, pack: &[u8]) -> bool {
        let len = pack.len() as u64;
        let lengths = self.old_len.min(self.new_len)..=self.old_len.max(self.new_len);
        let end = usize::try_from(self.end_offset).unwrap_or(usize::MAX);
        let Some((header, kept)) = pack.get(..end).and_then(|pack| pack.split_first_chunk()) else {
            return false;
        };
        lengths.contains(&len)
            && without_index_flag(*header) == without_index_flag(self.header)
            && crc32c::crc32c(kept) == self.prefix_checksum
    }

    /// Restores the old pack from a pack that [belongs to this journal](Self::is_of_pack).
    pub fn restore(&self, mut pack: Vec<u8>) -> Vec<u8> {
        pack.truncate(usize::try_from(self.end_offset).unwrap_or(usize::MAX));
        pack.extend_from_slice(&self.tail);
        if let Some(header) = pack.first_chunk_mut() {
            *header = self.header;
        }
        pack
    }
}

/// Splits a journal into header and tail. Returns `None` if the checksum is wrong.
fn split_checksum(bytes: &[u8]) -> Option<(&[u8; HEAD_BYTES], &[u8])> {
    let (said, check) = bytes.split_last_chunk::<CHECK_BYTES>()?;
    let parts = said.split_first_chunk::<HEAD_BYTES>()?;
    (u32::from_le_bytes(*check) == crc32c::crc32c(said)).then_some(parts)
}

/// Returns whether a crash during the creation of a journal may have left these bytes, with a part
/// missing or zero.
fn may_be_begun(bytes: &[u8]) -> bool {
    let is_name = bytes.iter().zip(&MAGIC).all(|(byte, of)| byte == of || *byte == 0);
    is_name && split_checksum(bytes).is_none()
}

/// The state of a pack according to its journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalState {
    /// The pack does not have a journal.
    Absent,
    /// The journal is incomplete or damaged, but the pack is undamaged. The modification has not
    /// begun, or it is complete.
    Torn,
    /// The journal is damaged and so is the pack, or the file is of a newer version or not a
    /// journal.
    Unknown,
    /// A modification was interrupted, and the pack is read in its old state.
    RolledBack,
    /// The journal belongs to a different pack that is no longer there.
    Foreign,
}

impl JournalState {
    /// Returns the warning for readers of the pack, if there is one.
    pub fn message(self) -> Option<&'static str> {
        match self {
            Self::Absent | Self::Torn => None,
            Self::RolledBack => Some(
                "an append was interrupted; using the old pack (run `lcp append` or `lcp recover` \
                 to restore it)",
            ),
            Self::Unknown => Some(
                "cannot read the journal of the pack (it is damaged, from a newer version, or not \
                 a journal); using the pack unchanged",
            ),
            Self::Foreign => Some("the journal belongs to a different pack; ignored it"),
        }
    }
}

fn without_index_flag(mut header: [u8; HEADER_BYTES]) -> [u8; HEADER_BYTES] {
    header[HEADER_FLAGS_OFFSET] &= !HEADER_INDEX;
    header
}

/// Returns the state of a pack with this journal. It includes the journal if the pack must be
/// restored.
fn meaning(pack: &[u8], journal: &[u8]) -> (JournalState, Option<Journal>) {
    match Journal::from_bytes(journal) {
        Some(journal) if journal.is_of_pack(pack) => (JournalState::RolledBack, Some(journal)),
        Some(_) => (JournalState::Foreign, None),
        // A pack is modified only after its journal is complete. If both are damaged, the pack was
        // modified before the journal was damaged, and the journal may be the only remainder of the
        // old pack.
        None if may_be_begun(journal) && is_sound(pack) => (JournalState::Torn, None),
        None => (JournalState::Unknown, None),
    }
}

/// Returns the pack as readers see it. If the journal belongs to the pack, this is the old pack.
pub fn rolled_back(pack: Vec<u8>, journal: Option<&[u8]>) -> (Vec<u8>, JournalState) {
    let Some(journal) = journal else { return (pack, JournalState::Absent) };
    match meaning(&pack, journal) {
        (state, Some(journal)) => (journal.restore(pack), state),
        (state, None) => (pack, state),
    }
}

/// Restores the pack after an interruption and removes its journal, if the journal is readable.
///
/// # Errors
///
/// Returns the error of the storage. The call can be repeated.
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

/// A change of the end of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TailChange {
    /// The new header. It differs at most in the flag that announces an index.
    pub header: [u8; HEADER_BYTES],
    /// The offset from which on the bytes are replaced.
    pub end_offset: u64,
    /// The CRC-32C of the bytes between header and tail. If a program without a lock has changed
    /// them, nothing is written.
    pub prefix_checksum: u32,
    /// The new bytes from there on.
    pub tail: Vec<u8>,
}

impl TailChange {
    /// Returns the changed pack. `old` is the whole pack.
    #[must_use]
    pub fn apply(&self, old: &[u8]) -> Vec<u8> {
        let end = usize::try_from(self.end_offset).unwrap_or(usize::MAX);
        let frames = old.get(HEADER_BYTES..end).unwrap_or_default();
        [&self.header, frames, &self.tail].concat()
    }
}

/// Replaces the tail of the pack. After a crash, the pack is either the old or the new one.
///
/// # Errors
///
/// Returns the error of the storage. Also returns an error if the bytes before the tail are not those
/// that the change is for, or if the headers differ in more than the flag that announces an index.
pub fn replace_tail(storage: &mut dyn Storage, change: &TailChange) -> io::Result<()> {
    let TailChange { header, end_offset, prefix_checksum, tail } = change;
    let len = end_offset + tail.len() as u64;
    let journal = Journal::new(storage.source(), *end_offset, len)?;
    let journal = journal.filter(|journal| {
        without_index_flag(journal.header) == without_index_flag(*header)
            && journal.prefix_checksum == *prefix_checksum
    });
    let Some(journal) = journal else {
        return Err(io::Error::other("another program has changed the pack"));
    };
    let prepared = storage
        .write_journal(&journal.to_bytes())
        .and_then(|()| storage.sync_journal())
        .and_then(|()| storage.sync_folder());
    if let Err(error) = prepared {
        // The pack is unchanged, with or without the journal. An existing journal must not be
        // removed, because another process wrote it.
        if error.kind() != io::ErrorKind::AlreadyExists {
            let _ = remove_journal(storage);
        }
        return Err(error);
    }
    let flags = HEADER_FLAGS_OFFSET..=HEADER_FLAGS_OFFSET;
    let changed = Some(&header[flags]).filter(|_| journal.header != *header);
    let written = changed
        .map_or(Ok(()), |flags| storage.write(HEADER_FLAGS_OFFSET as u64, flags))
        .and_then(|()| storage.write(*end_offset, tail))
        .and_then(|()| storage.set_len(len))
        .and_then(|()| storage.sync())
        .and_then(|()| storage.remove_journal());
    if let Err(error) = written {
        // If this fails as well, the journal remains, and the next process that opens the pack
        // tries again.
        let _ = restore(storage, &journal);
        return Err(error);
    }
    // If a crash restores the journal file, the complete old pack is restored.
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

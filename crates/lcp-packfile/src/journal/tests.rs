//! Checks that every state that a crash can leave is the old pack or the new one.

use std::collections::BTreeSet;

use lcp_decoder::DecodeOptions;
use lcp_encoder::{EncodeOptions, encode};
use lcp_types::wire::END_FRAME;
use lcp_types::{Block, Role};

use super::*;

/// An operation on a disk. It becomes durable at the next sync or at any time before, and possibly
/// in part.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Done {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Sync,
    WriteJournal(Vec<u8>),
    SyncJournal,
    SyncFolder,
    RemoveJournal,
}

/// The contents of a disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    pack: Vec<u8>,
    journal: Option<Vec<u8>>,
}

impl State {
    fn apply(&mut self, done: &Done) {
        match done {
            Done::Write(offset, bytes) => {
                let start = usize::try_from(*offset).unwrap();
                let end = start + bytes.len();
                self.pack.resize(self.pack.len().max(end), 0);
                self.pack[start..end].copy_from_slice(bytes);
            }
            Done::SetLen(len) => self.pack.resize(usize::try_from(*len).unwrap(), 0),
            Done::WriteJournal(bytes) => self.journal = Some(bytes.clone()),
            Done::RemoveJournal => self.journal = None,
            Done::Sync | Done::SyncJournal | Done::SyncFolder => {}
        }
    }
}

/// A disk that records its operations. One operation can be made to fail.
struct Noted {
    state: State,
    done: Vec<Done>,
    fails_at: Option<usize>,
}

impl Noted {
    fn new(state: State) -> Self {
        Self { state, done: Vec::new(), fails_at: None }
    }

    fn note(&mut self, done: Done) -> io::Result<()> {
        if self.fails_at == Some(self.done.len()) {
            self.fails_at = None;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.state.apply(&done);
        self.done.push(done);
        Ok(())
    }
}

impl Storage for Noted {
    fn source(&self) -> &dyn ReadAt {
        &self.state.pack
    }
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.note(Done::Write(offset, bytes.to_vec()))
    }
    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.note(Done::SetLen(len))
    }
    fn sync(&mut self) -> io::Result<()> {
        self.note(Done::Sync)
    }
    fn journal(&mut self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.state.journal.clone())
    }
    fn write_journal(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.note(Done::WriteJournal(bytes.to_vec()))
    }
    fn sync_journal(&mut self) -> io::Result<()> {
        self.note(Done::SyncJournal)
    }
    fn sync_folder(&mut self) -> io::Result<()> {
        self.note(Done::SyncFolder)
    }
    fn remove_journal(&mut self) -> io::Result<()> {
        self.note(Done::RemoveJournal)
    }
}

/// Returns all states of a disk after a crash that follows the operations `done`.
fn crashed(before: &State, done: &[Done]) -> BTreeSet<State> {
    let mut states = BTreeSet::new();
    for pack in packs(&before.pack, done) {
        for journal in journals(before.journal.as_ref(), done) {
            states.insert(State { pack: pack.clone(), journal });
        }
    }
    states
}

/// Returns all states of the pack. Synced operations are complete. Any of the other operations may
/// be complete, in any order, and one write may be partial: cut off at any byte, or without its
/// beginning.
fn packs(before: &[u8], done: &[Done]) -> BTreeSet<Vec<u8>> {
    let is_of_pack = |done: &&Done| matches!(done, Done::Write(..) | Done::SetLen(_));
    let synced = done.iter().rposition(|done| *done == Done::Sync).map_or(0, |at| at + 1);
    let mut sure = State { pack: before.to_vec(), journal: None };
    done[..synced].iter().filter(is_of_pack).for_each(|done| sure.apply(done));
    let open: Vec<_> = done[synced..].iter().filter(is_of_pack).collect();
    let mut packs = BTreeSet::new();
    for order in orders(open.len()) {
        for chosen in 0..1u32 << open.len() {
            let taken = || order.iter().filter(|at| chosen >> **at & 1 == 1).map(|at| open[*at]);
            let mut state = sure.clone();
            taken().for_each(|done| state.apply(done));
            packs.insert(state.pack);
            for (torn, write) in taken().enumerate() {
                let Done::Write(offset, bytes) = write else { continue };
                for cut in 0..bytes.len() {
                    let parts = [
                        Done::Write(*offset, bytes[..cut].to_vec()),
                        Done::Write(offset + cut as u64, bytes[cut..].to_vec()),
                    ];
                    for part in &parts {
                        let mut state = sure.clone();
                        for (at, done) in taken().enumerate() {
                            state.apply(if at == torn { part } else { done });
                        }
                        packs.insert(state.pack);
                    }
                }
            }
        }
    }
    packs
}

/// Returns all permutations of `count` items.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut orders = Vec::new();
    for order in self::orders(count - 1) {
        for at in 0..count {
            let mut order = order.clone();
            order.insert(at, count - 1);
            orders.push(order);
        }
    }
    orders
}

/// Returns all states of the journal. Before the directory is synced, the file may exist or not.
/// Before its bytes are synced, it may be cut off or partly zero.
fn journals(before: Option<&Vec<u8>>, done: &[Done]) -> BTreeSet<Option<Vec<u8>>> {
    // The state before the first operation is durable.
    let (mut names, mut contents) = (BTreeSet::from([before.cloned()]), None);
    for done in done {
        match done {
            Done::WriteJournal(bytes) => {
                names.extend((0..=bytes.len()).map(|cut| Some(bytes[..cut].to_vec())));
                names.extend((0..bytes.len()).map(|cut| {
                    let empty = vec![0; cut];
                    Some([&empty, &bytes[cut..]].concat())
                }));
                names.insert(Some(vec![0; bytes.len()]));
                contents = Some(bytes.clone());
            }
            Done::SyncJournal => names.retain(|name| name.is_none() || *name == contents),
            Done::SyncFolder => names.retain(|name| name.is_some() == contents.is_some()),
            Done::RemoveJournal => {
                names.insert(None);
                contents = None;
            }
            _ => {}
        }
    }
    names
}

/// Returns old and new packs with all relations of their lengths. In the last pair the header flags
/// differ.
fn cases() -> Vec<(Vec<u8>, Vec<u8>, u64)> {
    let pack = |texts: &[&str], index| {
        let turn = |text: &&str| Block::conversation(Role::User, text.to_string());
        let options = EncodeOptions { index, ..EncodeOptions::default() };
        encode(&texts.iter().map(turn).collect::<Vec<_>>(), options).unwrap()
    };
    let kept = pack(&["a"], false).len() - END_FRAME.len();
    let cases = [
        (pack(&["a"], true), pack(&["a", "b"], true)),
        (pack(&["a", "b"], true), pack(&["a"], true)),
        (pack(&["a", "b"], true), pack(&["a", "c"], true)),
        (pack(&["a"], false), pack(&["a", "b"], true)),
    ];
    cases.map(|(old, new)| (old, new, kept as u64)).to_vec()
}

/// Returns the change that results in `new`.
fn change(new: &[u8], end_offset: u64) -> TailChange {
    let (header, rest) = new.split_first_chunk().unwrap();
    let (prefix, tail) = rest.split_at(usize::try_from(end_offset).unwrap() - header.len());
    let prefix_checksum = crc32c::crc32c(prefix);
    TailChange { header: *header, end_offset, prefix_checksum, tail: tail.to_vec() }
}

#[test]
fn crash_leaves_the_old_or_the_new_pack() {
    for (old, new, end_offset) in cases() {
        let before = State { pack: old.clone(), journal: None };
        let mut disk = Noted::new(before.clone());
        replace_tail(&mut disk, &change(&new, end_offset)).unwrap();
        assert_eq!(disk.state, State { pack: new.clone(), journal: None });
        assert_eq!(disk.done.last(), Some(&Done::SyncFolder));
        let mut both = [false; 2];
        for count in 0..=disk.done.len() {
            for state in crashed(&before, &disk.done[..count]) {
                let read = rolled_back(state.pack.clone(), state.journal.as_deref()).0;
                assert!(read == old || read == new, "{count}: {state:?}");
                both[usize::from(read == new)] = true;
                let mut again = Noted::new(state.clone());
                roll_back(&mut again).unwrap();
                assert_eq!(again.state, State { pack: read.clone(), journal: None });
            }
        }
        assert_eq!(both, [true; 2]);
        let last = crashed(&before, &disk.done);
        assert_eq!(last, BTreeSet::from([State { pack: new, journal: None }]));
    }
}

/// Checks a crash during the recovery from another crash.
#[test]
fn interrupted_rollback_restores_the_old_pack() {
    for (old, new, end_offset) in cases() {
        let mut disk = Noted::new(State { pack: old.clone(), journal: None });
        replace_tail(&mut disk, &change(&new, end_offset)).unwrap();
        let removed = disk.done.iter().position(|done| *done == Done::RemoveJournal).unwrap();
        let journal = disk.done.iter().find_map(|done| match done {
            Done::WriteJournal(bytes) => Some(bytes.clone()),
            _ => None,
        });
        let first: Vec<_> = packs(&old, &disk.done[..removed - 1]).into_iter().collect();
        // A sample of the states is enough here.
        for pack in first.iter().step_by(first.len() / 16).chain([&old, &new]) {
            let left = State { pack: pack.clone(), journal: journal.clone() };
            let mut again = Noted::new(left.clone());
            assert_eq!(roll_back(&mut again).unwrap(), JournalState::RolledBack);
            for count in 0..=again.done.len() {
                for state in crashed(&left, &again.done[..count]) {
                    let read = rolled_back(state.pack.clone(), state.journal.as_deref()).0;
                    assert_eq!(read, old, "{count}: {state:?}");
                }
            }
        }
    }
}

#[test]
fn failed_replace_is_undone() {
    for (old, new, end_offset) in cases() {
        let before = State { pack: old.clone(), journal: None };
        for at in 0.. {
            let mut disk = Noted { fails_at: Some(at), ..Noted::new(before.clone()) };
            let done = replace_tail(&mut disk, &change(&new, end_offset));
            if disk.fails_at.is_some() {
                assert!(at >= 7, "{at}");
                break;
            }
            if disk.done.len() == at && done.is_ok() {
                // If only the last sync fails, the operation is complete and succeeds.
                assert_eq!(disk.state.pack, new);
                continue;
            }
            assert_eq!(done.unwrap_err().kind(), io::ErrorKind::StorageFull);
            assert_eq!(disk.state, before, "{at}");
        }
    }
}

#[test]
fn foreign_journal_is_left_unchanged() {
    let (old, new, end_offset) = cases().remove(0);
    let journal = Journal::new(&old, end_offset, new.len() as u64).unwrap().unwrap();
    assert_eq!(Journal::from_bytes(&journal.to_bytes()).as_ref(), Some(&journal));
    let end = usize::try_from(end_offset).unwrap();
    let other = |at: usize| {
        let mut other = old.clone();
        other[at] ^= 1;
        other
    };
    let longer = [&new[..], b"!"].concat();
    let cut = old[..end - 1].to_vec();
    for pack in [other(0), other(8), other(end - 1), longer, cut, Vec::new()] {
        let state = State { pack: pack.clone(), journal: Some(journal.to_bytes()) };
        let mut disk = Noted::new(state.clone());
        assert_eq!(roll_back(&mut disk).unwrap(), JournalState::Foreign);
        assert_eq!(disk.state, state);
        assert_eq!(
            rolled_back(pack.clone(), Some(&journal.to_bytes())),
            (pack, JournalState::Foreign)
        );
    }
    // The header differs in more than the index; a block differs.
    for at in [0, 8] {
        let mut disk = Noted::new(State { pack: old.clone(), journal: None });
        assert!(replace_tail(&mut disk, &change(&other(at), end_offset)).is_err());
        assert_eq!(disk.done, []);
    }
}

/// Returns the bytes of the journal for an append.
fn written(old: &[u8], new: &[u8], end_offset: u64) -> Vec<u8> {
    Journal::new(old, end_offset, new.len() as u64).unwrap().unwrap().to_bytes()
}

/// Checks that a journal of a newer version and a file that is not a journal are not removed.
#[test]
fn unreadable_journal_is_not_removed() {
    let (old, new, end_offset) = cases().remove(0);
    let ours = written(&old, &new, end_offset);
    let mut newer = ours.clone();
    newer[7] = b'2';
    let mut sealed = newer[..newer.len() - CHECK_BYTES].to_vec();
    sealed.extend(crc32c::crc32c(&sealed).to_le_bytes());
    // A complete journal of this version with impossible values.
    let mut odd = ours[..ours.len() - CHECK_BYTES].to_vec();
    odd[8] ^= 1;
    odd.extend(crc32c::crc32c(&odd).to_le_bytes());
    for journal in [&newer, &sealed, &odd, &newer[..8].to_vec(), &b"notes".to_vec()] {
        for pack in [&old, &new, &new[..new.len() - 1].to_vec()] {
            let state = State { pack: pack.clone(), journal: Some(journal.clone()) };
            let mut disk = Noted::new(state.clone());
            assert_eq!(roll_back(&mut disk).unwrap(), JournalState::Unknown);
            assert_eq!((disk.state, disk.done.len()), (state, 0));
            let read = rolled_back(pack.clone(), Some(journal));
            assert_eq!(read, (pack.clone(), JournalState::Unknown));
        }
    }
}

/// Checks that a journal damaged after its use is removed only if the pack is undamaged.
#[test]
fn damaged_journal_remains_if_the_pack_is_damaged() {
    for (old, new, end_offset) in cases() {
        let journal = written(&old, &new, end_offset);
        let mut disk = Noted::new(State { pack: old.clone(), journal: None });
        replace_tail(&mut disk, &change(&new, end_offset)).unwrap();
        let removed = disk.done.iter().position(|done| *done == Done::RemoveJournal).unwrap();
        let packs = packs(&old, &disk.done[..removed - 1]);
        for (at, pack) in packs.iter().enumerate() {
            let mut damaged = journal.clone();
            let place = at % damaged.len();
            damaged[place] ^= 1 << (at % 8);
            let state = State { pack: pack.clone(), journal: Some(damaged) };
            let mut disk = Noted::new(state.clone());
            let beside = roll_back(&mut disk).unwrap();
            if is_sound(pack) {
                // The new pack may be present without its index.
                let blocks =
                    |pack| lcp_decoder::decode(pack, DecodeOptions::default()).unwrap().blocks;
                assert!([&old, &new].iter().any(|of| blocks(of) == blocks(pack)));
                let expected =
                    if place < MAGIC.len() { JournalState::Unknown } else { JournalState::Torn };
                assert_eq!(beside, expected, "{place}");
            } else {
                assert_eq!((beside, disk.state), (JournalState::Unknown, state));
            }
        }
    }
}

//! Readers do not block writers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use lcp_continuity::store::{SqliteOptions, SqliteStore, Store};
use lcp_continuity::{Clock, Timestamp};

use crate::support::{begun, folder, message};

/// A time that nothing here exceeds.
const LONG: Duration = Duration::from_secs(60);

/// A clock that, once set, blocks the first caller that reads it.
#[derive(Debug)]
struct Stop {
    set: AtomicBool,
    stopped: Sender<()>,
    go_on: Mutex<Receiver<()>>,
}

impl Clock for Stop {
    fn now(&self) -> Timestamp {
        if self.set.swap(false, Ordering::SeqCst) {
            self.stopped.send(()).expect("somebody waits");
            let go_on = self.go_on.lock().unwrap_or_else(PoisonError::into_inner);
            go_on.recv_timeout(LONG).expect("somebody writes meanwhile");
        }
        Timestamp(1_700_000_000_000)
    }
}

#[test]
fn open_reader_does_not_block_writers() {
    let (_folder, path) = folder();
    let ((stopped, is_stopped), (go_on, goes_on)) = (channel(), channel());
    let clock = Arc::new(Stop { set: false.into(), stopped, go_on: Mutex::new(goes_on) });
    let options = SqliteOptions { clock: clock.clone(), ..SqliteOptions::default() };
    let store = SqliteStore::open_with(&path, &options).expect("a new store");
    let lease = begun(&store, "a");
    let other = SqliteStore::open(&path).expect("the same store");
    clock.set.store(true, Ordering::SeqCst);
    thread::scope(|scope| {
        let reader = scope.spawn(|| store.conversation("a"));
        is_stopped.recv_timeout(LONG).expect("it reads");
        assert_eq!(store.append(&lease, &[message(b"one")], None), Ok(1));
        begun(&other, "b");
        go_on.send(()).expect("it waits");
        reader.join().expect("no panic").expect("a conversation");
    });
    assert_eq!(store.conversation("a").expect("a conversation").messages, 1, "at once");
}

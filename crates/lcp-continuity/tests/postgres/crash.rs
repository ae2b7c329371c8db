//! A server that crashes: acknowledged writes survive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use lcp_continuity::store::Store;
use lcp_testkit::PostgresServer;

use crate::support::{Schema, begun, handoff, message};

const ROUNDS: usize = 3;

const WRITERS: usize = 4;

#[test]
fn acknowledged_handoffs_survive_a_server_crash() {
    let Some(server) = PostgresServer::start_if_there() else { return };
    let schema = Schema::on(&server.url());
    let store = schema.open();
    // By default, this server acknowledges writes that are not on disk yet.
    let kept = Mutex::new(Vec::new());
    for round in 0..ROUNDS {
        let stop = AtomicBool::new(false);
        let target = kept.lock().unwrap().len() + 40;
        let leases: Vec<_> =
            (0..WRITERS).map(|writer| begun(&store, &format!("{round} {writer}"))).collect();
        thread::scope(|scope| {
            for lease in &leases {
                let (store, kept, stop) = (&store, &kept, &stop);
                scope.spawn(move || {
                    for number in 0_u64.. {
                        let new = handoff(&format!("h {} {number}", lease.conversation));
                        let done = store
                            .append(lease, &[message(&new.id)], None)
                            .and_then(|_| store.commit(lease, &new));
                        match done {
                            Ok(record) => kept
                                .lock()
                                .unwrap_or_else(PoisonError::into_inner)
                                .push((number, record)),
                            Err(error) => {
                                assert_eq!(error.code(), "io", "{error}");
                                assert!(stop.load(Ordering::SeqCst), "{error}");
                                return;
                            }
                        }
                    }
                });
            }
            while kept.lock().unwrap_or_else(PoisonError::into_inner).len() < target {
                thread::yield_now();
            }
            stop.store(true, Ordering::SeqCst);
            server.crash().unwrap();
        });
        server.restart().unwrap();
        for (number, record) in kept.lock().unwrap().iter() {
            assert_eq!(store.handoff(&record.id).unwrap().pack, record.pack);
            let message = &store.messages(&record.conversation, *number, 1).unwrap()[0];
            assert_eq!(message.body, record.id.as_bytes());
        }
    }
}

//! Round trips between a client and a server, counted.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

/// A port of 127.0.0.1 that leads to another one, and how often a client spoke there
/// after the server had. It is open as long as the process lives.
///
/// What clients of several connections say at once counts as one.
#[derive(Clone, Debug)]
pub struct RoundTrips {
    port: u16,
    turns: Arc<Turns>,
}

#[derive(Debug, Default)]
struct Turns {
    count: AtomicU32,
    client_spoke_last: AtomicBool,
}

impl RoundTrips {
    /// A way to the port `server`.
    ///
    /// # Errors
    ///
    /// If no port is free.
    pub fn to(server: u16) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let turns = Arc::new(Turns::default());
        let counting = Arc::clone(&turns);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // The client learns of it: its connection ends.
                drop(connect(client, server, &counting));
            }
        });
        Ok(Self { port, turns })
    }

    /// The port that leads to the server.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Round trips so far.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.turns.count.load(Ordering::SeqCst)
    }
}

fn connect(client: TcpStream, server: u16, turns: &Arc<Turns>) -> io::Result<()> {
    let server = TcpStream::connect(("127.0.0.1", server))?;
    let (back, forth) = (server.try_clone()?, client.try_clone()?);
    let (turns, other) = (Arc::clone(turns), Arc::clone(turns));
    thread::spawn(move || pass_on(client, server, true, &turns));
    thread::spawn(move || pass_on(back, forth, false, &other));
    Ok(())
}

/// Passes on what comes from one to the other.
fn pass_on(mut from: TcpStream, mut to: TcpStream, client: bool, turns: &Turns) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let before = turns.client_spoke_last.swap(client, Ordering::SeqCst);
        if client && !before {
            turns.count.fetch_add(1, Ordering::SeqCst);
        }
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    to.shutdown(Shutdown::Both).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_a_round_trip() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let trips = RoundTrips::to(server.local_addr().unwrap().port()).unwrap();
        let mut client = TcpStream::connect(("127.0.0.1", trips.port())).unwrap();
        let (mut peer, _) = server.accept().unwrap();
        assert_eq!(trips.count(), 0);
        for expected in 1..=3 {
            // Twice, before the server says anything.
            for _ in 0..2 {
                client.write_all(b"?").unwrap();
                peer.read_exact(&mut [0]).unwrap();
            }
            peer.write_all(b"!").unwrap();
            client.read_exact(&mut [0]).unwrap();
            assert_eq!(trips.count(), expected);
        }
    }
}

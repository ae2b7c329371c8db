//! A TCP proxy that counts the round trips between clients and a server.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

/// A TCP proxy on a port of 127.0.0.1 that forwards to another port. It counts how often a client
/// sends data after the server did, which is the number of round trips. The port is open until the
/// process ends.
///
/// If several connections send data at the same time, this counts as one round trip.
#[derive(Clone, Debug)]
pub struct CountingProxy {
    port: u16,
    counter: Arc<RoundTripCounter>,
}

#[derive(Debug, Default)]
struct RoundTripCounter {
    count: AtomicU32,
    client_sent_last: AtomicBool,
}

impl CountingProxy {
    /// Starts a proxy to the port `server`.
    pub fn to_port(server: u16) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let counter = Arc::new(RoundTripCounter::default());
        let counting = Arc::clone(&counter);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // On an error, the client's connection is closed.
                drop(connect(client, server, &counting));
            }
        });
        Ok(Self { port, counter })
    }

    /// Returns the port on which the proxy listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the number of round trips so far.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.counter.count.load(Ordering::SeqCst)
    }
}

fn connect(client: TcpStream, server: u16, counter: &Arc<RoundTripCounter>) -> io::Result<()> {
    let server = TcpStream::connect(("127.0.0.1", server))?;
    let (back, forth) = (server.try_clone()?, client.try_clone()?);
    let (counter, other) = (Arc::clone(counter), Arc::clone(counter));
    thread::spawn(move || forward(client, server, true, &counter));
    thread::spawn(move || forward(back, forth, false, &other));
    Ok(())
}

/// Forwards bytes from one stream to the other until one of them closes.
fn forward(mut from: TcpStream, mut to: TcpStream, client: bool, counter: &RoundTripCounter) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let before = counter.client_sent_last.swap(client, Ordering::SeqCst);
        if client && !before {
            counter.count.fetch_add(1, Ordering::SeqCst);
        }
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    to.shutdown(Shutdown::Both).ok();
}

#[cfg(test)]
mod tests;

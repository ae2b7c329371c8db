//! Names of the holders of leases and claims. A name identifies its process, so that another
//! process on the same machine can find out that it has ended.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::Timestamp;

/// Returns the name of a new holder. No other holder in this process has it, and very likely none
/// on another machine.
///
/// On Linux it has the form `process 4711 started 845123 on 5f3a9c21d0b4e7aa, 19ac-0`. The two
/// numbers in the middle are missing where they cannot be determined.
pub(crate) fn unique_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let suffix = format!("{:x}-{next:x}", Timestamp::now().0);
    match process::Process::current() {
        Some(process) => format!("{process}, {suffix}"),
        None => format!("process {}, {suffix}", std::process::id()),
    }
}

/// Returns whether the process of a holder has ended. Returns `false` if this cannot be determined:
/// the holder has a name that [`ContinuityConfig`](crate::ContinuityConfig) did not choose, or runs
/// on another machine, in another container or on a system other than Linux.
///
/// Its leases and claims are of no use to anyone, so the service takes them without waiting for
/// their end.
#[must_use]
pub fn holder_has_ended(holder: &str) -> bool {
    let named = holder.rsplit_once(", ").and_then(|(name, _)| process::Process::parse(name));
    let current = process::Process::current();
    named.zip(current).is_some_and(|(process, current)| process.has_ended(&current))
}

#[cfg(target_os = "linux")]
mod process {
    use std::fmt;
    use std::fs;

    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};

    /// A process. Unlike an id alone, this never means a later process with the same id.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(super) struct Process {
        pub(super) id: u32,
        /// The time of its start, in clock ticks since the machine was started.
        pub(super) started: u64,
        /// A hash of the boot and the namespace of process ids, in which the id is valid.
        pub(super) place: String,
    }

    impl Process {
        pub(super) fn current() -> Option<Self> {
            let id = std::process::id();
            let stat = Stat::read("self")?;
            // The files of another namespace show other ids.
            (stat.id == id).then_some(())?;
            let boot = fs::read("/proc/sys/kernel/random/boot_id").ok()?;
            let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
            let mut hasher = blake3::Hasher::new();
            hasher.update(&boot).update(namespace.as_os_str().as_encoded_bytes());
            let place = hasher.finalize().to_hex()[..16].to_owned();
            Some(Self { id, started: stat.started, place })
        }

        /// Parses the text that `Display` writes.
        pub(super) fn parse(text: &str) -> Option<Self> {
            let (id, rest) = text.strip_prefix("process ")?.split_once(" started ")?;
            let (started, place) = rest.split_once(" on ")?;
            let (id, started) = (id.parse().ok()?, started.parse().ok()?);
            Some(Self { id, started, place: place.to_owned() })
        }

        /// Returns whether this process has ended, if it is of the same place as `current`.
        pub(super) fn has_ended(&self, current: &Self) -> bool {
            if self.place != current.place {
                return false;
            }
            if let Some(stat) = Stat::read(&self.id.to_string()) {
                return stat.started != self.started || stat.is_zombie;
            }
            // /proc may hide the processes of other users, but signals do not.
            let id = i32::try_from(self.id).ok().and_then(Pid::from_raw);
            id.is_some_and(|id| test_kill_process(id) == Err(Errno::SRCH))
        }
    }

    impl fmt::Display for Process {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let Self { id, started, place } = self;
            write!(f, "process {id} started {started} on {place}")
        }
    }

    /// The fields of `/proc/ID/stat` that identify a process.
    struct Stat {
        id: u32,
        started: u64,
        /// `true` if all its threads have ended, and its parent has not waited for it yet.
        is_zombie: bool,
    }

    impl Stat {
        fn read(process: &str) -> Option<Self> {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            // The second field is the name of the program, in parentheses. It may contain any text.
            let (id, _) = stat.split_once(" (")?;
            let (_, rest) = stat.rsplit_once(") ")?;
            let fields: Vec<_> = rest.split_ascii_whitespace().collect();
            let (state, threads) = (*fields.first()?, fields.get(17)?.parse::<u32>().ok()?);
            Some(Self {
                id: id.parse().ok()?,
                started: fields.get(19)?.parse().ok()?,
                is_zombie: matches!(state, "Z" | "X") && threads <= 1,
            })
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod process {
    use std::convert::Infallible;
    use std::fmt;

    /// A process that cannot be identified.
    pub(super) struct Process(Infallible);

    impl Process {
        pub(super) const fn current() -> Option<Self> {
            None
        }

        pub(super) const fn parse(_: &str) -> Option<Self> {
            None
        }

        pub(super) const fn has_ended(&self, _: &Self) -> bool {
            match self.0 {}
        }
    }

    impl fmt::Display for Process {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self.0 {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::process::Process;
    use super::*;

    #[test]
    fn holder_of_this_process_has_not_ended() {
        let name = unique_name();
        assert!(name.len() <= 256 && !holder_has_ended(&name), "{name}");
        assert_ne!(name, unique_name());
        let current = Process::current().unwrap();
        assert_eq!(Process::parse(&current.to_string()), Some(current));
    }

    #[test]
    fn killed_process_has_ended_before_and_after_its_parent_waits() {
        let current = Process::current().unwrap();
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let started = stat.rsplit(") ").next().unwrap().split(' ').nth(19).unwrap();
        let started = started.parse().unwrap();
        let process = Process { id: child.id(), started, ..current.clone() };
        assert!(!process.has_ended(&current));
        // A later process with this id.
        assert!(Process { started: started - 1, ..process.clone() }.has_ended(&current));
        child.kill().unwrap();
        while !process.has_ended(&current) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(process.has_ended(&current));
        // On another machine, a process with this id may run.
        let elsewhere = Process { place: "0123456789abcdef".to_owned(), ..process };
        assert!(!elsewhere.has_ended(&current));
    }

    #[test]
    fn other_names_are_not_taken_for_processes() {
        for name in ["worker 1", "process 1, 5f-0", "process 1 started 2 on 3", "", ", "] {
            assert!(!holder_has_ended(name), "{name}");
        }
    }
}

//! Loopback addresses.

use super::*;

#[test]
fn only_loopback_addresses_are_accepted() {
    for yes in ["127.0.0.1:0", "127.1.2.3:80", "[::1]:8765", "localhost:1"] {
        assert!(loopback(yes).is_ok(), "{yes}");
    }
    let no = ["0.0.0.0:80", "[::]:80", "192.168.0.1:80", "8.8.8.8:80", "127.0.0.1", "host:80", ""];
    for no in no {
        assert!(loopback(no).is_err(), "{no}");
    }
}

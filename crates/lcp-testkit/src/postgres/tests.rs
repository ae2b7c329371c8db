use std::net::TcpStream;

use super::*;

#[test]
fn nothing_is_left_of_a_server() {
    let Some(server) = PostgresServer::start_if_there() else { return };
    let (folder, port) = (server.folder.clone(), server.port());
    server.crash().unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    server.restart().unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
    drop(server);
    assert!(!folder.exists());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

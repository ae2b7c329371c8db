use std::net::TcpStream;

use super::*;

#[test]
fn dropped_server_leaves_no_folder_or_process() {
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

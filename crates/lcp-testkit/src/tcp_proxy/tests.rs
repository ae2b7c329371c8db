use super::*;

#[test]
fn answer_ends_a_round_trip() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let trips = CountingProxy::to_port(server.local_addr().unwrap().port()).unwrap();
    let mut client = TcpStream::connect(("127.0.0.1", trips.port())).unwrap();
    let (mut peer, _) = server.accept().unwrap();
    assert_eq!(trips.count(), 0);
    for expected in 1..=3 {
        // Two requests before the server answers count as one round trip.
        for _ in 0..2 {
            client.write_all(b"?").unwrap();
            peer.read_exact(&mut [0]).unwrap();
        }
        peer.write_all(b"!").unwrap();
        client.read_exact(&mut [0]).unwrap();
        assert_eq!(trips.count(), expected);
    }
}

//! Round trips, counted between a store and its server.

use lcp_continuity::store::Store;
use lcp_testkit::{CountingProxy, Postgres};

use crate::support::{MINUTE, Schema, begun, handoff, message, window};

#[test]
fn each_operation_takes_one_round_trip() {
    let Some(server) = Postgres::shared().and_then(Postgres::own) else { return };
    let way = CountingProxy::to_port(server.port()).unwrap();
    let url = server.url().replace(&server.port().to_string(), &way.port().to_string());
    let mut schema = Schema::on(&url);
    schema.options.pool_size = 1;
    let store = schema.open();

    // The first pass is not counted, because it also prepares each statement.
    for counted in [false, true] {
        let id = |what: &str| format!("{what} {counted}");
        let trips = |what: &str, work: &mut dyn FnMut()| {
            let before = way.count();
            work();
            let trips = way.count() - before;
            assert!(!counted || trips == 1, "{what} took {trips}");
        };
        let mut lease = begun(&store, &id("a"));
        trips("begin", &mut || drop(store.begin(&window(&id("b"))).unwrap()));
        trips("lease", &mut || lease = store.lease(&id("a"), "holder", MINUTE).unwrap());
        trips("renew", &mut || lease = store.renew(&lease, MINUTE).unwrap());
        let messages = [message("one"), message(&id("two")), message("one")];
        trips("append", &mut || assert_eq!(store.append(&lease, &messages, None).unwrap(), 3));
        trips("messages", &mut || drop(store.messages(&id("a"), 0, 9).unwrap()));
        trips("next_epoch", &mut || lease = store.next_epoch(&lease, Some("s")).unwrap());
        trips("fork", &mut || drop(store.fork(&id("a"), 2, &id("f")).unwrap()));
        trips("commit", &mut || drop(store.commit(&lease, &handoff(&id("h"))).unwrap()));
        trips("latest", &mut || assert_eq!(store.latest(&id("a")).unwrap(), Some(id("h"))));
        let mut claim = store.claim(&id("h"), "claimant", MINUTE).unwrap();
        store.abandon(&claim).unwrap();
        trips("claim", &mut || claim = store.claim(&id("h"), "claimant", MINUTE).unwrap());
        trips("resume", &mut || drop(store.resume(&claim, &window(&id("c"))).unwrap()));
        trips("chain", &mut || drop(store.chain(&id("h")).unwrap()));
    }
}

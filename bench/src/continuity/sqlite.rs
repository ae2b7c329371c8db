//! Durable hand-offs and messages in a SQLite file.

use std::path::Path;

use lcp_continuity::store::SqliteStore;

use super::langgraph::Langgraph;
use super::race::{Contender, Times, race, unmeasured};
use super::writers::{Bare, Own, Writer, open};
use super::{HANDOFF_BYTES, folder};
use crate::error::Error;
use crate::programs;
use crate::table::{Better, Row, Wanted};

/// No more than 1.5 times the time of the database alone.
pub(super) const RATIO_MIN: f64 = 0.67;

const BARE: &str = "rusqlite alone";

pub(super) fn rows(progress: &mut dyn FnMut(String)) -> Result<Vec<Row>, Error> {
    let folder = folder()?;
    let path = |name: &str| folder.path().join(name);
    let mut own = Own::begin(SqliteStore::open(path("own"))?, "a")?;
    let mut bare = Bare::begin(&path("bare"), "a")?;
    let python = programs::python_with("langgraph", progress);
    let mut peers: Vec<_> = ["default", "FULL"]
        .map(|synchronous| {
            let file = path(&format!("langgraph {synchronous}")).display().to_string();
            let arguments = ["sqlite", &file, synchronous];
            let python = python.as_ref().map_err(Clone::clone);
            python.and_then(|python| Langgraph::start(python, &arguments, HANDOFF_BYTES))
        })
        .into();

    progress("durable hand-offs on SQLite".to_owned());
    let mut contenders =
        vec![Contender::new("LCP", || own.commit()), Contender::new(BARE, || bare.commit())];
    let mut absent = Vec::new();
    for peer in &mut peers {
        match peer {
            Ok(peer) => contenders.push(peer.contender()),
            Err(why) => absent.push(why.clone()),
        }
    }
    let times = race(&mut contenders)?;
    let names: Vec<_> = contenders.iter().map(|contender| contender.name.clone()).collect();
    drop(contenders);

    let what = "SQLite, durable hand-off of 20 KB";
    let within = Wanted::RatioAtLeast(RATIO_MIN);
    let mut rows = comparison_rows(what, &times, &names);
    rows[0] = rows[0].clone().wants(within);
    let best = Row::named(format!("{what}, best"), Better::Lower, "ms");
    rows.insert(1, best.figures(times[0].best(), BARE, times[1].best()).wants(within));
    let of_absent = |why: &String| unmeasured(what, times[0].median(), "LangGraph", why);
    rows.extend(absent.iter().map(of_absent));

    progress("durable messages on SQLite".to_owned());
    let mut contenders =
        [Contender::new("LCP", || own.append()), Contender::new(BARE, || bare.append())];
    let times = race(&mut contenders)?;
    drop(contenders);
    rows.push(times[0].row("SQLite, durable message of 1 KB", BARE, &times[1]).wants(within));
    drop((own, bare));
    compare(&path("own"), &path("bare"))?;
    Ok(rows)
}

/// LCP, the first, beside each of the others.
pub(super) fn comparison_rows(what: &str, times: &[Times], names: &[String]) -> Vec<Row> {
    let others = times.iter().zip(names).skip(1);
    others.map(|(peer, name)| times[0].row(what, name, peer)).collect()
}

/// Both wrote the same, but for hashes, times and the numbers of bodies.
fn compare(own: &Path, bare: &Path) -> Result<(), Error> {
    let written = |path: &Path| {
        let connection = open(path)?;
        let mut rows = Vec::new();
        for select in [
            "SELECT concat_ws(' ', id, messages, epoch, status, holder, fence) FROM conversations",
            "SELECT concat_ws(' ', id, conversation, epoch, messages, length(hash), packed, state,
                 successor, pack) FROM handoffs JOIN packs ON handoff = number ORDER BY id",
            "SELECT concat_ws(' ', conversation, position, epoch, tokens, length(hash), body)
             FROM messages JOIN contents ON number = content ORDER BY position",
        ] {
            let mut query = connection.prepare(select)?;
            let found = query.query_map((), |row| row.get::<_, String>(0))?;
            rows.extend(found.collect::<rusqlite::Result<Vec<_>>>()?);
        }
        Ok::<_, Error>(rows)
    };
    if written(own)? == written(bare)? {
        return Ok(());
    }
    Err(Error::Worker { message: "the store and the database alone wrote different rows".into() })
}

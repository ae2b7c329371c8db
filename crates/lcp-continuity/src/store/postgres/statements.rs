//! The SQL statements.

pub(super) struct Statement {
    pub(super) sql: &'static str,
    /// `true` if executing the statement twice has the same effect as executing it once.
    pub(super) is_repeatable: bool,
    /// A statement that locks the row of the conversation, with the first of the values. It is used
    /// if the answer depends on rows that others changed while this statement waited for the lock.
    /// The first column of such a statement is `verdict`, which may be `stale`.
    pub(super) lock: Option<&'static str>,
}

impl Statement {
    const fn repeatable(sql: &'static str) -> Self {
        Self { sql, is_repeatable: true, lock: None }
    }

    const fn once(sql: &'static str) -> Self {
        Self { sql, is_repeatable: false, lock: None }
    }

    const fn with_lock(self, lock: &'static str) -> Self {
        Self { lock: Some(lock), ..self }
    }
}

/// The given time, or the server's time after the rows of `$after` were locked.
macro_rules! moment {
    ($given:literal, $after:literal) => {
        concat!(
            "moment AS MATERIALIZED (SELECT ",
            now!($given),
            " AS now FROM (SELECT count(*) FROM ",
            $after,
            ") AS locked_before)"
        )
    };
}

/// The current time, for statements that lock no rows.
macro_rules! now {
    ($given:literal) => {
        concat!(
            "coalesce(",
            $given,
            "::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)"
        )
    };
}

/// The time a span of milliseconds after `now`, or the latest possible time on overflow.
macro_rules! after {
    ($span:literal) => {
        concat!("least(now::numeric + ", $span, "::bigint, 9223372036854775807)::bigint")
    };
}

/// The conversation of a lease (`$1` to `$4`: conversation, holder, fence, epoch), locked, at the
/// time `$5`, with a verdict on whether the lease permits writing: `judged`.
macro_rules! leased {
    () => {
        concat!(
            "locked AS MATERIALIZED (SELECT * FROM conversations WHERE id = $1::text FOR UPDATE), ",
            moment!("$5", "locked"),
            ", judged AS MATERIALIZED (SELECT locked.*, now, CASE \
             WHEN continued_as IS NOT NULL THEN 'continued' \
             WHEN holder IS DISTINCT FROM $2::text OR fence <> $3::bigint \
                  OR epoch <> $4::bigint OR held_until <= now THEN 'lost' \
             ELSE 'ok' END AS verdict FROM locked, moment)"
        )
    };
}

/// A condition: the hand-off `h` was neither resumed, superseded nor deleted.
macro_rules! open {
    () => {
        "h.resumed_into IS NULL AND h.superseded_by IS NULL AND h.pack IS NOT NULL"
    };
}

/// A condition: the hand-off `h` can be resumed at the time `now`, by its current or a future
/// claimant.
macro_rules! resumable {
    () => {
        concat!(
            open!(),
            " AND (h.expires > now OR (h.claimant IS NOT NULL AND h.claimed_until > now))"
        )
    };
}

pub(super) const BEGIN: Statement = Statement::repeatable(concat!(
    "WITH known AS (SELECT * FROM conversations WHERE id = $1::text), ",
    "moment AS (SELECT ",
    now!("$4"),
    " AS now), ",
    "made AS (INSERT INTO conversations \
       (id, window_tokens, output_reserve_tokens, epoch, messages, created, active) \
       SELECT $1::text, $2::bigint, $3::bigint, 0, 0, now, now FROM moment \
       WHERE NOT EXISTS (SELECT FROM known) RETURNING *) \
     SELECT * FROM known UNION ALL SELECT * FROM made"
));

pub(super) const FIND_CONVERSATION: Statement =
    Statement::repeatable("SELECT * FROM conversations WHERE id = $1::text");

pub(super) const LIST_CONVERSATIONS: Statement = Statement::repeatable(
    "SELECT * FROM conversations WHERE id > $1::text ORDER BY id LIMIT $2::bigint",
);

/// A fork has the window, and so the epoch, that the next message was recorded in. The statement
/// reads all rows as of one moment, so it needs no locks.
pub(super) const FORK: Statement = Statement::repeatable(concat!(
    "WITH RECURSIVE known AS (SELECT * FROM conversations WHERE id = $3::text), ",
    "source AS (SELECT * FROM conversations WHERE id = $1::text), ",
    "line (id, parent, inherited, until) AS (\
       SELECT id, parent, coalesce(parent_messages, 0), messages FROM source \
       UNION ALL \
       SELECT c.id, c.parent, coalesce(c.parent_messages, 0), least(line.inherited, line.until) \
       FROM line JOIN conversations c ON c.id = line.parent WHERE line.inherited > $2::bigint), ",
    "next AS (SELECT m.epoch FROM line JOIN messages m ON m.conversation = line.id \
       AND m.position = $2::bigint \
       WHERE $2::bigint >= line.inherited AND $2::bigint < line.until), ",
    "moment AS (SELECT ",
    now!("$4"),
    " AS now), ",
    "made AS (INSERT INTO conversations (id, window_tokens, output_reserve_tokens, parent, \
       parent_messages, origin, epoch, messages, created, active) \
       SELECT $3::text, window_tokens, output_reserve_tokens, $1::text, $2::bigint, origin, \
         coalesce((SELECT epoch FROM next), epoch), $2::bigint, now, now FROM source, moment \
       WHERE messages >= $2::bigint AND NOT EXISTS (SELECT FROM known) RETURNING *), ",
    "found AS (SELECT * FROM known UNION ALL SELECT * FROM made) \
     SELECT source.messages AS there, found.* FROM source LEFT JOIN found ON true"
));

pub(super) const LEASE: Statement = Statement::once(concat!(
    "WITH locked AS MATERIALIZED (SELECT * FROM conversations WHERE id = $1::text FOR UPDATE), ",
    moment!("$3", "locked"),
    ", judged AS MATERIALIZED (SELECT locked.*, now, CASE \
       WHEN continued_as IS NOT NULL THEN 'continued' \
       WHEN holder <> $2::text AND held_until > now THEN 'held' \
       ELSE 'ok' END AS verdict FROM locked, moment), ",
    "taken AS (UPDATE conversations c SET fence = c.fence + 1, holder = $2::text, held_until = ",
    after!("$4"),
    " FROM judged j WHERE c.id = j.id AND j.verdict = 'ok' RETURNING c.fence, c.held_until) \
     SELECT j.verdict, j.continued_as, j.holder, j.epoch, \
       coalesce(t.fence, j.fence) AS fence, coalesce(t.held_until, j.held_until) AS held_until \
     FROM judged j LEFT JOIN taken t ON true"
));

/// An expired lease can be renewed, so the statement does not check its end.
pub(super) const RENEW: Statement = Statement::once(concat!(
    "WITH locked AS MATERIALIZED (SELECT * FROM conversations WHERE id = $1::text FOR UPDATE), ",
    moment!("$5", "locked"),
    " UPDATE conversations c SET held_until = ",
    after!("$6"),
    " FROM locked l, moment WHERE c.id = l.id AND l.holder = $2::text AND l.fence = $3::bigint \
       AND l.epoch = $4::bigint RETURNING c.held_until"
));

pub(super) const RELEASE: Statement = Statement::once(
    "UPDATE conversations SET holder = NULL, held_until = NULL \
     WHERE id = $1::text AND holder = $2::text AND fence = $3::bigint AND epoch = $4::bigint",
);

pub(super) const NEXT_EPOCH: Statement = Statement::once(concat!(
    "WITH ",
    leased!(),
    ", changed AS (UPDATE conversations c SET epoch = c.epoch + 1, active = j.now, \
         status = coalesce($6::bytea, c.status) \
       FROM judged j WHERE c.id = j.id AND j.verdict = 'ok' RETURNING c.epoch) \
     SELECT j.verdict, j.continued_as, j.held_until, coalesce(n.epoch, j.epoch) AS epoch \
     FROM judged j LEFT JOIN changed n ON true"
));

pub(super) const SET_WINDOW: Statement = Statement::repeatable(concat!(
    "WITH ",
    leased!(),
    ", changed AS (UPDATE conversations c SET window_tokens = $7::bigint, \
         output_reserve_tokens = $8::bigint, active = j.now, \
         status = coalesce($6::bytea, c.status) \
       FROM judged j WHERE c.id = j.id AND j.verdict = 'ok') \
     SELECT verdict, continued_as FROM judged"
));

/// Existing bodies are not changed. If another transaction is inserting the same body, this one
/// waits for it. Bodies are inserted in the order of their hashes, so that two transactions cannot
/// wait for each other.
pub(super) const APPEND: Statement = Statement::once(concat!(
    "WITH ",
    leased!(),
    ", kept AS (INSERT INTO contents (hash, body) \
       SELECT u.hash, u.body FROM judged j, unnest($7::bytea[], $8::bytea[]) AS u (hash, body) \
       WHERE j.verdict = 'ok' ON CONFLICT (hash) DO NOTHING), ",
    "added AS (INSERT INTO messages (conversation, position, epoch, hash, tokens, recorded) \
       SELECT j.id, j.messages + u.n - 1, j.epoch, u.hash, u.tokens, j.now \
       FROM judged j, \
         unnest($9::bytea[], $10::bigint[]) WITH ORDINALITY AS u (hash, tokens, n) \
       WHERE j.verdict = 'ok'), ",
    "changed AS (UPDATE conversations c SET messages = c.messages + cardinality($9::bytea[]), \
         active = j.now, status = coalesce($6::bytea, c.status) \
       FROM judged j WHERE c.id = j.id AND j.verdict = 'ok' RETURNING c.messages) \
     SELECT j.verdict, j.continued_as, coalesce(n.messages, j.messages) AS messages \
     FROM judged j LEFT JOIN changed n ON true"
));

/// Follows the parents as long as they contain requested messages.
pub(super) const READ_MESSAGES: Statement = Statement::repeatable(
    "WITH RECURSIVE whole AS (SELECT * FROM conversations WHERE id = $1::text), \
     line (id, parent, inherited, until) AS (\
       SELECT id, parent, coalesce(parent_messages, 0), messages FROM whole \
       UNION ALL \
       SELECT c.id, c.parent, coalesce(c.parent_messages, 0), least(line.inherited, line.until) \
       FROM line JOIN conversations c ON c.id = line.parent WHERE line.inherited > $2::bigint) \
     SELECT whole.messages AS there, m.position, m.epoch, m.hash, m.tokens, m.recorded, t.body \
     FROM whole LEFT JOIN (line JOIN messages m ON m.conversation = line.id \
         AND m.position >= line.inherited AND m.position < line.until \
         AND m.position >= $2::bigint AND m.position < $3::bigint \
       LEFT JOIN contents t ON t.hash = m.hash) ON true \
     ORDER BY m.position",
);

/// `there` is the hand-off with this id, if it exists. Hand-offs committed while this statement
/// waited for the lock are not visible to it; in that case the verdict is `stale`.
///
/// The pack is not returned.
pub(super) const COMMIT: Statement = Statement::repeatable(concat!(
    "WITH seen AS (SELECT changes FROM conversations WHERE id = $1::text), ",
    "there AS (SELECT * FROM handoffs WHERE id = $6::text), ",
    leased!(),
    ", decided AS MATERIALIZED (SELECT j.id AS conversation, j.now, j.continued_as, CASE \
       WHEN j.changes IS DISTINCT FROM (SELECT changes FROM seen) THEN 'stale' \
       WHEN j.verdict <> 'ok' THEN j.verdict \
       WHEN $7::text IS NOT NULL AND NOT EXISTS (SELECT FROM handoffs WHERE id = $7::text) \
         THEN 'unknown' \
       ELSE 'ok' END AS verdict FROM judged j WHERE NOT EXISTS (SELECT FROM there)), ",
    "made AS (INSERT INTO handoffs \
         (id, conversation, epoch, previous, messages, hash, pack, created, expires) \
       SELECT $6::text, conversation, $4::bigint, $7::text, $8::bigint, $9::bytea, $10::bytea, now, ",
    after!("$11"),
    " FROM decided WHERE verdict = 'ok' RETURNING *), ",
    "superseded AS (UPDATE handoffs h SET superseded_by = $6::text FROM decided d \
       WHERE d.verdict = 'ok' AND h.conversation = d.conversation AND ",
    open!(),
    " AND (h.claimant IS NULL OR h.claimed_until <= d.now)), ",
    "changed AS (UPDATE conversations c SET changes = c.changes + 1, active = d.now, \
         status = coalesce($12::bytea, c.status) \
       FROM decided d WHERE c.id = d.conversation AND d.verdict = 'ok'), ",
    "answer AS (SELECT * FROM made UNION ALL SELECT * FROM there) \
     SELECT d.verdict, d.continued_as, ",
    now!("$5"),
    " AS now, a.id, a.conversation, a.epoch, a.previous, a.messages, a.hash, \
       CASE WHEN a.pack IS NOT NULL THEN ''::bytea END AS pack, a.claimant, a.claimed_until, \
       a.resumed_into, a.superseded_by, a.created, a.expires \
     FROM decided d FULL JOIN answer a ON true"
))
    .with_lock("SELECT FROM conversations WHERE id = $1::text FOR UPDATE");

pub(super) const FIND_HANDOFF: Statement = Statement::repeatable(concat!(
    "SELECT *, ",
    now!("$2"),
    " AS now FROM handoffs WHERE id = $1::text"
));

/// Every hand-off was committed after its predecessor, so the recursion ends.
pub(super) const CHAIN: Statement = Statement::repeatable(concat!(
    "WITH RECURSIVE line AS (SELECT *, 0 AS back FROM handoffs WHERE id = $1::text UNION ALL \
       SELECT h.*, line.back + 1 FROM line JOIN handoffs h ON h.id = line.previous \
       WHERE line.pack IS NOT NULL) \
     SELECT *, ",
    now!("$2"),
    " AS now FROM line ORDER BY back"
));

/// A pack is returned only as a marker of its existence. A conversation without hand-offs gives one
/// row.
pub(super) const LIST_HANDOFFS: Statement = Statement::repeatable(concat!(
    "SELECT ",
    now!("$2"),
    " AS now, h.id, h.conversation, h.epoch, h.previous, h.messages, \
       CASE WHEN h.pack IS NOT NULL THEN ''::bytea END AS pack, h.claimant, h.claimed_until, \
       h.resumed_into, h.superseded_by, h.created, h.expires \
     FROM conversations c LEFT JOIN handoffs h ON h.conversation = c.id \
     WHERE c.id = $1::text ORDER BY h.serial DESC LIMIT $3::bigint"
));

pub(super) const LATEST: Statement = Statement::repeatable(concat!(
    "WITH moment AS (SELECT ",
    now!("$2"),
    " AS now) SELECT (SELECT h.id FROM handoffs h, moment WHERE h.conversation = c.id AND ",
    resumable!(),
    " ORDER BY h.serial DESC LIMIT 1) AS id FROM conversations c WHERE c.id = $1::text"
));

/// Locks the conversation before the hand-off, as all statements do. A shared lock is sufficient,
/// because the conversation is not changed.
pub(super) const CLAIM: Statement = Statement::repeatable(concat!(
    "WITH source AS MATERIALIZED (SELECT FROM conversations \
       WHERE id = (SELECT conversation FROM handoffs WHERE id = $1::text) FOR SHARE), ",
    "locked AS MATERIALIZED (SELECT * FROM handoffs \
       WHERE id = $1::text AND (SELECT count(*) FROM source) >= 0 FOR UPDATE), ",
    moment!("$3", "locked"),
    ", judged AS MATERIALIZED (SELECT h.*, now, CASE \
       WHEN NOT (",
    open!(),
    ") THEN 'closed' \
       WHEN h.claimant IS NOT NULL AND h.claimed_until > now \
         THEN CASE WHEN h.claimant = $2::text THEN 'again' ELSE 'claimed' END \
       WHEN h.expires <= now THEN 'closed' \
       ELSE 'ok' END AS verdict FROM locked h, moment), ",
    "taken AS (UPDATE handoffs h SET claimant = $2::text, claimed_until = ",
    after!("$4"),
    ", fence = h.fence + (j.verdict = 'ok')::int FROM judged j \
       WHERE h.id = j.id AND j.verdict IN ('ok', 'again') RETURNING h.fence, h.claimed_until) \
     SELECT j.verdict, j.now, j.id, j.conversation, j.epoch, j.previous, j.messages, j.hash, \
       j.pack, j.resumed_into, j.superseded_by, j.created, j.expires, j.claimant, \
       coalesce(t.claimed_until, j.claimed_until) AS claimed_until, \
       coalesce(t.fence, j.fence) AS fence \
     FROM judged j LEFT JOIN taken t ON true"
));

/// `known` is an existing conversation with the new id, if any. Changes made while this statement
/// waited for the lock are not visible in it; in that case the verdict is `stale`.
pub(super) const RESUME: Statement = Statement::repeatable(concat!(
    "WITH seen AS (SELECT id, changes FROM conversations \
       WHERE id = (SELECT conversation FROM handoffs WHERE id = $1::text)), ",
    "source AS MATERIALIZED (SELECT * FROM conversations \
       WHERE id = (SELECT conversation FROM handoffs WHERE id = $1::text) FOR UPDATE), ",
    "locked AS MATERIALIZED (SELECT * FROM handoffs \
       WHERE id = $1::text AND (SELECT count(*) FROM source) >= 0 FOR UPDATE), ",
    moment!("$7", "locked"),
    ", known AS (SELECT * FROM conversations WHERE id = $4::text), ",
    "judged AS MATERIALIZED (SELECT h.*, now, CASE \
       WHEN (SELECT changes FROM source) IS DISTINCT FROM (SELECT changes FROM seen) THEN 'stale' \
       WHEN h.resumed_into IS NOT NULL THEN 'resumed' \
       WHEN ",
    open!(),
    " AND h.claimant = $2::text AND h.claimed_until > now AND h.fence = $3::bigint \
         THEN CASE WHEN EXISTS (SELECT FROM known) THEN 'exists' ELSE 'ok' END \
       ELSE 'lost' END AS verdict FROM locked h, moment), ",
    "ended AS (UPDATE handoffs h SET resumed_into = $4::text FROM judged j \
       WHERE h.id = j.id AND j.verdict = 'ok'), ",
    "superseded AS (UPDATE handoffs h SET superseded_by = j.id FROM judged j \
       WHERE j.verdict = 'ok' AND h.conversation = j.conversation AND h.id <> j.id AND ",
    open!(),
    "), ",
    "handed_over AS (UPDATE conversations c SET continued_as = $4::text, holder = NULL, \
         held_until = NULL, fence = c.fence + 1, changes = c.changes + 1 \
       FROM judged j WHERE c.id = j.conversation AND j.verdict = 'ok'), ",
    "made AS (INSERT INTO conversations (id, window_tokens, output_reserve_tokens, origin, epoch, \
         messages, created, active) \
       SELECT $4::text, $5::bigint, $6::bigint, j.id, j.epoch + 1, 0, now, now \
       FROM judged j WHERE j.verdict = 'ok' RETURNING *), ",
    "answer AS (SELECT * FROM made UNION ALL SELECT * FROM known) \
     SELECT j.verdict, j.resumed_into, j.fence AS claim_fence, a.* \
     FROM judged j LEFT JOIN answer a ON true"
))
.with_lock(
    "SELECT FROM conversations \
     WHERE id = (SELECT conversation FROM handoffs WHERE id = $1::text) FOR UPDATE",
);

pub(super) const ABANDON: Statement = Statement::once(concat!(
    "UPDATE handoffs h SET claimant = NULL, claimed_until = NULL \
     WHERE h.id = $1::text AND h.claimant = $2::text AND h.fence = $3::bigint AND ",
    open!()
));

/// Makes writers wait until the transaction ends, so that they see its changes. Readers do not
/// wait. Every statement that writes needs this table.
pub(super) const LOCK_CONVERSATIONS: &str = "LOCK TABLE conversations IN EXCLUSIVE MODE";

/// Finds everything that live rows depend on and deletes the rest. The dependencies of a deleted
/// hand-off are not followed. Every part of the statement sees the tables as they were before it.
pub(super) const DROP_EXPIRED: &str = concat!(
    "WITH RECURSIVE moment AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now), ",
    "needed (handoff, id) AS (\
       (SELECT false, c.id FROM conversations c, moment \
         WHERE c.active::numeric + $2::bigint > now OR (c.holder IS NOT NULL AND c.held_until > now) \
        UNION ALL SELECT true, h.id FROM handoffs h, moment WHERE ",
    resumable!(),
    ") UNION \
       SELECT f.handoff, f.id FROM needed n CROSS JOIN LATERAL (\
         SELECT false AS handoff, c.parent AS id FROM conversations c \
           WHERE NOT n.handoff AND c.id = n.id AND c.parent IS NOT NULL \
         UNION ALL SELECT true, c.origin FROM conversations c \
           WHERE NOT n.handoff AND c.id = n.id AND c.origin IS NOT NULL \
         UNION ALL SELECT false, h.conversation FROM handoffs h \
           WHERE n.handoff AND h.id = n.id AND h.pack IS NOT NULL \
         UNION ALL SELECT true, h.previous FROM handoffs h \
           WHERE n.handoff AND h.id = n.id AND h.pack IS NOT NULL AND h.previous IS NOT NULL) f), ",
    "gone AS (DELETE FROM conversations c \
       WHERE NOT EXISTS (SELECT FROM needed n WHERE NOT n.handoff AND n.id = c.id) RETURNING c.id), ",
    "emptied AS (UPDATE handoffs h SET pack = NULL, claimant = NULL, claimed_until = NULL \
       FROM moment WHERE h.pack IS NOT NULL AND h.expires <= now \
         AND NOT EXISTS (SELECT FROM needed n WHERE n.handoff AND n.id = h.id) RETURNING h.id), ",
    "removed AS (DELETE FROM messages m USING gone WHERE m.conversation = gone.id \
       RETURNING m.hash), ",
    "unused AS (DELETE FROM contents t USING (SELECT DISTINCT hash FROM removed) r \
       WHERE t.hash = r.hash AND NOT EXISTS (SELECT FROM messages m WHERE m.hash = t.hash \
         AND NOT EXISTS (SELECT FROM gone WHERE gone.id = m.conversation)) RETURNING t.hash) \
     SELECT (SELECT count(*) FROM gone) AS conversations, \
       (SELECT count(*) FROM emptied) AS handoffs, (SELECT count(*) FROM unused) AS bodies"
);

pub(super) fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

//! Parts that statements have in common.

/// The moment now: the value that was given, or else the server's clock, read after
/// the rows of `$after` were locked.
macro_rules! moment {
    ($given:literal, $after:literal) => {
        concat!(
            "moment AS MATERIALIZED (SELECT coalesce(",
            $given,
            "::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now \
             FROM (SELECT count(*) FROM ",
            $after,
            ") AS locked_before)"
        )
    };
}

/// The moment now, where nothing is locked.
macro_rules! now {
    ($given:literal) => {
        concat!(
            "coalesce(",
            $given,
            "::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)"
        )
    };
}

/// The moment a span of milliseconds after `now`; the latest there is where that is
/// too late.
macro_rules! after {
    ($span:literal) => {
        concat!("least(now::numeric + ", $span, "::bigint, 9223372036854775807)::bigint")
    };
}

/// The conversation of a lease (`$1` to `$4`: conversation, holder, fence, epoch),
/// locked, at the moment `$5`, and whether the lease lets one write: `judged`.
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

/// Whether nobody resumed the hand-off `h`, and it is neither superseded nor dropped.
macro_rules! open {
    () => {
        "h.resumed_into IS NULL AND h.superseded_by IS NULL AND h.pack IS NOT NULL"
    };
}

/// Whether the hand-off `h` can be resumed at `now`, by who claimed it or will.
macro_rules! resumable {
    () => {
        concat!(
            open!(),
            " AND (h.expires > now OR (h.claimant IS NOT NULL AND h.claimed_until > now))"
        )
    };
}

pub(super) use {after, leased, moment, now, open, resumable};

//! Tests of the behaviour that all stores share. `conformance!(harness)` generates one test per
//! case. `harness` is a `fn() -> Option<Box<dyn Harness>>`, which returns `None` if the store
//! cannot be tested on this machine.
//!
//! These tests also decide cases that the documentation of `Store` leaves open:
//!
//! - Arguments are checked first. Repeated calls (`begin`, `fork`, `commit`, `resume`) are
//!   recognized before leases and claims are checked, and `Continued` before `LeaseLost`.
//! - A fork has the epoch of the first message that it does not share, or its parent's epoch if it
//!   shares all messages. It has no status.
//! - A hand-off whose claim expired is treated as unclaimed: a newer one supersedes it.
//! - A conversation is continued once. If one of its hand-offs is resumed, that one supersedes all
//!   others that were not resumed.
//! - Two hand-offs are the same if they have the same conversation, pack, covered messages and
//!   previous hand-off.
//! - `previous` must exist (`UnknownHandoff`), so that every chain has an end.
//! - A chain ends at the first hand-off whose pack was dropped, and includes that one.
//! - Lists of conversations are sorted by the bytes of ids, regardless of a database's collation.
//!   Lists of hand-offs have no packs, even if these exist.
//! - The hand-off that `latest` returns may be claimed.
//! - Leases, claims and resumes do not change `active`.

pub(crate) mod claims;
pub(crate) mod commits;
pub(crate) mod conversations;
pub(crate) mod expiry;
pub(crate) mod forks;
pub(crate) mod leases;
pub(crate) mod lists;
pub(crate) mod messages;
pub(crate) mod random;
pub(crate) mod resumes;
mod support;

use std::sync::Arc;

use lcp_continuity::ManualClock;
use lcp_continuity::store::Store;

/// A store to test, with an expiry of 30 days.
pub(crate) trait Harness {
    /// Returns a handle of the store, a new one on each call if the store has handles.
    fn store(&self) -> Arc<dyn Store>;

    /// Returns the clock of the store.
    fn clock(&self) -> &ManualClock;

    /// Returns a harness with a separate, empty store.
    fn fresh(&self) -> Box<dyn Harness>;
}

/// Generates one test per case.
macro_rules! conformance {
    ($harness:path) => {
        $crate::conformance::conformance! { $harness:
            conversations::beginning_again_gives_the_same,
            conversations::an_id_that_is_taken_begins_nothing,
            conversations::ids_are_checked,
            conversations::what_is_not_there_is_unknown,
            conversations::what_is_too_large_is_refused,
            leases::one_holder_has_the_lease,
            leases::a_lease_that_ran_out_can_be_taken,
            leases::its_holder_takes_a_lease_anew,
            leases::a_lease_is_renewed_by_who_has_it,
            leases::a_lease_given_back_is_free,
            leases::a_lost_lease_writes_nothing,
            leases::a_lease_that_ran_out_writes_nothing,
            leases::a_lost_lease_gives_nothing_back,
            leases::of_sixteen_holders_one_gets_the_lease,
            lists::conversations_are_listed_in_pages,
            lists::a_list_begins_behind_any_text,
            lists::hand_offs_are_listed_newest_first,
            lists::what_was_dropped_is_no_longer_listed,
            messages::messages_are_kept_in_order,
            messages::bodies_are_kept_byte_for_byte,
            messages::messages_are_read_in_pages,
            messages::a_status_is_kept_until_the_next,
            messages::the_next_epoch_voids_the_lease_before,
            messages::eight_threads_write_to_eight_conversations,
            forks::a_fork_shares_what_was_before_it,
            forks::a_fork_and_its_parent_go_on_apart,
            forks::a_fork_of_a_fork_reads_through_both,
            forks::a_long_line_of_forks_is_read,
            forks::forking_again_gives_the_same,
            forks::nothing_is_forked_that_is_not_there,
            forks::a_fork_has_the_epoch_of_its_place,
            forks::a_conversation_that_was_resumed_can_be_forked,
            commits::a_hand_off_comes_back_byte_for_byte,
            commits::committing_again_changes_nothing,
            commits::an_id_of_other_content_is_refused,
            commits::a_newer_hand_off_supersedes_unclaimed_ones,
            commits::a_lost_lease_commits_nothing,
            commits::the_hand_off_before_must_exist,
            commits::the_latest_is_the_newest_that_can_be_resumed,
            commits::a_chain_of_ten_is_told_newest_first,
            claims::of_sixteen_claimants_one_wins,
            claims::its_claimant_claims_again,
            claims::a_claim_that_ran_out_is_free,
            claims::a_claim_given_back_is_free,
            claims::a_lost_claim_gives_nothing_back,
            claims::what_was_superseded_is_not_claimed,
            resumes::a_conversation_goes_on_in_the_next_epoch,
            resumes::what_was_handed_over_is_ended,
            resumes::a_hand_off_is_resumed_once,
            resumes::resuming_again_gives_the_same,
            resumes::resuming_again_takes_no_other_conversation,
            resumes::eight_threads_resume_with_one_claim,
            resumes::a_lost_claim_resumes_nothing,
            resumes::an_id_that_is_taken_resumes_nothing,
            resumes::one_resumed_hand_off_supersedes_the_others,
            resumes::a_claim_in_force_outlives_the_expiry,
            expiry::a_hand_off_nobody_resumed_expires,
            expiry::what_is_idle_is_dropped_with_its_hand_off,
            expiry::what_was_recorded_within_the_expiry_stays,
            expiry::a_lease_keeps_a_conversation,
            expiry::a_fork_keeps_what_it_shares,
            expiry::a_body_stays_while_a_conversation_has_it,
            expiry::a_living_chain_keeps_all_before_it,
            expiry::a_claim_in_force_keeps_a_hand_off,
            expiry::the_state_of_what_was_dropped_stays,
            expiry::a_chain_ends_with_one_that_was_dropped,
            random::it_answers_as_a_store_in_memory,
        }
    };
    ($harness:path: $($module:ident::$case:ident),* $(,)?) => {$(
        #[test]
        fn $case() {
            if let Some(harness) = $harness() {
                $crate::conformance::$module::$case(&*harness);
            }
        }
    )*};
}
pub(crate) use conformance;

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

    /// Returns the number of stores that random operations fill.
    fn random_cases(&self) -> u32 {
        64
    }
}

/// Generates one test per case.
macro_rules! conformance {
    ($harness:path) => {
        $crate::conformance::conformance! { $harness:
            conversations::repeated_begin_returns_the_same_conversation,
            conversations::begin_with_taken_id_is_an_error,
            conversations::invalid_ids_are_rejected,
            conversations::missing_records_are_unknown,
            conversations::oversized_values_are_rejected,
            leases::lease_has_one_holder,
            leases::expired_lease_can_be_taken,
            leases::holder_can_replace_its_own_lease,
            leases::holder_renews_its_lease,
            leases::released_lease_is_free,
            leases::lost_or_forged_lease_cannot_write,
            leases::expired_lease_cannot_write,
            leases::lost_lease_does_not_release_a_newer_one,
            leases::one_of_sixteen_holders_gets_the_lease,
            lists::conversations_are_listed_in_pages,
            lists::list_starts_after_any_id,
            lists::handoffs_are_listed_newest_first,
            lists::dropped_records_are_not_listed,
            messages::messages_are_stored_in_order,
            messages::bodies_round_trip_byte_for_byte,
            messages::messages_are_read_in_pages,
            messages::status_persists_until_replaced,
            messages::next_epoch_invalidates_the_previous_lease,
            conversations::window_of_a_leased_conversation_changes,
            messages::eight_threads_write_to_eight_conversations,
            forks::fork_shares_earlier_messages,
            forks::fork_and_parent_continue_independently,
            forks::nested_fork_reads_messages_from_both_parents,
            forks::deeply_nested_forks_are_read,
            forks::repeated_fork_returns_the_same_conversation,
            forks::fork_beyond_last_message_is_an_error,
            forks::fork_takes_the_epoch_at_its_position,
            forks::resumed_conversation_can_be_forked,
            commits::handoff_round_trips_byte_for_byte,
            commits::repeated_commit_has_no_effect,
            commits::commit_with_taken_id_and_other_content_is_an_error,
            commits::newer_handoff_supersedes_unclaimed_handoffs,
            commits::lost_lease_cannot_commit,
            commits::previous_handoff_must_exist,
            commits::latest_is_the_newest_resumable_handoff,
            commits::chain_is_returned_newest_first,
            claims::one_of_sixteen_claimants_wins,
            claims::claimant_can_extend_its_claim,
            claims::expired_claim_is_free,
            claims::abandoned_claim_is_free,
            claims::lost_claim_does_not_abandon_a_newer_one,
            claims::superseded_handoff_cannot_be_claimed,
            resumes::resumed_conversation_starts_in_the_next_epoch,
            resumes::resume_ends_the_previous_conversation,
            resumes::handoff_is_resumed_once,
            resumes::repeated_resume_returns_the_same_conversation,
            resumes::repeated_resume_does_not_take_unrelated_conversation,
            resumes::eight_threads_resume_with_one_claim,
            resumes::lost_or_forged_claim_cannot_resume,
            resumes::resume_into_taken_id_is_an_error,
            resumes::resumed_handoff_supersedes_the_others,
            resumes::active_claim_can_resume_after_expiry,
            expiry::unresumed_handoff_expires,
            expiry::idle_conversation_is_dropped_with_its_handoff,
            expiry::active_conversation_is_not_dropped,
            expiry::lease_prevents_dropping_a_conversation,
            expiry::active_fork_prevents_dropping_its_parents,
            expiry::body_is_stored_while_a_conversation_uses_it,
            expiry::active_chain_prevents_dropping_earlier_records,
            expiry::active_claim_prevents_dropping_a_handoff,
            expiry::dropped_handoff_retains_its_state,
            expiry::chain_ends_at_a_dropped_handoff,
            random::random_operations_match_the_memory_store,
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

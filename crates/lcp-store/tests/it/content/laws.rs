//! Every store behaves like a map from hashes to bodies.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::content::support::{every_store, hash};

#[derive(Clone, Debug)]
enum Operation {
    Has(Vec<usize>),
    Get(Vec<usize>),
    Put(Vec<usize>),
    PutOne(usize),
    GetOne(usize),
    Repair(Vec<usize>),
}

/// Bodies by number: some empty, some that compress, some that do not.
fn any_bodies() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let body = prop_oneof![
        Just(Vec::new()),
        vec(any::<u8>(), 0..600),
        ("[a-c ]{1,20}", 1..200usize).prop_map(|(text, times)| text.repeat(times).into_bytes()),
    ];
    vec(body, 1..12)
}

fn any_operation() -> impl Strategy<Value = Operation> {
    let some = || vec(any::<usize>(), 0..8);
    prop_oneof![
        some().prop_map(Operation::Has),
        some().prop_map(Operation::Get),
        some().prop_map(Operation::Put),
        any::<usize>().prop_map(Operation::PutOne),
        any::<usize>().prop_map(Operation::GetOne),
        some().prop_map(Operation::Repair),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn store_behaves_like_a_map(
        bodies in any_bodies(),
        operations in vec(any_operation(), 0..24),
        key in any::<Option<[u8; 32]>>(),
    ) {
        let pick = |number: &usize| &bodies[number % bodies.len()][..];
        let hashes = |numbers: &[usize]| -> Vec<_> {
            numbers.iter().map(|number| hash(pick(number))).collect()
        };
        for mut tested in every_store(key) {
            let (kind, store) = (tested.kind, &mut tested.store);
            let mut map = HashMap::new();
            for operation in &operations {
                match operation {
                    Operation::Has(numbers) => {
                        let expected: Vec<_> =
                            hashes(numbers).iter().map(|hash| map.contains_key(hash)).collect();
                        prop_assert_eq!(store.has_many(&hashes(numbers)), Ok(expected), "{}", kind);
                    }
                    Operation::Get(numbers) => {
                        let expected: Vec<_> =
                            hashes(numbers).iter().map(|hash| map.get(hash).cloned()).collect();
                        prop_assert_eq!(store.get_many(&hashes(numbers)), Ok(expected), "{}", kind);
                    }
                    Operation::Put(numbers) | Operation::Repair(numbers) => {
                        let put: Vec<_> = numbers.iter().map(pick).collect();
                        let given = match operation {
                            Operation::Put(_) => store.put_many(&put),
                            _ => store.repair_many(&put),
                        };
                        prop_assert_eq!(given, Ok(hashes(numbers)), "{}", kind);
                        map.extend(put.iter().map(|body| (hash(body), body.to_vec())));
                    }
                    Operation::PutOne(number) => {
                        let body = pick(number);
                        prop_assert_eq!(store.put(hash(body), body), Ok(()), "{}", kind);
                        map.insert(hash(body), body.to_vec());
                    }
                    Operation::GetOne(number) => {
                        let hash = hash(pick(number));
                        let given = store.get(&hash).map(|body| body.map(Vec::from));
                        prop_assert_eq!(given, Ok(map.get(&hash).cloned()), "{}", kind);
                    }
                }
            }
        }
    }
}

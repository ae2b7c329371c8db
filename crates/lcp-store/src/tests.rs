//! Blocking calls from runtimes of any kind.

use std::time::Duration;

use tokio::runtime::Builder;

use crate::runtime::OwnedRuntime;

#[test]
fn block_on_works_inside_any_runtime() {
    let own = OwnedRuntime::new("test").unwrap();
    let work = || async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        tokio::spawn(async { 7 }).await.unwrap()
    };
    assert_eq!(own.block_on(work()), 7);
    // Without a timer of its own: ours counts.
    let current = Builder::new_current_thread().build().unwrap();
    assert_eq!(current.block_on(async { own.block_on(work()) }), 7);
    let many = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let task = async move { own.block_on(work()) };
    assert_eq!(many.block_on(async { tokio::spawn(task).await.unwrap() }), 7);
}

#[test]
fn block_on_ignores_the_tokio_task_budget() {
    let own = OwnedRuntime::new("test").unwrap();
    let current = Builder::new_current_thread().build().unwrap();
    let sum = current.block_on(async {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        (0..1000).for_each(|n| sender.send(n).unwrap());
        let mut sum = 0;
        // Far more than a task may take before it must yield.
        own.block_on(async {
            for _ in 0..1000 {
                sum += receiver.recv().await.unwrap();
            }
        });
        sum
    });
    assert_eq!(sum, 499_500);
}

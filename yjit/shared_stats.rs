//! yjit/shared_stats.rs - what --yjit-stats and --yjit-trace-exits count in code that several Ractors run
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's stats.rs. Two of its structures are written by compiled code, in any Ractor, and grow.
//! Upstream has them as a Vec each:
//!
//! * how often each method is called. It grows when a block is compiled, which other Ractors run beside
//!   (running_code.rs): they would count in memory that is freed. Here it grows by segments, which are never moved nor freed.
//! * the stack of each exit. All who leave compiled code append to one Vec, upstream without a lock: with several Ractors
//!   it panicked within seconds, or had the collector mark what is no frame. Here they append one at a time, under a lock
//!   of its own. The VM lock would not do: who waits for it is at a safe point, and where a counter is traced, the
//!   frame's registers are not stored. Nothing done under it allocates an object, raises, or waits: the collector, a fork
//!   and others who stop all Ractors find it free. Where the stack ends, which would raise, no exit is recorded.
//!
//! Other counts of --yjit-stats are of one word, and may lose some of what several Ractors add at once.

use super::*;
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::sync::{Mutex, MutexGuard};

const FIRST: usize = 64; // counts of the first segment; each has twice as many as the one before
const SEGMENTS: usize = 26;

/// How often each method of one kind was called. Who resizes it has the VM lock; others count meanwhile.
pub struct CallCounts {
    len: AtomicUsize,
    segments: [AtomicPtr<AtomicU64>; SEGMENTS],
}

impl CallCounts {
    #[allow(clippy::declare_interior_mutable_const)] // what each segment begins with
    const NONE: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

    pub const fn new() -> Self {
        Self { len: AtomicUsize::new(0), segments: [Self::NONE; SEGMENTS] }
    }

    /// Counts that increment() and get() may be given: each index below. VM lock, or an index from who had it.
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    /// Makes it LEN counts long; the new ones are 0. VM lock.
    pub fn resize(&self, len: usize) {
        let (last, _) = Self::place(len - 1);
        for segment in 0..=last {
            if self.segments[segment].load(Ordering::Relaxed).is_null() {
                let counts: Vec<AtomicU64> = (0..FIRST << segment).map(|_| AtomicU64::default()).collect();
                self.segments[segment].store(counts.leak().as_mut_ptr(), Ordering::Relaxed);
            }
        }
        self.len.store(len, Ordering::Release); // the segments, for who finds it long enough
    }

    /// Any Ractor. Nothing else is ordered by it.
    pub fn increment(&self, index: usize) {
        self.count(index).fetch_add(1, Ordering::Relaxed);
    }

    pub fn get(&self, index: usize) -> u64 {
        self.count(index).load(Ordering::Relaxed)
    }

    fn count(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.len());
        let (segment, offset) = Self::place(index);
        unsafe { &*self.segments[segment].load(Ordering::Relaxed).add(offset) }
    }

    fn place(index: usize) -> (usize, usize) {
        let n = index + FIRST;
        let segment = (n.leading_zeros() ^ (usize::BITS - 1)) as usize - FIRST.trailing_zeros() as usize;
        (segment, n - (FIRST << segment))
    }
}

static EXIT_STACKS: Mutex<()> = Mutex::new(());

/// For who reads or appends the stacks of exits, until it is dropped; None at the end of the machine's stack. Any Ractor; no
/// safe point meanwhile. The collector need not: no Ractor stands in the middle of it.
pub fn lock_exit_stacks() -> Option<MutexGuard<'static, ()>> {
    extern "C" {
        fn rb_current_ec_noinline() -> EcPtr;
    }
    let room = cfg!(test) || unsafe { rb_ec_stack_check(rb_current_ec_noinline() as _) == 0 };
    room.then(|| EXIT_STACKS.lock().unwrap())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_index_has_a_place_of_its_own() {
        assert_eq!([0, 63, 64, 191, 192].map(CallCounts::place), [(0, 0), (0, 63), (1, 0), (1, 127), (2, 0)]);
        let counts = CallCounts::new();
        counts.resize(1_000);
        (0..1_000).for_each(|i| (0..i).for_each(|_| counts.increment(i)));
        assert!((0..1_000).all(|i| counts.get(i) == i as u64));
    }

    #[test]
    fn counts_stay_where_they_are_while_others_are_added() {
        static COUNTS: CallCounts = CallCounts::new();
        let counts = &COUNTS;
        counts.resize(1);
        let counting = std::thread::spawn(|| (0..100_000).for_each(|_| COUNTS.increment(0)));
        (2..10_000).for_each(|len| counts.resize(len));
        (0..100_000).for_each(|_| counts.increment(0));
        counting.join().unwrap();
        assert_eq!((counts.get(0), counts.get(9_998)), (200_000, 0));
    }
}

//! What a replay needs to know about system calls of Linux, by their numbers on x86-64.

use super::operation::OpKind;

/// It transfers no data.
const NOTHING: Option<OpKind> = None;
/// It reads from a buffer of the kernel.
const READS: Option<OpKind> = Some(OpKind::Read);
/// It writes to one.
const WRITES: Option<OpKind> = Some(OpKind::Write);

/// The calls that may wait, by number. `splice`, `tee`, `sendfile` and `copy_file_range` read from
/// the buffers of what they copy.
const MAY_WAIT: [(u32, Option<OpKind>); 56] = [
    (0, READS),     // read
    (1, WRITES),    // write
    (7, NOTHING),   // poll
    (17, READS),    // pread64
    (18, WRITES),   // pwrite64
    (19, READS),    // readv
    (20, WRITES),   // writev
    (23, NOTHING),  // select
    (26, NOTHING),  // msync
    (34, NOTHING),  // pause
    (35, NOTHING),  // nanosleep
    (40, READS),    // sendfile
    (42, NOTHING),  // connect
    (43, NOTHING),  // accept
    (44, WRITES),   // sendto
    (45, READS),    // recvfrom
    (46, WRITES),   // sendmsg
    (47, READS),    // recvmsg
    (61, NOTHING),  // wait4
    (65, NOTHING),  // semop
    (69, WRITES),   // msgsnd
    (70, READS),    // msgrcv
    (73, NOTHING),  // flock
    (74, NOTHING),  // fsync
    (75, NOTHING),  // fdatasync
    (128, NOTHING), // rt_sigtimedwait
    (130, NOTHING), // rt_sigsuspend
    (162, NOTHING), // sync
    (202, NOTHING), // futex
    (208, NOTHING), // io_getevents
    (220, NOTHING), // semtimedop
    (230, NOTHING), // clock_nanosleep
    (232, NOTHING), // epoll_wait
    (242, WRITES),  // mq_timedsend
    (243, READS),   // mq_timedreceive
    (247, NOTHING), // waitid
    (270, NOTHING), // pselect6
    (271, NOTHING), // ppoll
    (275, READS),   // splice
    (276, READS),   // tee
    (277, NOTHING), // sync_file_range
    (278, WRITES),  // vmsplice
    (281, NOTHING), // epoll_pwait
    (288, NOTHING), // accept4
    (295, READS),   // preadv
    (296, WRITES),  // pwritev
    (299, READS),   // recvmmsg
    (306, NOTHING), // syncfs
    (307, WRITES),  // sendmmsg
    (326, READS),   // copy_file_range
    (327, READS),   // preadv2
    (328, WRITES),  // pwritev2
    (333, NOTHING), // io_pgetevents
    (426, NOTHING), // io_uring_enter
    (441, NOTHING), // epoll_pwait2
    (449, NOTHING), // futex_waitv
];

fn position(number: u32) -> Option<usize> {
    MAY_WAIT.binary_search_by_key(&number, |&(number, _)| number).ok()
}

/// Whether a call may wait.
pub(super) fn may_wait(number: u32) -> bool {
    position(number).is_some()
}

/// How a call uses a buffer of the kernel, if it transfers data.
pub(super) fn transfer(number: u32) -> Option<OpKind> {
    MAY_WAIT[position(number)?].1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_by_number() {
        assert!(MAY_WAIT.is_sorted_by_key(|&(number, _)| number));
        // sendfile, futex and getpid.
        assert_eq!([40, 202, 39].map(may_wait), [true, true, false]);
        // readv, pwritev2 and poll.
        assert_eq!([19, 328, 7].map(transfer), [READS, WRITES, NOTHING]);
    }
}

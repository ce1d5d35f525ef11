//! What a replay needs to know about system calls of Linux, by their numbers on x86-64.

/// What a call does with the kernel's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// It transfers no data.
    None,
    /// It reads from a buffer.
    Reads,
    /// It writes to a buffer.
    Writes,
}

use Transfer::{None as Nothing, Reads, Writes};

/// The calls that may wait, by number. `splice`, `tee`, `sendfile` and `copy_file_range` read from
/// the buffers of what they copy.
const MAY_WAIT: [(u32, Transfer); 56] = [
    (0, Reads),     // read
    (1, Writes),    // write
    (7, Nothing),   // poll
    (17, Reads),    // pread64
    (18, Writes),   // pwrite64
    (19, Reads),    // readv
    (20, Writes),   // writev
    (23, Nothing),  // select
    (26, Nothing),  // msync
    (34, Nothing),  // pause
    (35, Nothing),  // nanosleep
    (40, Reads),    // sendfile
    (42, Nothing),  // connect
    (43, Nothing),  // accept
    (44, Writes),   // sendto
    (45, Reads),    // recvfrom
    (46, Writes),   // sendmsg
    (47, Reads),    // recvmsg
    (61, Nothing),  // wait4
    (65, Nothing),  // semop
    (69, Writes),   // msgsnd
    (70, Reads),    // msgrcv
    (73, Nothing),  // flock
    (74, Nothing),  // fsync
    (75, Nothing),  // fdatasync
    (128, Nothing), // rt_sigtimedwait
    (130, Nothing), // rt_sigsuspend
    (162, Nothing), // sync
    (202, Nothing), // futex
    (208, Nothing), // io_getevents
    (220, Nothing), // semtimedop
    (230, Nothing), // clock_nanosleep
    (232, Nothing), // epoll_wait
    (242, Writes),  // mq_timedsend
    (243, Reads),   // mq_timedreceive
    (247, Nothing), // waitid
    (270, Nothing), // pselect6
    (271, Nothing), // ppoll
    (275, Reads),   // splice
    (276, Reads),   // tee
    (277, Nothing), // sync_file_range
    (278, Writes),  // vmsplice
    (281, Nothing), // epoll_pwait
    (288, Nothing), // accept4
    (295, Reads),   // preadv
    (296, Writes),  // pwritev
    (299, Reads),   // recvmmsg
    (306, Nothing), // syncfs
    (307, Writes),  // sendmmsg
    (326, Reads),   // copy_file_range
    (327, Reads),   // preadv2
    (328, Writes),  // pwritev2
    (333, Nothing), // io_pgetevents
    (426, Nothing), // io_uring_enter
    (441, Nothing), // epoll_pwait2
    (449, Nothing), // futex_waitv
];

fn position(number: u32) -> Option<usize> {
    MAY_WAIT.binary_search_by_key(&number, |&(number, _)| number).ok()
}

/// Whether a call may wait.
pub(super) fn may_wait(number: u32) -> bool {
    position(number).is_some()
}

/// What a call does with the kernel's buffers.
pub(super) fn transfer(number: u32) -> Transfer {
    position(number).map_or(Nothing, |at| MAY_WAIT[at].1)
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
        assert_eq!([19, 328, 7].map(transfer), [Reads, Writes, Nothing]);
    }
}

//! Health checks: faults of a job database that nothing else on the pages would show.

/// One question about a job database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Check {
    /// Due members of the schedule that no scheduler releases.
    OverdueSchedule,
    /// Jobs in Enqueued without a row in the queue table.
    EnqueuedWithoutQueueRow,
    /// Jobs in Scheduled without a member in the schedule.
    ScheduledWithoutMember,
    /// Jobs in Processing whose server is gone.
    ProcessingWithoutServer,
    /// Jobs with several queue rows.
    SeveralQueueRows,
    /// Waiting queue rows of queues that no living server serves.
    UnservedQueue,
    /// Jobs awaiting a parent that is gone or has finished.
    AwaitingFinishedParent,
    /// Jobs awaiting a parent that rests in Failed.
    AwaitingFailedParent,
    /// Recurring jobs that are stopped or have an error.
    RecurringStopped,
    /// Jobs that stay between two states (`SQLite` only).
    Unsettled,
    /// Lock rows that nobody seems to hold any more.
    OldLock,
    /// Jobs without any state.
    WithoutState,
    /// Queue rows of jobs that do not exist.
    QueueRowWithoutJob,
    /// Queue rows of jobs that have finished.
    QueueRowOfFinishedJob,
    /// Members of the schedule, the retries or the awaiting jobs that fit no job.
    MemberWithoutJob,
    /// Rows of servers that send no heartbeats.
    SilentServer,
    /// Servers whose start is not a date.
    OddServerStart,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Jobs stand still or may run twice: somebody must act.
    Action,
    /// Worth knowing; it mends itself, or does no harm.
    Notice,
}

impl Check {
    /// Every check, the gravest first.
    pub const ALL: [Self; 17] = [
        Self::OverdueSchedule,
        Self::EnqueuedWithoutQueueRow,
        Self::ScheduledWithoutMember,
        Self::ProcessingWithoutServer,
        Self::SeveralQueueRows,
        Self::UnservedQueue,
        Self::AwaitingFinishedParent,
        Self::AwaitingFailedParent,
        Self::RecurringStopped,
        Self::Unsettled,
        Self::OldLock,
        Self::WithoutState,
        Self::QueueRowWithoutJob,
        Self::QueueRowOfFinishedJob,
        Self::MemberWithoutJob,
        Self::SilentServer,
        Self::OddServerStart,
    ];

    /// Its word in JSON.
    pub fn slug(self) -> &'static str {
        match self {
            Self::OverdueSchedule => "overdue-schedule",
            Self::EnqueuedWithoutQueueRow => "enqueued-without-queue-row",
            Self::ScheduledWithoutMember => "scheduled-without-member",
            Self::ProcessingWithoutServer => "processing-without-server",
            Self::SeveralQueueRows => "several-queue-rows",
            Self::UnservedQueue => "unserved-queue",
            Self::AwaitingFinishedParent => "awaiting-finished-parent",
            Self::AwaitingFailedParent => "awaiting-failed-parent",
            Self::RecurringStopped => "recurring-stopped",
            Self::Unsettled => "unsettled",
            Self::OldLock => "old-lock",
            Self::WithoutState => "without-state",
            Self::QueueRowWithoutJob => "queue-row-without-job",
            Self::QueueRowOfFinishedJob => "queue-row-of-finished-job",
            Self::MemberWithoutJob => "member-without-job",
            Self::SilentServer => "silent-server",
            Self::OddServerStart => "odd-server-start",
        }
    }

    /// How much a finding of it matters.
    pub fn severity(self) -> Severity {
        match self {
            Self::OverdueSchedule
            | Self::EnqueuedWithoutQueueRow
            | Self::ScheduledWithoutMember
            | Self::ProcessingWithoutServer
            | Self::SeveralQueueRows
            | Self::UnservedQueue
            | Self::AwaitingFinishedParent
            | Self::RecurringStopped
            | Self::Unsettled => Severity::Action,
            Self::AwaitingFailedParent
            | Self::OldLock
            | Self::WithoutState
            | Self::QueueRowWithoutJob
            | Self::QueueRowOfFinishedJob
            | Self::MemberWithoutJob
            | Self::SilentServer
            | Self::OddServerStart => Severity::Notice,
        }
    }

    /// What was found, to be read after its number: "94 members of the schedule …".
    pub fn what(self, count: i64) -> &'static str {
        let (one, many) = self.one_and_many();
        if count == 1 { one } else { many }
    }

    fn one_and_many(self) -> (&'static str, &'static str) {
        match self {
            Self::OverdueSchedule => (
                "member of the schedule has been due for more than a minute and was not released",
                "members of the schedule have been due for more than a minute and were not released",
            ),
            Self::EnqueuedWithoutQueueRow => (
                "job says Enqueued, but has had no queue row for more than a minute",
                "jobs say Enqueued, but have had no queue row for more than a minute",
            ),
            Self::ScheduledWithoutMember => (
                "job says Scheduled, but is not in the schedule",
                "jobs say Scheduled, but are not in the schedule",
            ),
            Self::ProcessingWithoutServer => (
                "job says Processing on a server that is gone",
                "jobs say Processing on a server that is gone",
            ),
            Self::SeveralQueueRows => (
                "job has more than one queue row",
                "jobs have more than one queue row",
            ),
            Self::UnservedQueue => (
                "job waits in a queue that no living server serves",
                "jobs wait in queues that no living server serves",
            ),
            Self::AwaitingFinishedParent => (
                "job awaits a parent that is gone or has already finished",
                "jobs await a parent that is gone or has already finished",
            ),
            Self::AwaitingFailedParent => (
                "job awaits a parent that rests in Failed",
                "jobs await a parent that rests in Failed",
            ),
            Self::RecurringStopped => (
                "recurring job is stopped or could not be scheduled",
                "recurring jobs are stopped or could not be scheduled",
            ),
            Self::Unsettled => (
                "job has stayed between two states for more than a minute",
                "jobs have stayed between two states for more than a minute",
            ),
            Self::OldLock => (
                "lock row has outlived its holder, or is held for long",
                "lock rows have outlived their holder, or are held for long",
            ),
            Self::WithoutState => (
                "job has had no state for more than five minutes",
                "jobs have had no state for more than five minutes",
            ),
            Self::QueueRowWithoutJob => {
                ("queue row belongs to no job", "queue rows belong to no job")
            }
            Self::QueueRowOfFinishedJob => (
                "queue row belongs to a job that has finished",
                "queue rows belong to jobs that have finished",
            ),
            Self::MemberWithoutJob => (
                "member of schedule, retries or awaiting fits no job in that state",
                "members of schedule, retries or awaiting fit no job in that state",
            ),
            Self::SilentServer => (
                "server has sent no heartbeat for more than five minutes",
                "servers have sent no heartbeat for more than five minutes",
            ),
            Self::OddServerStart => (
                "server says a start that is not a date",
                "servers say a start that is not a date",
            ),
        }
    }

    /// What it means.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::OverdueSchedule => {
                "No scheduler is at work: retries and delayed jobs stand still, on every server. A \
                 server that was killed may still hold the scheduler's lock; then this lasts until \
                 the lock is ten minutes old."
            }
            Self::EnqueuedWithoutQueueRow => "No worker will ever see these jobs.",
            Self::ScheduledWithoutMember => "The scheduler will never release these jobs.",
            Self::ProcessingWithoutServer => {
                "Nobody works on these jobs. Hangfire takes one up again when its queue row has \
                 been taken for longer than the invisibility time-out; without a queue row, never."
            }
            Self::SeveralQueueRows => "Each row is one run: these jobs may run more than once.",
            Self::UnservedQueue => "These jobs wait until a server with that queue starts.",
            Self::AwaitingFinishedParent => {
                "The moment at which these jobs would have been released has passed."
            }
            Self::AwaitingFailedParent => {
                "A failed parent releases nothing: these jobs wait until it is requeued or deleted."
            }
            Self::RecurringStopped => {
                "A recurring job without a next run does not run; the usual cause is a class or \
                 method that no longer exists."
            }
            Self::Unsettled => {
                "A server stopped between writing a job's new state and moving the job to it."
            }
            Self::OldLock => {
                "Who wants the same lock waits until it is ten minutes old. A job that holds one for \
                 its whole run looks the same."
            }
            Self::WithoutState => {
                "Whoever created these jobs stopped half-way; official dashboards never list them."
            }
            Self::QueueRowWithoutJob | Self::QueueRowOfFinishedJob => {
                "A worker that takes such a row drops it."
            }
            Self::MemberWithoutJob => {
                "The official dashboard lists them; the scheduler drops its own when they are due."
            }
            Self::SilentServer => {
                "A living server of the same database removes these rows within ten minutes."
            }
            Self::OddServerStart => "The start is shown as it is stored.",
        }
    }

    /// What to do.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::OverdueSchedule => {
                "See that a server is running. If one is, wait until the lock is ten minutes old, \
                 or restart the servers and delete that lock row."
            }
            Self::EnqueuedWithoutQueueRow | Self::ProcessingWithoutServer => {
                "Look at each job, then requeue it."
            }
            Self::ScheduledWithoutMember | Self::AwaitingFinishedParent => {
                "Enqueue them now, or delete them."
            }
            Self::SeveralQueueRows => {
                "Delete the surplus rows while no worker has taken them, or make sure that a second \
                 run does no harm."
            }
            Self::UnservedQueue => {
                "Start a server for the queue, or requeue the jobs to a queue that is served."
            }
            Self::AwaitingFailedParent => "Requeue the parent, or delete it.",
            Self::RecurringStopped => "Register it anew from the application, or remove it there.",
            Self::Unsettled => {
                "Look at each job's last rows. A job whose server is gone can be requeued from the \
                 official dashboard."
            }
            Self::OldLock => "If its holder is gone, delete the row.",
            Self::WithoutState => "Nothing: they expire by themselves.",
            Self::QueueRowWithoutJob | Self::QueueRowOfFinishedJob => "Nothing.",
            Self::MemberWithoutJob => "Delete those members where they disturb.",
            Self::SilentServer => "Nothing, unless no server of this database is alive.",
            Self::OddServerStart => "Update the server's Hangfire.",
        }
    }
}

/// What a check saw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sighting {
    /// How many; 0 is well.
    pub count: i64,
    /// At most [`Sighting::EXAMPLES`] of them: ids of jobs, names of queues, locks or servers.
    pub examples: Vec<String>,
    /// What else was seen, in one sentence.
    pub detail: Option<String>,
}

impl Sighting {
    /// How many examples are named.
    pub const EXAMPLES: usize = 5;
}

/// The ages from which on a check sees something, in seconds. A state that Hangfire merely passes
/// through must not look like a fault.
#[derive(Debug, Clone, Copy)]
pub struct Ages;

impl Ages {
    /// What is in flight is settled after this.
    pub const IN_FLIGHT: i64 = 60;
    /// A job without a state is being created no longer.
    pub const CREATING: i64 = 300;
    /// A server without a heartbeat is gone (Hangfire's own default).
    pub const SERVER: i64 = 300;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_reads_well_after_its_number() {
        let said = |count| format!("{count} {}", Check::RecurringStopped.what(count));
        assert_eq!(
            said(1),
            "1 recurring job is stopped or could not be scheduled"
        );
        assert_eq!(
            said(2),
            "2 recurring jobs are stopped or could not be scheduled"
        );
        assert_eq!(
            said(0),
            "0 recurring jobs are stopped or could not be scheduled"
        );
    }
}

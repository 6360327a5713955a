/// A promise of the documentation, in its own words, that the worlds put to the test.
enum Promise: String, CaseIterable {
    // The store
    case committedIsCommitted = """
        No acknowledged write, operation or state is lost by a kill, a power failure, a full disk or a \
        failing one.
        """
    case allOrNothing = "all of its changes are committed, or none if it throws."
    case relaxedLosesTheNewest = """
        At a power failure the last relaxed commits may be lost, newest first; never half of one, and none \
        before a durable one.
        """
    case storeGoesOn = "The disk is full; the store goes on when there is room again."
    case commitsAreNotMixed = "A view, a reader, a cache never mix two commits"
    case indexesAreCurrent = """
        The order of a collection's objects by some of their fields, kept in every transaction.
        """
    case changesHaveNoGap = """
        An observer that falls behind gets several commits in one change set, as one range without a gap: \
        `first` is always the number after the last one it has seen.
        """
    case changesAreNet = "What one commit changed: its net effect on the objects."
    case viewsAdvanceAtOnce = "Moves to the newest commit, with all lists, in one step."
    case listsAreSorted = """
        The objects of a collection in sections and in order, as a view shows them.
        """

    // The queue
    case oneTransaction = """
        Object and operation are one transaction, and so are the new tag and the operation's removal.
        """
    case nothingHappensTwice = "Nothing happens twice."
    case oneProcessRuns = "one process runs the queue, the others enqueue and follow it."
    case runsEnd = """
        Runs operations until the surrounding task is cancelled, or the store is closed.
        """
    case onePipelineOneQueue = """
        - Throws: ``QueueError/pipelineExists(_:)``, or what the store throws.
        """
    case dependenciesGoFirst = """
        Operations of all commits run as their dependencies, explicit ones and those that follow from \
        footprints, allow.
        """
    case commitsGoInOrder = "All operations of a commit are finished before one of the next starts"
    case conditionsAreAwaited = "What the device must have before anything starts."
    case suspensionsOutliveLaunches = """
        Starts nothing of a pipeline any more, over launches, until it is resumed.
        """
    case suspensionsOfALaunch = """
        Starts nothing any more until it is resumed; what runs goes on.
        """
    case holdsKeep = "Keeps an operation from starting until a date, or until it is released."
    case pausesAreKept = """
        all operations for it wait for the delay, and go slower afterwards.
        """
    case concurrencyHasALimit = "How many operations run at once; 0 for any number."
    case nothingIsStuck = "Nothing is stuck without a reason"
    case auditsFindNothing = "every status has one, and `queue.audit()` proves it."
    case newestDataIsPushed = "An operation says what to do; the data is read when it runs."
}

// Bugs that are there only when the package is built with GODWIT_PLANTED_BUGS=1: the simulation has
// to find each of them, or it would not find the next one of ours. In every other build
// `isPlanted` is a constant, and nothing of this is left.

#if GODWIT_PLANTED_BUGS
enum PlantedBug: CaseIterable, Sendable {
    /// The end of an operation lets only one of those go that wait for it.
    case letsOneGo
    /// The next commit opens while one operation of the last one is left.
    case opensEarly
    /// A dead letter keeps its commit open.
    case deadLetterBlocks
    /// An attempt that is over still counts as running.
    case leaksRunning
    /// An operation that waits again is in nobody's heap.
    case forgetsRequeued
    /// A hold closes no gate.
    case holdsNothing
    /// The end of one hold ends all of them.
    case releasesAll
    /// A date that has not come yet is not looked at again.
    case looksOnce
    /// With another priority an operation is in nobody's heap.
    case losesReprioritized
    /// As many run as like to.
    case ignoresLimit
    /// One resume undoes all suspensions for a reason.
    case resumesAll
    /// A dead letter that is tried again does not keep the order of commits.
    case unparksAnywhere
    /// What goes on outside of the process does not count as running.
    case adoptsForFree
    /// New needs are added to the old ones' count.
    case keepsOldNeeds
    /// Nobody waits for a host that asked for a pause.
    case ignoresPause
    /// Nobody looks at whether there is a network.
    case ignoresConditions
    /// An operation at the top of the heap starts, whatever it waits for by now.
    case trustsHeap
    /// Nobody wakes up when a host may be asked again.
    case sleepsThroughPause
    /// What is needed and was read before is no need.
    case forgetsNeedsOnLoad
    /// A place that is free again is still waited for.
    case reusesDirtySlots

    @TaskLocal static var current: PlantedBug?
}

func isPlanted(_ bug: PlantedBug) -> Bool { PlantedBug.current == bug }
#else
enum PlantedBug {
    case letsOneGo, opensEarly, deadLetterBlocks, leaksRunning, forgetsRequeued, holdsNothing
    case releasesAll, looksOnce, losesReprioritized, ignoresLimit, resumesAll, unparksAnywhere
    case adoptsForFree, keepsOldNeeds, ignoresPause, ignoresConditions, trustsHeap
    case sleepsThroughPause, forgetsNeedsOnLoad, reusesDirtySlots
}

@inline(__always) func isPlanted(_ bug: PlantedBug) -> Bool { false }
#endif

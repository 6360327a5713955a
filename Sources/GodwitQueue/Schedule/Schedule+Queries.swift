internal import GodwitStore

extension Schedule {
    /// What keeps an operation from starting, as far as a schedule knows.
    struct Position: Hashable {
        let state: State
        let commit: CommitNumber
        let lane: Int
        let host: Int
        /// The unfinished operations that it needs.
        let needs: [OperationNumber]
        /// Whether an earlier commit of its lane is unfinished.
        let isClosed: Bool
        let isHeld: Bool

        var isReady: Bool { state == .waiting && needs.isEmpty && !isClosed && !isHeld }
    }

    func contains(_ number: OperationNumber) -> Bool { places[number] != nil }

    func position(of number: OperationNumber) -> Position? {
        guard let place = places[number] else { return nil }
        let slot = slots[Int(place)]
        return Position(
            state: slot.state,
            commit: slot.commit,
            lane: Int(slot.lane),
            host: Int(slot.host),
            needs: edges.unmetNeeds(startingAt: slot.needs).map { slots[Int($0)].number }.sorted(),
            isClosed: slot.isClosed,
            isHeld: slot.isHeld
        )
    }

    /// The operations that wait for this one.
    func dependents(of number: OperationNumber) -> [OperationNumber] {
        guard let place = places[number] else { return [] }
        return edges.dependents(startingAt: slots[Int(place)].dependents)
            .map { slots[Int($0)].number }.sorted()
    }

    /// The operations of a lane's open commits that have to go before the next one opens; O(n).
    func openOperations(of lane: Int) -> [OperationNumber] {
        slots.filter { slot in
            slot.isOrdered && !slot.isClosed && Int(slot.lane) == lane
                && (slot.state == .waiting || slot.state == .running)
        }.map(\.number).sorted()
    }

    /// All unfinished operations in the order of enqueuing; O(n log n).
    var numbers: [OperationNumber] { places.keys.sorted() }
}

// MARK: - Invariants

extension Schedule {
    /// Stops the program when an invariant is broken; for tests.
    ///
    /// O(n).
    func checkInvariants() {
        var running = Array(repeating: 0, count: lanes.count)
        var open = running
        for (number, place) in places {
            let slot = slots[Int(place)]
            precondition(slot.number == number && slot.state != .free, "(1) a slot for each")
            let needs = edges.unmetNeeds(startingAt: slot.needs)
            for needed in needs {
                precondition(slots[Int(needed)].state != .free, "(3) what is needed is unfinished")
                let dependents = edges.dependents(startingAt: slots[Int(needed)].dependents)
                precondition(dependents.contains(place), "(3) and knows it")
            }
            let gates = needs.count + (slot.isClosed ? 1 : 0) + (slot.isHeld ? 1 : 0)
            precondition(gates == Int(slot.gates), "(3) gates are counted")
            if slot.state == .waiting, gates == 0 { precondition(slot.isInHeap, "(4)") }
            if slot.state == .running { running[Int(slot.lane)] += 1 }
            if slot.isOrdered, !slot.isClosed, slot.state != .parked { open[Int(slot.lane)] += 1 }
        }
        for (lane, index) in zip(lanes, lanes.indices) {
            precondition(lane.runningCount == running[index], "(5) what runs is counted")
            precondition(lane.line.openCount == open[index], "(2) what is open is counted")
            precondition(lane.offersAll, "(6)")
            let isWaiting = places.values.contains {
                slots[Int($0)].isClosed && Int(slots[Int($0)].lane) == index
            }
            precondition(open[index] > 0 || !isWaiting, "(2) a commit is open while one is left")
        }
    }
}

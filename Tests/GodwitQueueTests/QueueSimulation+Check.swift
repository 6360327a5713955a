import GodwitStore

@testable import GodwitQueue

// What must hold, as the world's own books have it.

extension QueueSimulation {
    /// Why an operation must not start now; nil when it may.
    func reasonNotToStart(_ number: OperationNumber) -> String? {
        guard let row = rows[number] else { return "it has left the queue" }
        let item = row.item
        let lane = lanes[item.lane]
        let running = rows.values.filter { $0.epoch != nil && $0.item.lane == item.lane }
        if row.isRefused { return "it is a dead letter" }
        if row.epoch != nil { return "it runs already" }
        if lane.limit > 0, running.count >= lane.limit { return "\(running.count) run" }
        if let need = item.needs.first(where: { rows[$0] != nil }) { return "it needs \(need)" }
        if let hold = row.holds.first(where: { !$0.value.isPast(at: now) }) {
            return "it is held by \(hold.key)"
        }
        if let retry = row.retry, retry > now.elapsed { return "its delay is not over" }
        for key in [-1, item.lane] where !(suspensions[key] ?? [:]).isEmpty {
            return "lane \(key) is suspended"
        }
        if !lane.requirements.missing(in: conditions).isEmpty { return "there is no network" }
        if let pause = pauses[item.host], pause > now.elapsed { return "its host wants a pause" }
        let earlier = rows.values.first { other in
            lane.isOrdered && other.item.lane == item.lane && other.item.commit < item.commit
                && !other.isRefused && !other.wasRefused
        }
        return earlier.map { "commit \($0.item.commit) is not done" }
    }

    /// Nothing is lost, doubled or out of order.
    mutating func checkEnd() {
        guard fault == nil else { return }
        let expected = enqueued.values.filter { rows[$0.number] == nil }.map(\.number)
        guard Set(applied) == Set(expected) else {
            fault = "the cloud has \(applied), and not \(expected.sorted())"
            return
        }
        let place = Dictionary(uniqueKeysWithValues: zip(applied, applied.indices))
        for item in enqueued.values {
            guard let own = place[item.number] else { continue }
            for need in item.needs where (place[need] ?? -1) > own {
                fault = "\(item.number) came before \(need)"
            }
        }
    }
}

import GodwitStore
import GodwitTestKit
import GodwitTree

@testable import GodwitReplication

extension LineWorld {
    static let lists = ["a", "b"].map { ObjectKey(collection: "lists", key: $0) }

    /// Makes a random edit on a device.
    mutating func edit(_ index: Int) throws {
        let list = Self.lists[Int.random(in: 0...1, using: &random)]
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3: try insertItem(index, list)
        case 4, 5: try removeItem(index, list)
        case 6: try increment(index, list)
        case 7: if try !shortenCard(index) { try createCard(index) }
        case 8: try writeNote(index)
        default: try remove(index)
        }
    }

    private mutating func change(_ index: Int, _ key: ObjectKey, by delta: ObjectDelta) throws {
        trace("device \(index) edits \(key): \(delta.change)")
        try devices[index].change(key, by: delta)
    }

    private mutating func insertItem(_ index: Int, _ list: ObjectKey) throws {
        let number = ledger.number()
        let item: Value = ["id": .int(number)]
        ledger.note(.created, number, by: index)
        guard let old = devices[index].objects[list] else {
            let new = VersionedValue(["items": [item], "count": 0])
            return try change(index, list, by: .set(new))
        }
        let count = old.value["items"]?.list?.count ?? 0
        let place = Int.random(in: 0...count, using: &random)
        try record(index, list) { $0.items.list.insert(item, at: place) }
    }

    private mutating func removeItem(_ index: Int, _ list: ObjectKey) throws {
        guard let items = devices[index].objects[list]?.value["items"]?.list, !items.isEmpty
        else { return }
        let place = Int.random(in: 0..<items.count, using: &random)
        ledger.note(.removed, items[place]["id"]?.integer ?? 0, by: index)
        try record(index, list) { $0.items.list.remove(at: place) }
    }

    private mutating func increment(_ index: Int, _ list: ObjectKey) throws {
        guard devices[index].objects[list] != nil else { return }
        ledger.note(.added, list == Self.lists[0] ? 0 : 1, by: index)
        let delta = Delta.map(["count": .apply(.adding(1))])
        try change(index, list, by: ObjectDelta(.apply(delta), version: 1))
    }

    private mutating func createCard(_ index: Int) throws {
        let number = ledger.number()
        var card: Value = ["id": .int(number)]
        if faults.rejections, random.happens(0.2) {
            let text = String(repeating: "x", count: Self.objectSizeMax)
            card = ["id": .int(-number), "text": .string(Key(text))]
        } else {
            ledger.note(.created, number, by: index)
        }
        let key = ObjectKey(collection: "cards", key: Key("c\(number)"))
        try change(index, key, by: .set(VersionedValue(card)))
    }

    /// Shortens a card that the server has refused.
    private mutating func shortenCard(_ index: Int) throws -> Bool {
        let held = devices[index].slice.pending.filter { $0.value.rejection != nil }.keys.sorted()
        guard let key = held.first(where: { $0.collection == "cards" }),
            devices[index].objects[key] != nil
        else { return false }
        let number = ledger.number()
        ledger.note(.created, number, by: index)
        try change(index, key, by: .set(VersionedValue(["id": .int(number)])))
        return true
    }

    /// Creates a note, or overwrites what another device has written.
    private mutating func writeNote(_ index: Int) throws {
        let key = ObjectKey(
            collection: "notes",
            key: Key("n\(Int.random(in: 0...2, using: &random))")
        )
        let number = ledger.number()
        if let old = devices[index].number(of: key) { ledger.note(.removed, old, by: index) }
        ledger.note(.created, number, by: index)
        try change(index, key, by: .set(VersionedValue(["id": .int(number)])))
    }

    /// Removes a card or a note.
    private mutating func remove(_ index: Int) throws {
        let keys = devices[index].objects.keys.filter {
            ["cards", "notes"].contains($0.collection)
        }
        guard let key = keys.sorted().randomElement(using: &random),
            let number = devices[index].number(of: key)
        else { return }
        if number > 0 { ledger.note(.removed, number, by: index) }
        try change(index, key, by: .removed)
    }

    /// Edits a list as `WriteTransaction.edit` does, and records how.
    private mutating func record(
        _ index: Int,
        _ key: ObjectKey,
        _ body: (inout Draft) throws -> Void
    ) throws {
        var value = devices[index].objects[key]?.value ?? [:]
        let delta = try value.edit(body)
        try change(index, key, by: ObjectDelta(.apply(delta), version: 1))
    }
}

// MARK: - The end

extension LineWorld {
    /// Looks for everything that may not be.
    mutating func check() {
        let head = server.head.state
        let values = server.objects.compactMapValues(\.value)
        let conflicts = values.filter { $0.key.isReserved }.values
            .compactMap { ConflictRecord($0.value) }.flatMap(\.conflicts.values)
        for (index, device) in devices.enumerated() {
            problems += device.problems.map { "device \(index): \($0)" }
            guard device.isSettled(with: head) else {
                problems.append("device \(index) is not in sync")
                continue
            }
            let held = device.slice.pending.keys
            let own = device.objects.filter { !held.contains($0.key) }
            let theirs = values.filter { !held.contains($0.key) }
            if own != theirs { problems.append("device \(index) has other objects") }
        }
        checkEdits(values.filter { !$0.key.isReserved }.map(\.value), conflicts)
        checkRows()
    }

    private mutating func checkEdits(_ values: [VersionedValue], _ conflicts: [Conflict]) {
        let sides = conflicts.flatMap { [$0.ours, $0.theirs] }
        let recorded = ledger.numbers(in: sides.compactMap(\.self))
        let present = ledger.numbers(in: values.map(\.value)).filter { $0 > 0 }
        let (created, removed) = (ledger.numbers(.created), ledger.numbers(.removed))
        for number in Set(present) where present.count(where: { $0 == number }) > 1 {
            problems.append("\(number) is there twice")
        }
        let lost = created.subtracting(removed).subtracting(present).subtracting(recorded)
            .subtracting(ledger.excused)
        let back = removed.intersection(present).subtracting(recorded).subtracting(ledger.excused)
            .subtracting(ledger.copied)
        // The server takes one of several lost lines for a part of the other, and a clone that has been
        // in touch hides that states of its twin are lost.
        let isAmbiguous = serverRestores > 1 || serverRestores > 0 && copies > 0
        if !lost.isEmpty, !isAmbiguous { problems.append("lost: \(lost.sorted())") }
        if !back.isEmpty, !isAmbiguous { problems.append("came back: \(back.sorted())") }
        // Of two clones, one may not know of the other when it sends what both had added. A restored device
        // sends again what a restored server has forgotten, and another device gives back.
        guard clones == 0, serverRestores == 0 || copies == 0 else { return }
        for (number, list) in Self.lists.enumerated() {
            let added = ledger.edits.filter { $0.kind == .added && $0.number == Int64(number) }
            let count = server.objects[list]?.value?.value["count"]?.integer ?? 0
            // What is doubtful adds nothing where both sides have added.
            let isExact = serverRestores == 0 && copies == 0
            if isExact ? count != added.count : count > added.count {
                problems.append("\(list) counts \(count) of \(added.count)")
            }
        }
    }

    private mutating func checkRows() {
        var (sum, size) = (ContentSum.empty, Int64(0))
        for (key, object) in server.objects {
            sum.replace(nil, with: object.value, at: key)
            size += LineHead.size(of: object.value, at: key)
        }
        if sum != server.head.sum { problems.append("the server's sum is wrong") }
        if size != server.head.size { problems.append("the server's size is wrong") }
        let most =
            2 * server.peers.count + 1 + server.restorations.count + server.openings.count
        for (index, device) in devices.enumerated() where copies == 0 {
            if device.recoveryCount > 0, !device.hasDistrusted, serverRestores == 0 {
                problems.append("the server did not have the base of device \(index)")
            }
            if device.slice.identity.client != .number(index + 1) {
                problems.append("device \(index) has found a clone that is not there")
            }
        }
        for (key, object) in server.objects where !key.isReserved {
            if object.value.map(\.value.canonicalBytes.count) ?? 0 > Self.objectSizeMax {
                problems.append("\(key) is too large")
            }
        }
        if server.states.count > most { problems.append("too many states") }
        for (key, object) in server.objects where object.entries.count > server.states.count {
            problems.append("\(key) has \(object.entries.count) entries")
        }
    }
}

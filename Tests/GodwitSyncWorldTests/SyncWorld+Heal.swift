import Foundation
import GRDB
import GodwitTestKit
import GodwitTree

@testable import GodwitReplication
@testable import GodwitStore

// The end of a world: nothing fails any more, and everything must come to rest, equal everywhere.

extension SyncWorld {
    private static let jobsMax = 60_000
    /// How many requests a device may need at the end.
    private static let requestMax = 120

    func heal() {
        note("everything is healed")
        for machine in machines { mend(machine) }
        isNetworkBad = false
        for device in devices { device.isOnline = true }
        if faults.isFull { makeRoom() }
        openWhatIsClosed()
        runJobs(200)
        for device in devices { for launch in device.alive { setStrict(false, launch) } }
        isHealed = true
        runUntilQuiet(jobsMax: Self.jobsMax)
        note("it has come to rest")
        if violation == nil { check() }
    }

    /// Ends all programs: the server's next one takes everything, and those of devices send it again.
    private func makeRoom() {
        hasRoom = true
        buryHost()
        for device in devices { for launch in device.alive { bury(launch, of: device) } }
    }

    func runUntilQuiet(jobsMax: Int) {
        var jobs = 0
        while violation == nil, !isQuiet() {
            closePoisoned()
            openWhatIsClosed()
            runJobs(50)
            jobs += 50
            if jobs > jobsMax { violate("the devices do not come to rest: \(unrest())") }
        }
    }

    private func isQuiet() -> Bool {
        guard let head = head() else { return false }
        return devices.allSatisfy { device in
            guard let launch = device.app, launch.replica != nil else { return false }
            let isSettled = try? launch.store.database.read { database in
                guard let (number, _) = try DeviceTable.names(in: database).first else {
                    return false
                }
                return try DeviceTable.base(of: number, in: database) == head
                    && PendingTable.refused(of: number, in: database).isEmpty
                    && !PendingTable.isDirty(number, in: database)
                    && Int.fetchOne(database, sql: "SELECT COUNT(*) FROM godwit_operation") == 0
            }
            return isSettled ?? false
        }
    }

    private func unrest() -> String {
        let head = head()?.serial ?? -1
        let devices = devices.map { device in
            guard let launch = device.app else { return "closed" }
            let text = try? launch.store.database.read { database in
                guard let (number, _) = try DeviceTable.names(in: database).first else {
                    return "without the replica"
                }
                let base = try DeviceTable.base(of: number, in: database).serial
                let count = try PendingTable.count(of: number, in: database)
                let sql = "SELECT state FROM godwit_operation"
                let operations = try String.fetchAll(database, sql: sql)
                return "at \(base), \(count) pending, \(operations)"
            }
            return text ?? "unreadable"
        }
        return "head \(head), \(devices)"
    }

    private func head() -> LineState? {
        try? host.launches.first?.store.database.read { database in
            let line = try LineTable.number(of: .simulated, in: database)
            return try LineTable.head(of: line, collections: [], in: database).state
        }
    }
}

// MARK: - The end

extension SyncWorld {
    private func check() {
        guard let values = serverValues() else { return violate("the server cannot be read") }
        for device in devices {
            do { try check(device, values) } catch {
                violate("device \(device.index) cannot be read: \(error)")
            }
        }
        checkEdits(values)
        checkCounts(values)
        do { try checkRows() } catch { violate("the server cannot be read: \(error)") }
        let requestMax = Self.requestMax * devices.count
        if healedRequestCount > requestMax {
            violate("\(healedRequestCount) requests were needed at the end")
        }
    }

    private func check(_ device: Device, _ values: [ObjectKey: Value]) throws {
        guard let launch = device.app else { return }
        let (objects, held, isSound) = try launch.store.database.read { database in
            guard let (number, _) = try DeviceTable.names(in: database).first else {
                throw ReplicationError.unknownReplica("simulated")
            }
            let rows = try PendingTable.all(of: number, in: database)
            var sum = ContentSum.empty
            var base = try DeviceLaunch.versioned(in: database)
            let objects = base.mapValues(\.value)
            for (key, row) in rows { base[key] = row.base }
            for (key, object) in base { sum.replace(nil, with: object, at: key) }
            let replica = try DeviceTable.replica(number, in: database)
            return (objects, Set(rows.keys), sum == replica.sum)
        }
        if !isSound { violate("device \(device.index): the sum is not that of its base") }
        if !held.isEmpty, !faults.rejections {
            violate("device \(device.index) holds \(held)")
        }
        // A copy of a device may not know that it has sent what a merge has made of its shape.
        for (key, shape) in objects where key.collection == Self.shapes.name && copyCount == 0 {
            guard shape.map?.count != 1 else { continue }
            violate("device \(device.index) cannot read \(key): \(shape)")
        }
        let own = objects.filter { !held.contains($0.key) }
        let theirs = values.filter { !held.contains($0.key) }
        if own != theirs {
            let keys = Set(own.keys).union(theirs.keys).filter { own[$0] != theirs[$0] }
            violate("device \(device.index) has another \(keys.sorted())")
        }
    }

    private func checkEdits(_ values: [ObjectKey: Value]) {
        let records = values.filter { $0.key.isReserved }.values.compactMap { ConflictRecord($0) }
        let conflicts = records.flatMap(\.conflicts.values)
        let sides = conflicts.flatMap { [$0.ours, $0.theirs] }.compactMap(\.self)
        let recorded = Set(EditBooks.numbers(in: sides))
        let objects = values.filter { !$0.key.isReserved }.values
        let present = EditBooks.numbers(in: objects).filter { $0 > 0 }
        for number in Set(present) where present.count(where: { $0 == number }) > 1 {
            violate("\(number) is there twice")
        }
        let undone = Set(books.numbers(.created, .undone)).intersection(present)
        if !undone.isEmpty { violate("undone and there: \(undone.sorted())") }
        let lost = Set(books.numbers(.created, .committed)).subtracting(present)
            .subtracting(books.numbers(.removed, .committed, .open)).subtracting(recorded)
            .subtracting(books.excused)
        let back = Set(books.numbers(.removed, .committed)).intersection(present)
            .subtracting(recorded).subtracting(books.excused).subtracting(books.copied)
            .subtracting(books.putBack)
        // The server takes one of several lost lines for a part of the other, and a clone that has been
        // in touch hides that states of its twin are lost.
        let isAmbiguous = serverRestoreCount > 1 || serverRestoreCount > 0 && copyCount > 0
        if !lost.isEmpty, !isAmbiguous { violate("lost: \(lost.sorted())") }
        if !back.isEmpty, !isAmbiguous { violate("came back: \(back.sorted())") }
    }

    private func checkCounts(_ values: [ObjectKey: Value]) {
        // Of two clones, one may not know of the other when it sends what both had added.
        guard copyCount == 0 else { return }
        for (number, list) in Self.lists.enumerated() {
            let place = ObjectKey(collection: Self.listed.name, key: Key(list))
            let count = values[place]?["count"]?.integer ?? 0
            let most = books.numbers(.added, .committed, .open).count { $0 == Int64(number) }
            var least = books.numbers(.added, .committed).count { $0 == Int64(number) }
            // What is doubtful adds nothing where both sides have added.
            if serverRestoreCount > 0 || books.setCounts.contains(Int64(number)) { least = 0 }
            if !(Int64(least)...Int64(most)).contains(count) {
                violate("\(list) counts \(count), not \(least)...\(most)")
            }
        }
    }

    private func checkRows() throws {
        guard let launch = host.launches.first else { return }
        try launch.store.database.read { database in
            let line = try LineTable.number(of: .simulated, in: database)
            let summary = try LineTable.summary(of: line, in: database)
            let most = ReplicaSummary.stateCountMax(clientCount: summary.clientCount)
            if summary.stateCount > most + serverRestoreCount {
                violate("\(summary.stateCount) states are kept for \(summary.clientCount) clients")
            }
            let head = try LineTable.head(
                of: line,
                collections: Self.collections.union(
                    Self.collections.map(ConflictRecord.collection)
                ),
                in: database
            )
            var (sum, size) = (ContentSum.empty, Int64(0))
            for (key, object) in try LineObjectTable.all(of: line, in: database) {
                sum.replace(nil, with: object.value, at: key)
                size += LineHead.size(of: object.value, at: key)
            }
            if sum != head.sum { violate("the server's sum is wrong") }
            if size != head.size { violate("the server counts \(head.size) bytes, not \(size)") }
        }
    }
}

// MARK: - The tables

extension DeviceLaunch {
    /// The objects of the replica's collections, past the store and its cache.
    static func versioned(in database: Database) throws -> [ObjectKey: VersionedValue] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT collection, key, version, value FROM godwit_object"
        )
        return try rows.reduce(into: [:]) { objects, row in
            let key = ObjectKey(collection: Key(row[0] as String), key: Key(row[1] as String))
            let value = try Value(canonicalBytes: Array(row[3] as Data))
            objects[key] = VersionedValue(value, version: row[2])
        }
    }

    static func objects(in database: Database) throws -> [ObjectKey: Value] {
        try versioned(in: database).mapValues(\.value)
    }
}

extension Value {
    /// The number, if it is an integer.
    var integer: Int64? {
        guard case .int(let int) = self else { return nil }
        return int
    }
}

extension ReplicaName {
    static let simulated: ReplicaName = "simulated"
}

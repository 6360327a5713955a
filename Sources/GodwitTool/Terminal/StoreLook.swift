import Foundation
import GodwitQueue
import GodwitReplication
import GodwitStore
import GodwitTree

/// What a store, its queue and its replicas were like at one moment.
struct StoreLook {
    let date: Date
    let statistics: StoreStatistics
    /// The size of the write-ahead log in bytes.
    let walSize: Int
    let queue: QueueSnapshot
    let replicas: [ReplicaRecord]

    init(_ store: Store, at path: String) async throws {
        let now = Date()
        date = now
        statistics = try await store.statistics()
        queue = try await store.read { try $0.queueSnapshot(at: now) }
        replicas = try await ReplicaRecord.all(in: store)
        let wal = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
        walSize = wal?[.size] as? Int ?? 0
    }
}

extension StoreLook {
    /// How many rows of each part a screen has room for.
    private static let rowMax = 10

    /// A screen of text.
    ///
    /// - Parameter last: The look before, for what has changed in between.
    func text(_ title: String, since last: StoreLook?, _ style: Style) -> String {
        var parts = [header(title, since: last, style), collections(since: last, style)]
        if !queue.operations.isEmpty || !queue.suspensions.isEmpty { parts.append(queue(style)) }
        if !replicas.isEmpty { parts.append(replicas(style)) }
        return parts.joined(separator: "\n\n")
    }

    private func header(_ title: String, since last: StoreLook?, _ style: Style) -> String {
        let time = date.formatted(date: .omitted, time: .standard)
        var facts = [
            "commit \(statistics.commit)", Self.size(statistics.databaseSize),
            "WAL \(Self.size(walSize))",
        ]
        if let last, date > last.date {
            let commits = statistics.commit.rawValue - last.statistics.commit.rawValue
            let rate = Double(commits) / date.timeIntervalSince(last.date)
            facts.insert(String(format: "%.1f commits/s", rate), at: 1)
        }
        return style.paint(title.onOneLine, .cyan) + "  \(time)\n  "
            + facts.joined(separator: ", ")
    }

    private func collections(since last: StoreLook?, _ style: Style) -> String {
        let counts = statistics.objectCounts.sorted {
            ($1.value, $0.key.text) < ($0.value, $1.key.text)
        }
        guard !counts.isEmpty else { return "no objects" }
        let rows = counts.map { name, count in
            let before = last.map { $0.statistics.objectCounts[name] ?? 0 } ?? count
            return [name.text.onOneLine, "\(count)", Self.change(count - before)]
        }
        return section("COLLECTIONS", rows, style)
    }

    private func queue(_ style: Style) -> String {
        let summary = queue.summary
        var facts = ["\(summary.running) running", "\(summary.waiting) waiting"]
        if summary.conflicts > 0 {
            facts.append(style.paint("\(summary.conflicts) in conflict", .yellow))
        }
        if summary.deadLetters > 0 {
            facts.append(style.paint("\(summary.deadLetters) dead letters", .red))
        }
        for (pipeline, reasons) in queue.suspensions.sorted(by: { $0.key < $1.key }) {
            let name = pipeline.isEmpty ? "all pipelines" : pipeline
            let text = "\(name) suspended: \(reasons.joined(separator: ", "))"
            facts.append(style.paint(text.onOneLine, .yellow))
        }
        let rows = queue.operations.map { operation in
            [
                operation.number.description, operation.pipeline.onOneLine,
                operation.kind.onOneLine,
                queue.status(of: operation.number).text(operation).onOneLine,
            ]
        }
        return section("QUEUE  " + facts.joined(separator: ", "), rows, style)
    }

    private func replicas(_ style: Style) -> String {
        let rows = replicas.map { record in
            let pending =
                record.pendingCount == 0 ? "nothing to send" : "\(record.pendingCount) to send"
            var facts = [record.role == .device ? pending : "\(record.stateCount) states kept"]
            let refused =
                (record.status?.refusedByApp.count ?? 0) + (record.status?.rejections.count ?? 0)
            if refused > 0 { facts.append(style.paint("\(refused) refused", .yellow)) }
            let serial = record.states.last?.state.serial ?? 0
            return [
                record.name.onOneLine, record.role.rawValue, "at #\(serial)",
                facts.joined(separator: ", "),
            ]
        }
        return section("REPLICAS", rows, style)
    }

    private func section(_ title: String, _ rows: [[String]], _ style: Style) -> String {
        var lines = [style.paint(title, .grey)]
        if !rows.isEmpty { lines.append(Terminal.table(Array(rows.prefix(Self.rowMax)))) }
        if rows.count > Self.rowMax { lines.append("  and \(rows.count - Self.rowMax) more") }
        return lines.joined(separator: "\n")
    }

    private static func change(_ count: Int) -> String {
        count == 0 ? "" : count > 0 ? "(+\(count))" : "(\(count))"
    }

    private static func size(_ bytes: Int) -> String {
        guard bytes >= 1_000 else { return "\(bytes) bytes" }
        let units = ["kB", "MB", "GB", "TB"]
        var (size, unit) = (Double(bytes) / 1_000, 0)
        while size >= 1_000, unit < units.count - 1 { (size, unit) = (size / 1_000, unit + 1) }
        return String(format: size < 10 ? "%.1f %@" : "%.0f %@", size, units[unit])
    }
}

extension StoreLook {
    /// The look as data, for programs.
    var described: Value {
        let counts = statistics.objectCounts.map { ($0, Value.int(Int64($1))) }
        let summary = queue.summary
        return [
            "date": .string(Key(date.formatted(.iso8601))),
            "commit": .int(statistics.commit.rawValue),
            "databaseBytes": .int(Int64(statistics.databaseSize)), "walBytes": .int(Int64(walSize)),
            "collections": .map(Value.Map(counts)),
            "queue": [
                "running": .int(Int64(summary.running)), "waiting": .int(Int64(summary.waiting)),
                "conflicts": .int(Int64(summary.conflicts)),
                "deadLetters": .int(Int64(summary.deadLetters)),
            ],
            "replicas": .list(
                Value.List(
                    replicas.map { record in
                        [
                            "name": .string(Key(record.name)),
                            "role": .string(Key(record.role.rawValue)),
                            "serial": .int(record.states.last?.state.serial ?? 0),
                            "pending": .int(Int64(record.pendingCount)),
                        ]
                    }
                )
            ),
        ]
    }
}

extension String {
    /// The text without what a terminal would obey, on one line.
    fileprivate var onOneLine: String {
        withoutControls.replacing("\n", with: "\\n").replacing("\t", with: " ")
    }
}

public import Foundation
public import GodwitStore
public import GodwitTree

/// What can be changed about an operation that is queued.
public struct OperationEdit: Sendable {
    public var priority: Int32
    /// What the app has noted about it; a rule that looks at this is asked again only if the operation is
    /// replaced, too.
    public var userInfo: Value
    /// What it depends on from now on, besides what follows from footprints; nil for what it
    /// depended on before.
    public var dependencies: [Dependency]?
    private(set) var added: [Dependency] = []
    var body: Value
    /// What it does from now on; nil for what it did before.
    var work: (any PushOperation)?
    let kind: String

    /// Has it depend on another operation besides.
    ///
    /// A dependency on the same operation gets the new policy.
    public mutating func addDependency(_ dependency: Dependency) { added.append(dependency) }

    /// Puts a value under a key of the user info, which becomes a map if it is none; nil removes it.
    public mutating func setUserInfo(_ value: Value?, for key: Key) {
        var map = userInfo.map ?? [:]
        map[key] = value
        userInfo = .map(map)
    }

    /// The app's operation.
    public func decoded<Work: PushOperation>(as type: Work.Type = Work.self) throws -> Work {
        try ValueDecoder().decode(Work.self, from: body)
    }

    /// Puts another operation of the same kind, and for the same host, in its place.
    public mutating func replace<Work: PushOperation>(with operation: Work) throws {
        precondition(Work.kind == kind, "An operation keeps its kind")
        body = try ValueEncoder().encode(operation)
        work = operation
    }
}

extension WriteTransaction {
    /// Changes an operation of the queue, one of this transaction included.
    ///
    /// Its commit, pipeline and kind stay. An attempt that runs goes on with what it was given.
    ///
    /// ```swift
    /// try transaction.modifyOperation(id) { $0.priority = 10 }
    /// ```
    ///
    /// - Returns: Whether there was such an operation.
    /// - Throws: ``QueueError/otherHost(_:_:)``, ``QueueError/circularDependency(_:)``.
    @discardableResult
    public borrowing func modifyOperation(
        _ id: OperationID,
        _ body: (inout OperationEdit) throws -> Void
    ) throws -> Bool {
        guard let number = try OperationTable.number(of: id, in: connection),
            var operation = try OperationTable.soundOperation(number, in: connection)
        else { return false }
        var edit = OperationEdit(
            priority: operation.priority,
            userInfo: operation.userInfo,
            dependencies: nil,
            body: operation.body,
            kind: operation.kind
        )
        try body(&edit)
        if let work = edit.work, work.host != operation.host {
            throw QueueError.otherHost(id, operation.host)
        }
        let isReprioritized = edit.priority != operation.priority
        operation.priority = edit.priority
        operation.userInfo = edit.userInfo
        operation.body = edit.body
        try journal().update(in: self) { _ in }
        try OperationTable.update(operation, in: connection)
        if isReprioritized { try note(.reprioritized(number, edit.priority)) }
        if let work = edit.work {
            try replaceTouches(of: operation, with: work)
            try replaceObjects(of: number, with: work.objects)
        }
        if let dependencies = edit.dependencies {
            try replaceDependencies(of: operation, with: dependencies)
        }
        if !edit.added.isEmpty { try addDependencies(edit.added, to: operation) }
        return true
    }

    private borrowing func replaceTouches(
        of operation: QueuedOperation,
        with work: any PushOperation
    ) throws {
        let mayMerge = try EffectTable.mayMerge(operation.number, in: connection)
        if operation.parts.contains(.effect) {
            try EffectTable.remove(operation.number, in: connection)
        }
        if let effect = work.effect {
            let mayMerge = mayMerge && operation.state == .waiting
            try set(effect, of: operation.number, mayMerge: mayMerge)
        }
        var rows = try footprint(of: work, as: operation).rows(for: operation.host)
        guard operation.parts.contains(.footprint) || !rows.isEmpty else { return }
        if operation.state == .running {
            // The attempt under way does what it was given.
            let stored = try OperationTable.footprint(of: operation.number, in: connection)
            rows = Set(rows).union(stored?.record.rows ?? []).sorted()
        }
        try replaceFootprint(of: operation, with: rows, isLast: false)
        try refuseCircle(through: operation.number)
    }

    /// Has it push other objects, as they are now; those that stay are built on what they were.
    private borrowing func replaceObjects(
        of number: OperationNumber,
        with keys: [ObjectKey]
    ) throws {
        let known = Set(try ObjectRecordTable.rows(of: number, in: connection).map(\.key))
        for key in known.subtracting(keys) {
            try ObjectRecordTable.remove(key, of: number, in: connection)
        }
        let new = keys.filter { !known.contains($0) }
        try journal().update(in: self) { $0.unrecorded[number] = new.isEmpty ? nil : new }
    }

    /// - Parameter isLast: Whether nothing that it has an order with was enqueued after it.
    borrowing func replaceFootprint(
        of operation: QueuedOperation,
        with rows: [FootprintRow],
        isLast: Bool
    ) throws {
        let number = operation.number
        // What comes after it is to come after what it came after, whatever it touches now.
        try passOn(operation, DependencyTable.dependents(of: number, in: connection))
        let touched = try inStep {
            try footprints().update(in: self) { $0.remove(number) }
            try DependencyTable.removeDerivedNeeds(of: number, in: connection)
            let touched = try touch(rows, as: operation, isLast: isLast)
            try OperationTable.setFootprint(touched?.record, of: number, in: connection)
            return touched
        }
        let place = try connect(operation, by: touched)
        try noteNeeds(of: number)
        for dependent in place.dependents { try noteNeeds(of: dependent) }
    }

    /// Has an operation hide touches of others no longer: it does not wait for all of them any more.
    borrowing func stopHiding(_ number: OperationNumber) throws {
        guard let stored = try OperationTable.footprint(of: number, in: connection),
            stored.record.mayHide
        else { return }
        let record = FootprintRecord(stored.record.rows, mayHide: false)
        let line = try line(of: stored)
        try inStep {
            try footprints().update(in: self) { index in
                index.insert(record, of: number, in: line, hiding: [])
            }
            try OperationTable.setFootprint(record, of: number, in: connection)
        }
    }

    private borrowing func replaceDependencies(
        of operation: QueuedOperation,
        with dependencies: [Dependency]
    ) throws {
        try DependencyTable.removeAppsNeeds(of: operation.number, in: connection)
        try addDependencies(dependencies, to: operation)
    }

    private borrowing func addDependencies(
        _ dependencies: [Dependency],
        to operation: QueuedOperation
    ) throws {
        let consequences = try connect(operation, to: dependencies).consequences
        try noteNeeds(of: operation.number)
        try refuseCircle(through: operation.number)
        try carryOut(consequences)
    }
}

// MARK: - Holds

extension WriteTransaction {
    /// Keeps an operation from starting until a date, or until it is released.
    ///
    /// Each context has its own hold; the operation waits for the last of them. One that runs is
    /// not stopped.
    ///
    /// - Parameters:
    ///   - id: The operation.
    ///   - date: When the hold ends; nil for the call of ``releaseOperation(_:context:)``.
    ///   - context: The name of the hold.
    /// - Throws: ``QueueError/unknownOperation(_:)``.
    public borrowing func holdOperation(
        _ id: OperationID,
        until date: Date?,
        context: String = ""
    ) throws {
        let row = HoldTable.Row(
            operation: try number(of: id),
            context: context,
            until: date.map {
                Int64(exactly: ($0.timeIntervalSince1970 * 1_000).rounded()) ?? .max
            },
            delay: nil
        )
        try hold(row)
    }

    /// Takes a hold back; without one nothing happens.
    public borrowing func releaseOperation(_ id: OperationID, context: String = "") throws {
        let number = try number(of: id)
        try HoldTable.remove(number, context: context, in: connection)
        try note(.released(number, context: context))
    }

    /// Keeps an operation from starting for a delay of the queue's own.
    borrowing func hold(
        _ number: OperationNumber,
        for delay: Duration,
        at now: Moment
    ) throws {
        let milliseconds = Int64(delay / .milliseconds(1))
        try hold(
            HoldTable.Row(
                operation: number,
                context: HoldTable.retryContext,
                until: now.calendar + milliseconds,
                delay: milliseconds
            )
        )
    }

    borrowing func hold(_ row: HoldTable.Row) throws {
        try HoldTable.set(row, in: connection)
        try note(.held(row))
    }

    /// - Throws: ``QueueError/unknownOperation(_:)`` for one that has left the queue.
    borrowing func number(of id: OperationID) throws -> OperationNumber {
        guard let number = try doer(of: id) else { throw QueueError.unknownOperation(id) }
        return number
    }
}

internal import GRDB
internal import GodwitStore
internal import GodwitTree
internal import Synchronization

/// The hook of a replica that is open: it records how the app edits objects, and the steps that can be
/// undone.
///
/// The store has it, so it does not have the store: a store that the app drops is freed.
final class ReplicaRecorder: OwnHook, Sendable {
    let number: DeviceNumber
    let server: ServerNumber
    let machine: DeviceMachine
    let nonces: ServerNonces
    /// How many of the device's own steps can be undone.
    let undoCountMax: Int
    private let recorded = RecordedRows()
    private let silence = StepSilence()
    /// Replicas may share a collection: what one takes in is no step of another one's.
    private let silenceOfAll: StepSilence
    private let whenDirty: Replica.DirtyHook

    init(
        _ number: DeviceNumber,
        of server: ServerNumber,
        in store: Store,
        _ policy: MergePolicy,
        undoCountMax: Int,
        _ whenDirty: @escaping Replica.DirtyHook
    ) {
        (self.number, self.server, self.undoCountMax) = (number, server, undoCountMax)
        let options = store.options
        machine = DeviceMachine(rules: ProgramRules(policy, of: options.mergePolicies)) {
            key,
            object in
            options.isReadable(object.value, version: object.version, at: key)
        }
        silenceOfAll = store.attachment { _ in StepSilence() }
        nonces = store.attachment { _ in ServerSessions() }.nonces(of: server)
        self.whenDirty = whenDirty
    }

    func willCommit(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws {
        for change in changes { try record(change, in: transaction) }
        try noteStep(changes, in: transaction)
        if try PendingTable.isDirty(number, in: transaction.connection) {
            try whenDirty(transaction)
        }
    }

    /// The rows as a transaction sees them.
    func device(in transaction: borrowing WriteTransaction) -> StoredDevice {
        StoredDevice(
            number: number,
            server: server,
            database: transaction.connection,
            objects: transaction.source,
            policy: machine.policy,
            nonce: nonces.last
        )
    }

    var takesNoSteps: Bool { silence.value }

    /// Has the rest of the transaction make no step that could be undone.
    func takeNoSteps(in transaction: borrowing WriteTransaction) {
        for silence in [silence, silenceOfAll] {
            silence.begin()
            transaction.add(silence)
        }
    }
}

extension ReplicaRecorder {
    /// Adds what the app has recorded to the row that a trigger has made.
    private func record(
        _ change: ObjectChange,
        in transaction: borrowing WriteTransaction
    ) throws {
        let (key, database) = (change.key, transaction.connection)
        let known = recorded[key]
        let delta = change.versions.old == change.versions.new ? change.recordedDelta : nil
        guard delta != nil || known != nil,
            let found = try known ?? PendingTable.row(key, of: number, in: database)
        else { return }
        recorded.remember(found, key)
        transaction.add(recorded)
        var row = found
        if let delta, let version = change.versions.new {
            let edit = ObjectDelta(.apply(delta), version: version)
            row = try device(in: transaction).completed(found, to: change.oldObject())
            if row.rejection == .editedHere {
                row.frozen = try row.frozen.composed(with: edit)
            } else {
                row.tail = try row.tail.composed(with: edit)
            }
        }
        try PendingTable.set(row, key, of: number, in: database)
    }

    /// Notes what a transaction of the app has changed.
    private func noteStep(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws {
        guard undoCountMax > 0, !silenceOfAll.value else { return }
        let database = transaction.connection
        let collections = try DeviceTable.collections(of: number, in: database)
        var isNew = false
        for change in changes where collections.contains(change.key.collection) {
            guard !change.key.isReserved, change.kind != nil else { continue }
            var step = UndoneChange(key: change.key)
            step.before = try change.oldObject()
            step.after = try VersionedValue(change.newValue(), version: change.versions.new)
            if let delta = change.recordedDelta, let version = step.after?.version {
                step.recorded = ObjectDelta(.apply(delta), version: version)
            }
            try UndoTable.set(
                step,
                step: transaction.commit.rawValue,
                isUndone: false,
                of: number,
                in: database
            )
            isNew = true
        }
        if isNew { try UndoTable.trim(to: undoCountMax, of: number, in: database) }
    }
}

extension ObjectChange {
    fileprivate func oldObject() throws -> VersionedValue? {
        try VersionedValue(oldValue(), version: versions.old)
    }
}

extension VersionedValue {
    fileprivate init?(_ value: Value?, version: Int?) {
        guard let value, let version else { return nil }
        self.init(value, version: version)
    }
}

/// Whether the transaction under way makes no step: it takes in what others have done, or undoes.
private final class StepSilence: TransactionParticipant {
    private let isOn = Mutex(false)

    var value: Bool { isOn.withLock(\.self) }

    func begin() { isOn.withLock { $0 = true } }
    private func end() { isOn.withLock { $0 = false } }

    func requestSucceeded() { end() }
    func requestFailed() { end() }
    func committed() { end() }
    func rolledBack() { end() }
}

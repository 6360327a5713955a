internal import GRDB
internal import GodwitQueue
internal import GodwitStore
internal import GodwitTree

/// What became of a batch in the store.
private struct Outcome: Sendable {
    var imported: [Int] = []
    var kept: [Int] = []
    var leftOut: [(index: Int, isMetadata: Bool, reason: String)] = []
}

extension ObjectPass {
    /// Puts a batch into the store.
    ///
    /// A batch that is refused for one of its objects is rolled back whole: then the objects come one by
    /// one, and the refused one is left out.
    mutating func put(_ objects: [Decoded]) async throws {
        guard !objects.isEmpty else { return }
        guard let store else {
            for object in objects {
                report.objects[object.collection, default: .init()].imported += 1
            }
            return
        }
        do {
            take(try await written(objects, in: store), of: objects)
        } catch let error where error.isOfAnObject {
            for object in objects { try await putAlone(object, in: store) }
        }
    }

    private mutating func putAlone(_ object: Decoded, in store: Store) async throws {
        do {
            take(try await written([object], in: store), of: [object])
        } catch let error where error.isOfAnObject {
            let key = object.place.key.text
            leaveOut(object.collection, key, isMetadata: false, Self.reason(error))
        }
    }

    private func written(_ objects: [Decoded], in store: Store) async throws -> Outcome {
        let (replaces, replaced) = (source.replacesExisting, replaced)
        return try await store.write { transaction in
            // The cloud has these objects already, or an operation of CloudCore's brings them there.
            try transaction.skipAutomaticOperations()
            transaction.tellRefusals()
            var outcome = Outcome()
            var written: Set<ObjectKey> = []
            for (index, object) in objects.enumerated() {
                let collection = Store.Collection<Value>(object.place.collection)
                let exists = try transaction.exists(object.place.key.text, in: collection)
                let isTaken = replaced.contains(object.place) || written.contains(object.place)
                var reason: Reason?
                if exists, !replaces || isTaken {
                    outcome.kept.append(index)
                    reason = try Self.mend(object, in: transaction)
                } else {
                    reason = try Self.put(object, in: transaction)
                    if reason?.isMetadata ?? true {
                        outcome.imported.append(index)
                        written.insert(object.place)
                    }
                }
                if let reason { outcome.leftOut.append((index, reason.isMetadata, reason.text)) }
            }
            return outcome
        }
    }

    /// Why an object, or its metadata, is not in the store.
    private typealias Reason = (isMetadata: Bool, text: String)

    /// - Returns: nil if all of the object is there now.
    private static func put(
        _ object: Decoded,
        in transaction: borrowing WriteTransaction
    ) throws -> Reason? {
        do {
            let value = try transaction.retyped(object.value, at: object.place)
            try transaction.setValue(value, of: object.place)
        } catch let error where error.isOfAnObject {
            return (false, reason(error))
        }
        return try putMetadata(of: object, in: transaction)
    }

    private static func putMetadata(
        of object: Decoded,
        in transaction: borrowing WriteTransaction
    ) throws -> Reason? {
        guard let metadata = object.metadata else { return nil }
        let collection = Store.Collection<Value>(object.place.collection)
        let key = object.place.key.text
        do {
            try transaction.replaceMetadata(metadata, of: key, in: collection)
        } catch let error where error.isOfAnObject {
            return (true, reason(error))
        }
        return nil
    }

    /// Gives an object the metadata that an earlier import could not read, unless the app has changed the
    /// object since.
    private static func mend(
        _ object: Decoded,
        in transaction: borrowing WriteTransaction
    ) throws -> Reason? {
        guard object.metadata != nil else { return nil }
        do {
            guard try transaction.metadataValue(of: object.place) == nil,
                try transaction.value(of: object.place)
                    == transaction.retyped(object.value, at: object.place)
            else { return nil }
        } catch let error where error.isOfAnObject {
            return nil
        }
        return try putMetadata(of: object, in: transaction)
    }

    private mutating func take(_ outcome: Outcome, of objects: [Decoded]) {
        let names = source.replacesExisting ? Array(source.collectionNames.values) : []
        let shared = Set(names.map { Key($0) })
        for index in outcome.imported {
            report.objects[objects[index].collection, default: .init()].imported += 1
            let place = objects[index].place
            if shared.contains(place.collection) { replaced.insert(place) }
        }
        for index in outcome.kept {
            report.objects[objects[index].collection, default: .init()].kept += 1
        }
        for (index, isMetadata, reason) in outcome.leftOut {
            let object = objects[index]
            leaveOut(object.collection, object.place.key.text, isMetadata: isMetadata, reason)
        }
    }
}

extension Error {
    /// Whether one object is refused, and the others can be stored.
    ///
    /// A full disk or a damaged store refuses all of them.
    fileprivate var isOfAnObject: Bool {
        switch self {
        case is HookRefusal: true
        case let error as StoreError:
            switch error {
            case .unreadableObject, .newerObject, .tooDeep: true
            default: false
            }
        case let error as DatabaseError:
            error.resultCode == .SQLITE_TOOBIG || error.resultCode == .SQLITE_CONSTRAINT
        default: false
        }
    }
}

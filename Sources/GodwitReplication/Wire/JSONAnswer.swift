internal import GodwitStore
internal import GodwitTree

/// The answer to an exchange that JSON says: the objects that have changed, as they are now.
struct JSONAnswer {
    let json: Value

    /// - Parameter objects: The objects that differ between the client's state and the head; nil for none.
    init(_ answer: SlotAnswer, _ objects: [ObjectKey: VersionedValue?]) {
        let changes = objects.sorted { $0.key < $1.key }.map(Self.change)
        let isKnown = answer.status == .ok || answer.status == .accepted
        json = [
            "status": .string(Key(Self.word(for: answer.status))),
            "nonce": .int(answer.nonce),
            "state": isKnown ? Self.state(answer) : .null,
            "outcome": answer.outcome.map(Self.outcome) ?? .null,
            "changes": .list(Value.List(changes)),
        ]
    }

    private static func word(for status: SlotAnswer.Status) -> String {
        status == .unknownBase ? "unknownState" : status.rawValue
    }

    private static func state(_ answer: SlotAnswer) -> Value {
        [
            "serial": .int(answer.head.serial),
            "token": .string(Key(answer.head.token(in: answer.epoch).bytes.hex)),
        ]
    }

    private static func outcome(_ outcome: BatchOutcome) -> Value {
        let rejections = (outcome.rejections ?? []).map { rejection -> Value in
            [
                "collection": .string(rejection.key.collection),
                "key": .string(rejection.key.key),
                "reason": .string(Key(rejection.reason.rawValue)),
            ]
        }
        return [
            "sequence": .int(outcome.sequence),
            "name": .int(Int64(outcome.name.number)),
            "rejected": .list(Value.List(rejections)),
        ]
    }

    private static func change(_ key: ObjectKey, _ object: VersionedValue?) -> Value {
        var change: Value.Map = [
            "collection": .string(key.collection), "key": .string(key.key),
        ]
        if let object {
            change["version"] = .int(Int64(object.version))
            change["value"] = object.value.taggingBytes
        } else {
            change["removed"] = true
        }
        return .map(change)
    }
}

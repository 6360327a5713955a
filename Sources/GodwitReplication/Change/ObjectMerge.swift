internal import GodwitStore
internal import GodwitTree

// Two changes of one object, brought together.
//
//   (1) Where both sides leave the object at one version that the base has too, the values merge
//       as `Merge` merges two values under one key: an edit beats a removal, what both created
//       becomes one.
//   (2) Sides of different versions never merge piecewise: the higher version is taken whole.
//   (3) Objects of the replica's own collections never merge piecewise: records of conflicts merge
//       as sets; of rules the higher version wins; of others a removal wins, then the greater bytes.
//   (4) Where one side is doubtful, the other stays in each place that both have changed, and the
//       merge reports it.
//   (5) `afterOurs` leads from our object to the result, `afterTheirs` from theirs.

/// Two changes of one object, brought together.
struct ObjectMerge: Sendable {
    let result: VersionedValue?
    /// What is left to be done after our change; nil for nothing.
    let afterOurs: ObjectDelta?
    /// What is left to be done after their change; nil for nothing.
    let afterTheirs: ObjectDelta?
    /// Changes that could not both stay.
    let conflicts: [MergeConflict]

    /// - Throws: ``ReplicationError/invalidDelta(reason:)`` when a change was made for another base.
    init(
        _ key: ObjectKey,
        base: VersionedValue?,
        ours: ObjectDelta?,
        theirs: ObjectDelta?,
        policy: MergePolicy,
        areTheirsDoubtful: Bool = false
    ) throws(ReplicationError) {
        let our = try ours.applied(to: base)
        let their = try theirs.applied(to: base)
        guard let ours, let theirs else {
            self.init(ours == nil ? their : our, afterOurs: theirs, afterTheirs: ours)
            return
        }
        if our == nil, their == nil {
            self.init(nil, afterOurs: nil, afterTheirs: nil)
            return
        }
        if key.isReserved {
            try self.init(reserved: key, base: base, our, their)
            return
        }
        if let our, let their, our.version != their.version {
            let isOurs = our.version > their.version
            let choice: Conflict.Choice = isOurs ? .ours : .theirs
            let conflict = MergeConflict(key, since: base, ours: our, theirs: their, choice)
            self.init(
                isOurs ? our : their,
                afterOurs: isOurs ? nil : .set(their),
                afterTheirs: isOurs ? .set(our) : nil,
                [conflict]
            )
            return
        }
        let version = our?.version ?? their?.version ?? 1
        let shared = base?.version == version ? base : nil
        let ourDelta = Delta(ours, of: our, whereBaseIs: shared, at: key)
        let theirDelta = Delta(theirs, of: their, whereBaseIs: shared, at: key)
        func merged(_ policy: MergePolicy) throws(ReplicationError) -> Merge {
            try refusing { () throws(TreeError) in
                let base = Value(shared, at: key)
                return try Merge(base: base, ours: ourDelta, theirs: theirDelta, policy: policy)
            }
        }
        let merge = try merged(areTheirsDoubtful ? .oursWins : policy)
        let found =
            areTheirsDoubtful
            ? try merged(policy).conflicts.map(\.decidedForOurs) : merge.conflicts
        let value = merge.value[key.collection]?[key.key]
        self.init(
            value.map { VersionedValue($0, version: version) },
            afterOurs: ObjectDelta(merge.afterOurs, at: key, version: version),
            afterTheirs: ObjectDelta(merge.afterTheirs, at: key, version: version),
            found.map { MergeConflict($0, place: merge.place(of: $0), version: version) }
        )
    }

    private init(
        reserved key: ObjectKey,
        base: VersionedValue?,
        _ our: VersionedValue?,
        _ their: VersionedValue?
    ) throws(ReplicationError) {
        let result: VersionedValue?
        if ConflictRecord.isCollection(key.collection) {
            result = ConflictRecord.merge(base, our, their)
        } else if PolicyRecord.isCollection(key.collection) {
            result = PolicyRecord.merge(our, their)
        } else if let our, let their {
            let isLess = our.value.canonicalBytes.lexicographicallyPrecedes(
                their.value.canonicalBytes
            )
            result = isLess ? their : our
        } else {
            result = nil
        }
        self.init(
            result,
            afterOurs: .diff(our, result),
            afterTheirs: .diff(their, result)
        )
    }

    private init(
        _ result: VersionedValue?,
        afterOurs: ObjectDelta?,
        afterTheirs: ObjectDelta?,
        _ conflicts: [MergeConflict] = []
    ) {
        self.result = result
        self.afterOurs = afterOurs
        self.afterTheirs = afterTheirs
        self.conflicts = conflicts
    }
}

extension ObjectMerge {
    /// This merge and one of what it has left to be done with a later change of ours.
    func followed(by next: ObjectMerge) throws(ReplicationError) -> ObjectMerge {
        var rest = Delta.keep
        if case .apply(let delta)? = next.afterOurs?.change { rest = delta }
        return ObjectMerge(
            next.result,
            afterOurs: next.afterOurs,
            afterTheirs: try afterTheirs.composed(with: next.afterTheirs),
            conflicts.map { $0.followed(by: rest) } + next.conflicts
        )
    }
}

// A merge is made on a replica with the one object, so that rules by path and the decisions about
// keys are the same for objects as for the fields in them.

extension Value {
    fileprivate init(_ object: VersionedValue?, at key: ObjectKey) {
        let objects = object.map { Value.map([key.key: $0.value]) } ?? .map([:])
        self = .map([key.collection: objects])
    }
}

extension Delta {
    /// The change on the replica with the one object.
    ///
    /// - Parameter result: What the change leads to, for a base that counts as absent here.
    fileprivate init(
        _ delta: ObjectDelta,
        of result: VersionedValue?,
        whereBaseIs base: VersionedValue?,
        at key: ObjectKey
    ) {
        let change: MapDelta.Change
        switch (base, result) {
        case (nil, nil):
            self = .keep
            return
        case (nil, let result?): change = .apply(.set(result.value))
        case (_?, _): change = delta.change
        }
        self = .map([key.collection: .apply(.map([key.key: change]))])
    }
}

extension ObjectDelta {
    /// The change of the one object in a change of a replica.
    fileprivate init?(_ delta: Delta, at key: ObjectKey, version: Int) {
        guard case .map(let replica) = delta,
            case .apply(.map(let objects))? = replica[key.collection],
            let change = objects[key.key]
        else { return nil }
        self.init(change, version: version)
    }
}

extension MergePolicy {
    /// Where our side has changed a place, it stays.
    fileprivate static let oursWins: MergePolicy = {
        var policy = MergePolicy()
        policy.set(.ours, at: "/")
        return policy
    }()
}

extension Merge {
    /// Where the place of a conflict is in the merged object.
    fileprivate func place(of conflict: Conflict) -> ValuePath? {
        // The path is one in the base; where the base has nothing, one in ours.
        let way = conflict.base == nil ? afterOurs : delta
        return way.destination(of: conflict.path).map { ValuePath(Array($0.steps.dropFirst(2))) }
    }
}

extension Conflict {
    fileprivate var decidedForOurs: Conflict {
        Conflict(
            path: path,
            reason: reason,
            base: base,
            ours: ours,
            theirs: theirs,
            choice: .ours
        )
    }
}

internal import GodwitTree

// A change as it is stored: the version of the type, then the change of a map with the one entry.

extension ObjectDelta {
    /// The key of the one entry.
    private static let place: Key = ""

    package var storedBytes: [UInt8] {
        Value.int(Int64(version)).canonicalBytes + Delta.map([Self.place: change]).canonicalBytes
    }

    /// Reads a change that this program has stored.
    ///
    /// - Throws: ``ReplicationError/damagedHistory(reason:)``.
    package init(storedBytes bytes: [UInt8]) throws(ReplicationError) {
        // A number's first byte tells how many follow.
        let length = bytes.first.map { $0 < 24 ? 1 : 1 + (1 << Int($0 - 24) & 15) } ?? 0
        do throws(TreeError) {
            let version = try Value(canonicalBytes: Array(bytes.prefix(length)), budget: .unlimited)
            let delta = try Delta(
                canonicalBytes: Array(bytes.dropFirst(length)),
                budget: .unlimited
            )
            guard let version = version.integer.flatMap(Int.init(exactly:)),
                case .map(let map) = delta, let change = map[Self.place]
            else { throw TreeError.invalidDelta(reason: "there is no change in it") }
            self.init(change, version: version)
        } catch {
            throw .damagedHistory(reason: "a change is damaged: \(error)")
        }
    }
}

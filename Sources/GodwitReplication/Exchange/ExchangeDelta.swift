public import GodwitTree

/// What a peer can read, beyond what every peer can.
public struct ExchangeFeatures: OptionSet, Hashable, Sendable {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Deltas that were compressed.
    public static let zstd = ExchangeFeatures(rawValue: 1)

    /// What this build can read.
    public static let own: ExchangeFeatures = Compression.isAvailable ? .zstd : []

    /// How a delta is packed for a peer.
    ///
    /// - Parameter budget: What the peer may spend to read the delta.
    func packing(for budget: ReadBudget) -> Delta.Packing {
        var packing = Delta.Packing()
        packing.isCompressed = packing.isCompressed && contains(.zstd)
        packing.budget = budget
        return packing
    }
}

/// A delta in a message: packed for a peer that has the base, or plain, for people.
public struct ExchangeDelta: Hashable, Sendable {
    private enum Form: Hashable, Sendable {
        case plain(Delta)
        case packed([UInt8])
    }

    private let form: Form
    /// The same, where this side has made it.
    private let known: Delta?

    /// A delta in the form that is written by hand.
    public init(_ delta: Delta) {
        form = .plain(delta)
        known = delta
    }

    /// A delta packed for a peer.
    ///
    /// - Parameters:
    ///   - base: A value that the delta applies to, and that the peer has.
    ///   - packing: How the peer can read it, and at which cost.
    /// - Throws: ``ReplicationError/overBudget(reason:)``.
    init(_ delta: Delta, on base: Value, _ packing: Delta.Packing) throws(ReplicationError) {
        do throws(TreeError) {
            form = .packed(try delta.packed(on: base, packing))
        } catch {
            throw ReplicationError(refusing: error)
        }
        known = delta
    }

    /// Reads a delta from data: bytes are packed, and so is their hexadecimal text.
    init(encoded value: Value) throws(ReplicationError) {
        known = nil
        switch value {
        case .bytes(let bytes): form = .packed(bytes)
        case .string(let text):
            guard let bytes = [UInt8](hex: text.text) else {
                throw .malformedMessage(reason: "a packed delta is not a byte string")
            }
            form = .packed(bytes)
        default:
            do throws(TreeError) {
                form = .plain(try Delta(encoded: value))
            } catch {
                throw ReplicationError(refusing: error)
            }
        }
    }

    var encoded: Value {
        switch form {
        case .plain(let delta): delta.encoded
        case .packed(let bytes): .bytes(bytes)
        }
    }

    /// The delta as data that people can read, where this side has made it.
    var encodedForPeople: Value { known?.encoded ?? encoded }

    /// The delta itself.
    ///
    /// - Parameters:
    ///   - base: The value that the sender has packed it on.
    ///   - budget: What this side spends on the message, which has no other delta.
    func delta(on base: Value, budget: ReadBudget) throws(ReplicationError) -> Delta {
        switch form {
        case .plain(let delta): return delta
        case .packed(let bytes):
            do throws(TreeError) {
                return try Delta(packed: bytes, on: base, budget: budget)
            } catch {
                throw ReplicationError(refusing: error)
            }
        }
    }

    public static func == (left: Self, right: Self) -> Bool { left.form == right.form }

    public func hash(into hasher: inout Hasher) { hasher.combine(form) }
}

#if Server
public import GodwitReplication
public import GodwitTree

/// What a principal may do to a replica; each permission includes those before it.
public enum Permission: String, CaseIterable, Comparable, Sendable {
    /// Follow the replica: its objects, its states, its events.
    case read
    /// Change its objects.
    case write
    /// Make it, where there is none of the name.
    case create
    /// Care for it.
    case administer

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    public static func < (left: Permission, right: Permission) -> Bool { left.rank < right.rank }
}

/// Which permissions a principal has, for which replicas.
///
/// ```swift
/// let rights = Rights([.write: ["acme.*"]])
/// rights.allows(.read, ReplicaName("acme.orders"))    // true
/// rights.allows(.create, ReplicaName("acme.orders"))  // false
/// ```
///
/// What no pattern grants is denied. Nothing can be taken away again by a pattern: rights add up.
public struct Rights: Hashable, Sendable {
    private let patterns: [Permission: [ReplicaPattern]]

    /// How many patterns rights may have that come from a file or a token.
    public static let patternCountMax = 256

    public init(_ patterns: [Permission: [ReplicaPattern]]) {
        self.patterns = patterns.filter { !$0.value.isEmpty }
    }

    public static let none = Rights([:])
    public static let all = Rights([.administer: [.all]])

    public func allows(_ permission: Permission, _ name: ReplicaName) -> Bool {
        patterns.contains { granted, patterns in
            granted >= permission && patterns.contains { $0.matches(name) }
        }
    }

    /// Whether they allow everything, for all replicas.
    var administersAll: Bool { self[.administer].contains(.all) }

    /// The patterns of one permission, as they were given.
    public subscript(permission: Permission) -> [ReplicaPattern] { patterns[permission] ?? [] }
}

// MARK: - As a value, in the claim of a token and in a key's row

extension Rights {
    /// A map of lists of patterns: `{"read": ["acme.*"]}`.
    public var value: Value {
        .map(
            Value.Map(
                patterns.map { permission, patterns in
                    let texts = patterns.map { Value.string(Key($0.text)) }
                    return (Key(permission.rawValue), .list(Value.List(texts)))
                }
            )
        )
    }

    /// - Throws: ``AccessError/invalidRights(reason:)``, ``AccessError/invalidPattern(_:)``: a permission that
    ///   this program does not know is no reason to grant the others.
    public init(_ value: Value) throws(AccessError) {
        guard let map = value.map else { throw .invalidRights(reason: "they are no map") }
        var patterns: [Permission: [ReplicaPattern]] = [:]
        var count = 0
        for entry in map {
            let (name, list) = (entry.key, entry.value)
            guard let permission = Permission(rawValue: name.text) else {
                throw .invalidRights(reason: "there is no permission \"\(name)\"")
            }
            guard let texts = list.list else {
                throw .invalidRights(reason: "\"\(name)\" is no list")
            }
            count += texts.count
            guard count <= Self.patternCountMax else {
                throw .invalidRights(reason: "they have more than \(Self.patternCountMax) patterns")
            }
            patterns[permission] = try texts.map { text throws(AccessError) in
                guard let text = text.text else {
                    throw .invalidRights(reason: "\"\(name)\" has an item that is no text")
                }
                return try ReplicaPattern(text)
            }
        }
        self.init(patterns)
    }
}
#endif

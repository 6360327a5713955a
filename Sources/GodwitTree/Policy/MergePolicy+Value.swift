// Rules as data, so that a server that has no code of the app merges by them.
//
//     {"version": 2, "rules": [{"path": "/lists/*/votes", "rule": "max"},
//                              {"path": "/lists/*/items", "identity": ["sku"]}]}
//
// A rule that this program does not know says nothing, and neither does a function: the default holds.

extension MergePolicy {
    /// How many rules are read of what another program has written.
    package static let countMax = 256
    /// How many steps the path of such a rule has at most: what a place costs in a merge grows with all.
    package static let stepsMax = 32
    /// How many steps all paths have together.
    package static let allStepsMax = 1_024
    /// How many fields tell an item apart at most.
    package static let identityMax = 8
    /// The highest version; there is room for higher ones.
    package static let versionMax = 1 << 48

    /// The rules that may hold for a key of the root, and under it, as data; functions are left out.
    package func value(at key: Key) -> Value {
        var rules: [(path: String, value: Value)] = []
        root?.each(under: []) { path, node in
            let fields = node.fields
            let isWanted = path.first.map { $0 == key || $0 == Node.wildcard } ?? true
            guard isWanted, !fields.isEmpty else { return }
            let pointer = ValuePath(path.map { .key($0) }).description
            rules.append((pointer, .map(fields.setting("path", .string(Key(pointer))))))
        }
        rules.sort { $0.path < $1.path }
        return [
            "version": .int(Int64(version)), "rules": .list(Value.List(rules.map(\.value))),
        ]
    }

    /// Reads rules; nil for data of another form, and for more than a merge can bear.
    package init?(_ value: Value) {
        guard let version = value["version"]?.integer.flatMap({ Int(exactly: $0) }),
            version <= Self.versionMax, let rules = value["rules"]?.list,
            rules.count <= Self.countMax
        else { return nil }
        self.init(version: version)
        var allSteps = 0
        for rule in rules {
            guard let path = rule["path"]?.text else { continue }
            let steps = path.utf8.count { $0 == UInt8(ascii: "/") }
            allSteps += steps
            guard steps <= Self.stepsMax, allSteps <= Self.allStepsMax else { return nil }
            if let rule = rule["rule"]?.text.flatMap(Rule.init(name:)) { set(rule, at: path) }
            guard let identity = rule["identity"]?.list, !identity.isEmpty else { continue }
            guard identity.count <= Self.identityMax else { return nil }
            let names = identity.compactMap(\.text).map { Key($0) }
            if !names.isEmpty { identify(by: names, at: path) }
        }
    }
}

extension MergePolicy.Rule {
    /// The rules that have a name; a function has none.
    private static let named: [(name: String, rule: MergePolicy.Rule)] = [
        ("delete-wins", .deleteWins), ("edit-wins", .editWins), ("max", .max), ("min", .min),
        ("ours", .ours), ("sum", .sum), ("theirs", .theirs), ("union", .union), ("whole", .whole),
    ]

    /// The names of the rules, in their order.
    package static var names: [String] { named.map(\.name) }

    package init?(name: String) {
        guard let rule = Self.named.first(where: { $0.name == name })?.rule else { return nil }
        self = rule
    }

    fileprivate var name: String? {
        switch self {
        case .ours: "ours"
        case .theirs: "theirs"
        case .editWins: "edit-wins"
        case .deleteWins: "delete-wins"
        case .max: "max"
        case .min: "min"
        case .union: "union"
        case .sum: "sum"
        case .whole: "whole"
        case .custom: nil
        }
    }
}

extension MergePolicy.Node {
    fileprivate var fields: Value.Map {
        var fields: Value.Map = [:]
        if let name = rule?.name { fields["rule"] = .string(Key(name)) }
        if let keys = identity?.fields.compactMap(\.first), !keys.isEmpty {
            fields["identity"] = .list(Value.List(keys.map { .string($0) }))
        }
        return fields
    }
}

extension Value.Map {
    fileprivate func setting(_ key: Key, _ value: Value) -> Value.Map {
        var map = self
        map[key] = value
        return map
    }
}

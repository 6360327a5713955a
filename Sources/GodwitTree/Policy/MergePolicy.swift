/// An app's rules for merges, path by path, where the app does not want the defaults.
///
/// ```swift
/// var policy = MergePolicy()
/// policy.set(.max, at: "/votes")
/// policy.set(.deleteWins, at: "/items/*")
/// policy.identify(by: "sku", at: "/items")
///
/// let merge = Merge(base: base, ours: ours, theirs: theirs, policy: policy)
/// ```
///
/// A path is a JSON Pointer; `*` stands for any key or position. A rule holds for the place that
/// its path names and, unless a longer path has another, for everything under it. Where several
/// paths fit, keys that are spelled out go before `*`.
public struct MergePolicy: Sendable {
    /// How a conflict in one place is decided.
    public enum Rule: Sendable {
        /// Our side's wish, whatever theirs is.
        case ours
        /// Their side's wish, whatever ours is.
        case theirs
        /// A value that one side edits, or moves to another container, stays, though the other
        /// removes it; this is the default.
        case editWins
        /// A value that one side removes goes, though the other edits or moves it.
        case deleteWins
        /// The greater of two ints or doubles, or of two strings by their bytes.
        case max
        /// The smaller of two ints or doubles, or of two strings by their bytes.
        case min
        /// Everything that either side has: nothing is removed from this map or list.
        case union
        /// An int with the additions of both sides: base + (ours - base) + (theirs - base).
        case sum
        /// The function's answer where both sides have put something; nil leaves the place to
        /// the default.
        ///
        /// It must be pure: every peer that merges has to come to the same answer.
        case custom(@Sendable (Conflict) -> Value?)
    }

    /// No rules: a merge goes by its defaults.
    public static let standard = MergePolicy()

    private(set) var root: Node?

    public init() {}

    /// Decides conflicts at a path, and under it, by a rule.
    public mutating func set(_ rule: Rule, at path: String) {
        edit(path) { $0.rule = rule }
    }

    /// Declares by which key the items of the lists at a path are told apart.
    ///
    /// Several keys tell the items apart together.
    public mutating func identify(by keys: Key..., at path: String) {
        identify(by: keys, at: path)
    }

    /// Declares by which keys, taken together, the items of the lists at a path are told apart.
    public mutating func identify(by keys: [Key], at path: String) {
        edit(path) { $0.identity = ItemIdentity(fields: keys.map { [$0] }) }
    }

    private mutating func edit(_ path: String, _ body: (inout Node) -> Void) {
        let steps = Path(pointer: path).steps.map { step -> Key in
            switch step {
            case .key(let key): key
            case .position(let position): Key(String(position))
            }
        }
        var node = root ?? Node()
        node.edit(steps[...], body)
        root = node
    }
}

extension MergePolicy {
    /// The rules for one place, and for what lies under it.
    struct Node: Sendable {
        fileprivate(set) var rule: Rule?
        fileprivate(set) var identity: ItemIdentity?
        private var children: [Key: Node] = [:]

        fileprivate init() {}

        private static let wildcard: Key = "*"

        /// Whether one side's wish counts, whatever the other's is.
        var isOneSided: Bool {
            switch rule {
            case .ours?, .theirs?: true
            default: false
            }
        }

        var isTheirs: Bool { if case .theirs? = rule { true } else { false } }
        var isUnion: Bool { if case .union? = rule { true } else { false } }
        var isSum: Bool { if case .sum? = rule { true } else { false } }

        /// The rules one step further down; a rule that says nothing else goes down too.
        func child(_ step: Path.Step) -> Node? {
            let named: Node? =
                switch step {
                case .key(let key): children[key]
                case .position(let position): children[Key(String(position))]
                }
            let general = children[Self.wildcard]
            guard rule != nil || named != nil || general != nil else { return nil }
            var child = named ?? general ?? Node()
            if named != nil, let general { child.fill(from: general) }
            child.rule = child.rule ?? rule
            return child
        }

        /// Takes the rules from another node that this one does not have.
        private mutating func fill(from other: Node) {
            rule = rule ?? other.rule
            identity = identity ?? other.identity
            for (key, node) in other.children {
                if children[key] == nil {
                    children[key] = node
                } else {
                    children[key]?.fill(from: node)
                }
            }
        }

        fileprivate mutating func edit(_ path: ArraySlice<Key>, _ body: (inout Node) -> Void) {
            guard let step = path.first else { return body(&self) }
            children[step, default: Node()].edit(path.dropFirst(), body)
        }
    }
}

extension Value {
    /// Whether this is the smaller of two numbers or texts; nil when they cannot be compared.
    func isLess(than other: Value) -> Bool? {
        switch (self, other) {
        case (.int(let left), .int(let right)): left < right
        case (.double(let left), .double(let right)): left.double < right.double
        case (.int(let left), .double(let right)): Double(left) < right.double
        case (.double(let left), .int(let right)): left.double < Double(right)
        case (.string(let left), .string(let right)): Key.isBefore(left, right)
        default: nil
        }
    }
}

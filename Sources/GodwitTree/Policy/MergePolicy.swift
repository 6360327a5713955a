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
/// A path is written as a JSON Pointer; `*` stands for any key or position. Unlike in RFC 6901, `/`
/// is the root, and the first slash may be missing. A rule holds for the place that its path names
/// and, unless a longer path has another, for everything under it. If several paths fit, keys that
/// are spelled out go before `*`.
public struct MergePolicy: Sendable {
    /// How a conflict in one place is decided.
    public enum Rule: Sendable {
        /// Our value wins in each place that both sides contest.
        case ours
        /// Their value wins in each place that both sides contest.
        case theirs
        /// A value that one side edits, or moves to another container, stays, though the other
        /// removes it; this is the default.
        case editWins
        /// A value that one side removes goes, though the other edits or moves it.
        case deleteWins
        /// The greater of two numbers, versions or strings.
        ///
        /// Two strings of dotted numbers, such as `1.10.0` and `^1.9.0-beta.2`, compare as
        /// versions, a pre-release before its release. Other strings compare by their bytes. For
        /// values of other or of different kinds, the default holds.
        case max
        /// The smaller of two numbers, versions or strings, compared as ``max`` compares them.
        case min
        /// Everything that either side has: nothing is removed from this map or list.
        case union
        /// An int with the additions of both sides: base + (ours - base) + (theirs - base).
        case sum
        /// One value, which is not merged inside: if both sides change it, that of one side is taken
        /// and the conflict reported.
        case whole
        /// The function's answer where both sides have put something; nil leaves the place to
        /// the default.
        ///
        /// It must be pure: every peer that merges has to come to the same answer.
        case custom(@Sendable (Conflict) -> Value?)
    }

    /// No rules: a merge goes by its defaults.
    public static let standard = MergePolicy()

    /// Which edition of the app's rules these are.
    ///
    /// A replica keeps the rules of the highest version above 0 that a device has opened it with, and
    /// its server merges by them.
    public var version: Int

    private(set) var root: Node?

    public init(version: Int = 0) { self.version = version }

    /// Decides conflicts at a path, and under it, by a rule.
    public mutating func set(_ rule: Rule, at path: String) {
        edit(ValuePath(pointer: path)) { $0.rule = rule }
    }

    /// Declares by which key the items of the lists at a path are told apart.
    ///
    /// Several keys tell the items apart together.
    public mutating func identify(by keys: Key..., at path: String) {
        identify(by: keys, at: path)
    }

    /// Declares by which keys, taken together, the items of the lists at a path are told apart.
    public mutating func identify(by keys: [Key], at path: String) {
        edit(ValuePath(pointer: path)) { $0.identity = ItemIdentity(fields: keys.map { [$0] }) }
    }

    /// Adds other rules, for the values at a path; where both have a rule for a place, the other one stays.
    ///
    /// ```swift
    /// policy.include(Price.mergePolicy, at: "/items/*/price")
    /// ```
    public mutating func include(_ other: MergePolicy, at path: String = "/") {
        let place = ValuePath(pointer: path).steps
        other.root?.each(under: []) { steps, node in
            edit(ValuePath(place + steps.map { .key($0) })) { $0.take(node) }
        }
    }

    /// These rules, of which ``Rule/whole`` is for the places of some depth, and not for those above.
    ///
    /// A replica is no value, and neither is a collection of it.
    package func wholeBelow(_ depth: Int) -> MergePolicy {
        var policy = self
        policy.root?.levelsToWhole = depth
        return policy
    }

    /// Edits the rules at a path; no value has a place that is deeper than a value may be.
    private mutating func edit(_ path: ValuePath, _ body: (inout Node) -> Void) {
        guard path.steps.count <= Value.depthMax else { return }
        let steps = path.steps.map { step -> Key in
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
        /// How many levels are between this place and the first one that may be one value.
        fileprivate var levelsToWhole = 0

        fileprivate init() {}

        static let wildcard: Key = "*"

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
        var isWhole: Bool { if case .whole? = rule { levelsToWhole == 0 } else { false } }

        /// The rules for a child, which inherits the rule unless it has its own.
        func child(_ step: ValuePath.Step) -> Node? {
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
            child.levelsToWhole = max(0, levelsToWhole - 1)
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

        /// Takes the rules for this one place from another node.
        fileprivate mutating func take(_ other: Node) {
            rule = other.rule ?? rule
            identity = other.identity ?? identity
        }

        /// Visits this node and all under it, each with its path.
        func each(under path: [Key], _ body: ([Key], Node) -> Void) {
            body(path, self)
            for (key, child) in children { child.each(under: path + [key], body) }
        }

        fileprivate mutating func edit(_ path: ArraySlice<Key>, _ body: (inout Node) -> Void) {
            guard let step = path.first else { return body(&self) }
            children[step, default: Node()].edit(path.dropFirst(), body)
        }
    }
}

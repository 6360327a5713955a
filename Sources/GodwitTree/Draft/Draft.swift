/// A value that is being edited, and writes down what happens to it.
///
/// ```swift
/// var list: Value = ["items": [["name": "Bread"], ["name": "Wine"]], "note": "for tonight"]
/// let isCrossed = true
/// let delta = try list.edit {
///     $0.items[0].crossed = isCrossed
///     $0.items[1].quantity = 2
///     $0.items[1].quantity += 1
///     $0.items.list.move(from: 1, to: 0)
///     $0.items.list.append(["name": "Milk"])
///     $0.note.text.append(", or tomorrow")
/// }
/// ```
///
/// The delta holds the intent: a move is a move, and a word that is put into a text is that word,
/// so that a merge with the changes of others comes out as all sides meant it. The draft compares
/// only assigned values with the previous ones; the cost is that of the edits.
///
/// ## Fields and verbs
///
/// Every name after a dot is a key of a map, but two: ``list`` has the verbs of lists, and
/// ``text`` has those of strings. A key with one of these names, or one that is no Swift name, is
/// written as `draft["text"]`. A misspelt name is no error: it is another key, and an assignment
/// creates it.
///
/// | To | write |
/// |---|---|
/// | set a value | `$0.name = "Wine"`; any ``ValueConvertible``; the map around it must exist |
/// | set null | `$0.name = .null` |
/// | remove a key | `$0.name = nil`; an optional that is nil removes the key, too |
/// | add to an int | `$0.quantity += 2`; the int must exist; what two sides add, adds up |
/// | set an item | `$0.items[0] = "Wine"` |
/// | insert, remove or move items | `$0.items.list.insert("Wine", at: 0)`; see ``ListDraft`` |
/// | change a text | `$0.note.text.append("!")`; see ``TextDraft`` |
/// | read | `let name: String? = $0.name`; nil for another kind, and for an absent key |
/// | read any kind | `Value($0.items)`; null for an absent key |
///
/// Numbers convert only if they are exact: `Double` reads an int that it can hold, and an integer
/// reads no double. A map of different types needs values: `["name": .string(Key(title)), "n": 1]`.
///
/// A set to the value that is there already records nothing, and so does a value that returns to
/// what it was. If an edit does not fit the value, such as a move in something that is no list, or
/// NaN, the draft records a failure and ``Value/edit(_:)`` throws.
@dynamicMemberLookup
public struct Draft {
    var place: DraftPlace

    /// Begins with a value.
    public init(_ value: Value) { self.init(of: value) }

    /// Begins with the value of a place, or with none.
    init(of value: Value?) { place = DraftPlace(value, base: value) }

    init(_ place: DraftPlace) { self.place = place }

    /// A draft of a new value.
    @usableFromInline
    static func new(_ value: Value?) -> Draft { Draft(DraftPlace(new: value)) }

    // What takes any convertible type is inlinable: the app's compiler makes it for the type that is
    // assigned. Generic code asks the runtime about that type at each assignment.

    /// A draft of a new value; it holds a failure if the conversion fails.
    @inlinable
    static func new(_ value: (some ValueConvertible)?) -> Draft {
        do throws(TreeError) { return .new(try value?.asValue()) } catch { return .failed(error) }
    }

    @usableFromInline
    static func failed(_ error: TreeError) -> Draft {
        var draft = Draft.new(nil)
        draft.place.fail(error)
        return draft
    }

    /// Adds to an int; what two sides add, adds up.
    public static func += (draft: inout Draft, number: some BinaryInteger) {
        guard let int = Int64(exactly: number) else { return draft.place.failBeyond(number) }
        draft.place.add(int)
    }

    /// Subtracts from an int; what two sides subtract, adds up.
    public static func -= (draft: inout Draft, number: some BinaryInteger) {
        guard let int = Int64(exactly: number) else { return draft.place.failBeyond(number) }
        draft.place.add(0 &- int)
    }
}

extension Draft {
    /// Makes the edit fail, unless it has failed before.
    package mutating func fail(_ error: TreeError) { place.fail(error) }
}

extension Value {
    /// The value of a draft, with all edits; null where there is nothing.
    public init(_ draft: Draft) { self = draft.place.value ?? .null }
}

extension Delta {
    /// The change from the value that a draft began with.
    ///
    /// - Throws: What ``Value/edit(_:)`` throws of itself.
    public init(_ draft: Draft) throws(TreeError) {
        self = try draft.place.delta(from: draft.place.base)
    }
}

// MARK: - Keys

extension Draft {
    /// The value under a key of a map; an assignment creates the key, nil removes it.
    public subscript(dynamicMember name: String) -> Draft {
        get { self[Key(name)] }
        set { self[Key(name)] = newValue }
        _modify {
            var loan = place.lend(Key(name))
            defer { place.takeBack(&loan) }
            yield &loan.draft
        }
    }

    /// The value under a key of a map; an assignment creates the key, nil removes it.
    @_disfavoredOverload
    public subscript<Scalar: ValueConvertible>(dynamicMember name: String) -> Scalar? {
        get { self[Key(name)] }
        @inlinable set { self[Key(name)] = .new(newValue) }
    }

    /// The value under a key of a map; an assignment creates the key, nil removes it.
    public subscript(key: Key) -> Draft {
        get { Draft(of: place.value?[key]) }
        set { place.put(newValue, key) }
        _modify {
            var loan = place.lend(key)
            defer { place.takeBack(&loan) }
            yield &loan.draft
        }
    }

    /// The value under a key of a map; an assignment creates the key, nil removes it.
    @_disfavoredOverload
    public subscript<Scalar: ValueConvertible>(key: Key) -> Scalar? {
        get { place.value?[key].flatMap { Scalar(value: $0) } }
        @inlinable set { self[key] = .new(newValue) }
    }
}

// MARK: - Positions

extension Draft {
    /// The item at a position of a list.
    ///
    /// ``ListDraft/remove(at:)`` removes an item; to assign nil is a failure.
    public subscript(position: Int) -> Draft {
        get { Draft(of: place.item(at: position)) }
        set { place.put(newValue, position) }
        _modify {
            var loan = place.lend(position)
            defer { place.takeBack(&loan) }
            yield &loan.draft
        }
    }

    /// The item at a position of a list.
    ///
    /// ``ListDraft/remove(at:)`` removes an item; to assign nil is a failure.
    @_disfavoredOverload
    public subscript<Scalar: ValueConvertible>(position: Int) -> Scalar? {
        get { place.item(at: position).flatMap { Scalar(value: $0) } }
        @inlinable set { self[position] = .new(newValue) }
    }
}

// MARK: - Literals

// Literals are drafts themselves: so a map or a list of different kinds needs no type.
extension Draft: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(booleanLiteral value: Bool) { self = .new(.bool(value)) }
    public init(integerLiteral value: Int64) { self = .new(.int(value)) }
    public init(floatLiteral value: Double) { self = .new(value) }
    public init(stringLiteral value: String) { self = .new(.string(Key(value))) }
    public init(nilLiteral: ()) { self = .new(nil) }
    public init(arrayLiteral elements: Value...) { self = .new(.list(elements)) }
    public init(dictionaryLiteral elements: (Key, Value)...) {
        self = .new(.map(Value.Map(elements)))
    }

    /// The value null, to assign it.
    public static var null: Draft { .new(.null) }
}

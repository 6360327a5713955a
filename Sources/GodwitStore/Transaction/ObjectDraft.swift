internal import GodwitTree
internal import Synchronization

/// An object that is being edited property by property, and writes down what happens to it.
///
/// ```swift
/// try transaction.edit("groceries", in: lists) { list in
///     list.title = "For tonight"
///     list.count += 1                            // what two devices add, adds up
///     list.items.append(Item(name: "Milk"))
///     list.items.move(from: 4, to: 0)            // a move stays a move
///     list.items[id: "wine"].crossed = true
///     list.note.append(", or tomorrow")          // words that are put in
///     list.votes["ann"] = 3
/// }
/// ```
///
/// A draft has the stored properties of its type that are variables, each as a draft of its own type:
/// the compiler knows their names and types. Assign a value to a draft, or read one:
/// `let title: String? = list.title`. A read gives nil where there is no such place, or where the type
/// cannot be decoded. A field that an older app has not stored has its default value (``Defaulted``).
///
/// | Type of the property | edits |
/// |---|---|
/// | any | `=`; only what differs from the old value is recorded |
/// | an integer | `+=`, `-=` |
/// | `Bool` | `toggle()` |
/// | `String` | `append`, `insert(_:at:)`, `replaceSubrange(_:with:)`, by offsets in UTF-8 |
/// | `Array` | `[0]`, `[id: "wine"]`, `append`, `insert(_:at:)`, `move(from:to:)`, `remove(at:)` |
/// | `Dictionary` with `String` keys | `["ann"]`; nil removes the key |
/// | an optional | the properties of what it wraps; nil removes the value; see ``ifPresent(_:)`` |
///
/// An edit that does not fit, such as one at a position that a list does not have, makes the whole edit
/// throw a `TreeError`. So does a property that `CodingKeys` name differently, because it is stored
/// under a name that the draft cannot see: edit such an object by
/// ``WriteTransaction/editValue(of:in:_:)``.
@dynamicMemberLookup
public struct ObjectDraft<Object: Codable> {
    var draft: Draft

    init(_ draft: Draft) { self.draft = draft }

    /// What the object is now, if its type can read it.
    var object: Object? { try? ValueDecoder().decode(Object.self, from: Value(draft)) }

    mutating func fail(_ reason: String) {
        draft.fail(.inexpressible(path: ValuePath(), reason: reason))
    }
}

extension Draft {
    /// Edits the object in an untyped draft.
    mutating func edit<Object: Codable>(
        as type: Object.Type,
        _ body: (inout ObjectDraft<Object>) throws -> Void
    ) rethrows {
        try body(&self[as: type])
    }

    /// This draft, by the properties of a type.
    subscript<Object: Codable>(as type: Object.Type) -> ObjectDraft<Object> {
        get { ObjectDraft(self) }
        set { self = newValue.draft }
        _modify {
            var typed = ObjectDraft<Object>(Draft(Value.null))
            swap(&self, &typed.draft)
            defer { swap(&self, &typed.draft) }
            yield &typed
        }
    }

    /// Assigns a value of the app's; nil removes what is there.
    mutating func assign(_ object: (some Encodable)?, at key: Key) {
        guard let value = encoded(object) else { return }
        self[key] = value
    }

    mutating func assign(_ object: some Encodable, at position: Int) {
        guard let value = encoded(object) else { return }
        self[position] = value
    }

    /// The value of an object; `.some(nil)` for none, nil after a failure.
    mutating func encoded(_ object: (some Encodable)?) -> Value?? {
        do {
            return .some(try object.map { try ValueEncoder().encode($0) })
        } catch {
            fail(.inexpressible(path: ValuePath(), reason: "\(error)"))
            return nil
        }
    }
}

// MARK: - Properties

extension ObjectDraft {
    /// A property, to be edited.
    public subscript<Property: Codable>(
        dynamicMember path: WritableKeyPath<Object, Property>
    ) -> ObjectDraft<Property> {
        get { reading(path) }
        set { draft[place(of: path)] = newValue.draft }
        _modify { yield &draft[place(of: path)][as: Property.self] }
    }

    /// A property's value.
    @_disfavoredOverload
    public subscript<Property: Codable>(
        dynamicMember path: WritableKeyPath<Object, Property>
    ) -> Property? {
        get { object?[keyPath: path] }
        set {
            guard newValue != nil else { return fail("a \(Property.self) cannot be nil") }
            assign(newValue, at: path)
        }
    }

    /// An optional property's value; nil removes it.
    @_disfavoredOverload
    public subscript<Wrapped: Codable>(
        dynamicMember path: WritableKeyPath<Object, Wrapped?>
    ) -> Wrapped? {
        get { object?[keyPath: path] }
        set { assign(newValue, at: path) }
    }

    /// What is read through a property: the value as the type has it, whatever it is stored under.
    private func reading<Property: Codable>(
        _ path: WritableKeyPath<Object, Property>
    ) -> ObjectDraft<Property> {
        let name = StoredName(path, in: self)
        if name.isSettled, Value(draft)[name.key] != nil {
            return ObjectDraft<Property>(draft[name.key])
        }
        let value = (object?[keyPath: path]).flatMap { try? ValueEncoder().encode($0) }
        return ObjectDraft<Property>(Draft(value ?? .null))
    }

    /// The key that a property is stored under, with its default value there if it has none yet.
    private mutating func place<Property: Codable>(
        of path: WritableKeyPath<Object, Property>
    ) -> Key {
        let name = StoredName(path, in: self)
        if let problem = name.problem { fail(problem) }
        if Value(draft)[name.key] == nil, name.isSettled, let object {
            let value = try? ValueEncoder().encode(object[keyPath: path])
            if let value, value != .null { draft[name.key] = value }
        }
        return name.key
    }

    /// Assigns a property; where no object has shown its name yet, the type has to read the value back.
    private mutating func assign(_ value: (some Encodable)?, at path: PartialKeyPath<Object>) {
        let name = StoredName(path, in: self)
        if let problem = name.problem { return fail(problem) }
        draft.assign(value, at: name.key)
        guard !name.isSettled, let object,
            let new = try? value.map({ try ValueEncoder().encode($0) })
        else { return }
        let found = (object[keyPath: path] as? any Encodable).flatMap {
            try? ValueEncoder().encode($0)
        }
        if found ?? .null != new { fail(StoredName.problem(Object.self, name.key)) }
    }
}

/// The name under which a type stores a property, found from the type's metadata.
private struct StoredName {
    let key: Key
    /// Whether an object has shown that the property is there.
    private(set) var isSettled = false
    /// Why the name cannot be the right one.
    private(set) var problem: String?

    init<Object: Codable>(_ path: PartialKeyPath<Object>, in draft: ObjectDraft<Object>) {
        guard let field = Field(named: path), let name = field.path.first, field.path.count == 1
        else {
            (key, problem) = (Key("\(path)"), "\(path) is no stored property")
            return
        }
        key = name
        let property = StoredProperty(type: ObjectIdentifier(Object.self), name: name)
        isSettled = settledProperties.withLock { $0.contains(property) }
        guard !isSettled, let example = draft.object,
            let fields = (try? ValueEncoder().encode(example))?.map, let found = fields[name]
        else { return }
        let value = (example[keyPath: path] as? any Encodable).flatMap {
            try? ValueEncoder().encode($0)
        }
        guard found == value else {
            problem = Self.problem(Object.self, name)
            return
        }
        // Another property that is stored under this name may have the same value now.
        guard fields.count(where: { $0.value == found }) == 1 else { return }
        isSettled = true
        settledProperties.withLock { _ = $0.insert(property) }
    }

    static func problem(_ type: Any.Type, _ name: Key) -> String {
        "\(type) stores \(name.text) under another name: use editValue(of:in:)"
    }
}

private struct StoredProperty: Hashable {
    let type: ObjectIdentifier
    let name: Key
}

/// The properties of which an object has shown that they are stored under their names.
private let settledProperties = Mutex<Set<StoredProperty>>([])

// MARK: - Optionals

extension ObjectDraft {
    /// A property of what an optional wraps; where that is nil, an edit makes the whole edit throw.
    public subscript<Wrapped: Codable, Property: Codable>(
        dynamicMember path: WritableKeyPath<Wrapped, Property>
    ) -> ObjectDraft<Property> where Object == Wrapped? {
        get { draft[as: Wrapped.self][dynamicMember: path] }
        set { draft[as: Wrapped.self][dynamicMember: path] = newValue }
        _modify { yield &draft[as: Wrapped.self][dynamicMember: path] }
    }

    /// The value of a property of what an optional wraps.
    @_disfavoredOverload
    public subscript<Wrapped: Codable, Property: Codable>(
        dynamicMember path: WritableKeyPath<Wrapped, Property>
    ) -> Property? where Object == Wrapped? {
        get { draft[as: Wrapped.self][dynamicMember: path] }
        set { draft[as: Wrapped.self][dynamicMember: path] = newValue }
    }

    /// The value of an optional property of what an optional wraps; nil removes it.
    @_disfavoredOverload
    public subscript<Wrapped: Codable, Property: Codable>(
        dynamicMember path: WritableKeyPath<Wrapped, Property?>
    ) -> Property? where Object == Wrapped? {
        get { draft[as: Wrapped.self][dynamicMember: path] }
        set { draft[as: Wrapped.self][dynamicMember: path] = newValue }
    }
}

/// An optional that a draft edits; no other type conforms.
public protocol OptionalProperty: Codable {
    associatedtype DraftContent: Codable
}

extension Optional: OptionalProperty where Wrapped: Codable {
    public typealias DraftContent = Wrapped
}

extension ObjectDraft where Object: OptionalProperty {
    /// Edits what an optional wraps, if there is something: `contact.tags.ifPresent { $0.append("vip") }`.
    public mutating func ifPresent(
        _ body: (inout ObjectDraft<Object.DraftContent>) throws -> Void
    ) rethrows {
        if Value(draft) != .null { try body(&draft[as: Object.DraftContent.self]) }
    }
}

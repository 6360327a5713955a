/// A value that is being edited, and writes down what happens to it.
///
/// ```swift
/// var list: Value = ["items": [["name": "Bread"], ["name": "Wine"]], "note": "for tonight"]
/// let delta = try list.edit {
///     $0.items[0].crossed = true
///     $0.items.move(from: 1, to: 0)
///     $0.items.append(["name": "Milk"])
///     $0.note.text.append(", or tomorrow")
/// }
/// ```
///
/// The delta holds the intent: a move is a move, and a word that is put into a text is that word,
/// so that a merge with what others did meanwhile comes out as everybody meant it. No comparison
/// is needed; the cost is that of the edits. A key that is no Swift name, or that of a member here
/// (`count`, `text`, `value`), is written as `draft["count"]`.
///
/// What does not fit the value, such as a move in something that is no list, is remembered as a
/// failure, does nothing, and makes ``Value/edit(_:)`` throw.
@dynamicMemberLookup
public struct Draft {
    /// The value as it is now; nil where there is none yet.
    var current: Value?
    var recording: Recording
    /// What could not be done, first of all; what was done since counts for nothing.
    public private(set) var failure: TreeError?
    /// Whose draft this is: another one, put in its place, tells nothing of what happened here.
    fileprivate(set) var origin = Origin()

    final class Origin: Sendable {}

    /// Begins with a value.
    public init(_ value: Value) {
        current = value
        recording = .none
    }

    /// A place whose value, if it has one, was there from the beginning.
    init(_ current: Value?, _ recording: Recording) {
        (self.current, self.recording) = (current, recording)
    }

    /// What is put in some place; null where there is nothing.
    static func new(_ value: Value) -> Draft { Draft(value, .set) }

    /// A place where there is nothing.
    static var absent: Draft { Draft(nil, .none) }

    /// The value with all edits; null where there is nothing.
    public var value: Value { current ?? .null }

    /// The change from the value that the draft began with.
    public var delta: Delta { recording.delta(to: current) }

    /// Puts another value in the place of this one.
    public mutating func set(_ value: Value) {
        current = value
        recording = .set
    }

    /// Adds a number to an int; what two sides add, adds up.
    public mutating func add(_ number: Int64) {
        guard case .int(let int)? = current else { return fail("an int") }
        current = .int(int &+ number)
        switch recording {
        case .none: recording = .increment(number)
        case .increment(let before): recording = .increment(before &+ number)
        default: break
        }
    }

    /// Remembers that this is not what was expected.
    mutating func fail(_ expected: String) {
        let reason = current.map { "there is a \($0.kind) in the place of \(expected)" }
        fail(
            .wrongBase(
                path: Path(),
                reason: reason ?? "there is nothing in the place of \(expected)"
            )
        )
    }

    mutating func fail(_ error: TreeError) { failure = failure ?? error }
}

// MARK: - Keys

extension Draft {
    /// The value under a key of a map; assigning creates it, if need be.
    public subscript(dynamicMember name: String) -> Draft {
        get { self[Key(name)] }
        set { self[Key(name)] = newValue }
        _modify { yield &self[Key(name)] }
    }

    /// The value under a key of a map; assigning creates it, if need be.
    public subscript(key: Key) -> Draft {
        get { Draft(current?[key], .none) }
        set {
            _ = takeChild(key)
            put(.new(newValue.value), key)
        }
        _modify {
            var child = takeChild(key)
            let origin = child.origin
            defer { put(child.from(origin), key) }
            yield &child
        }
    }

    /// This draft, or, when it has come from elsewhere, just its value.
    func from(_ origin: Origin) -> Draft {
        guard self.origin !== origin else { return self }
        var new = Draft.new(value)
        new.failure = failure
        return new
    }

    /// Removes the value under a key of a map.
    public mutating func remove(_ key: Key) {
        var child = takeChild(key)
        child.current = nil
        put(child, key)
    }

    private mutating func takeChild(_ key: Key) -> Draft {
        guard case .map(var map)? = current else {
            fail("a map")
            return .absent
        }
        current = nil
        let (position, isThere) = map.find(key)
        var value: Value?
        if isThere {
            value = map.tree.lend(at: position) { entry in
                defer { entry.value = .null }
                return entry.value
            }
        }
        current = .map(map)
        guard case .map(var fields) = recording, let field = fields[key] else {
            return Draft(value, recording.isSet || value == nil ? .set : .none)
        }
        guard field.wasThere else { return Draft(value, .set) }
        // Gives the story up, here as there, so that it can go on in place.
        recording = .none
        fields[key]?.recording = .none
        recording = .map(fields)
        return Draft(value, field.recording)
    }

    private mutating func put(_ child: Draft, _ key: Key) {
        if let failure = child.failure { fail(failure.within(.key(key))) }
        guard case .map(var map)? = current else { return }
        current = nil
        let (position, wasThere) = map.find(key)
        if wasThere, let value = child.current {
            map.tree.lend(at: position) { $0.value = value }
        } else {
            map[key] = child.current
        }
        current = .map(map)
        guard !recording.isSet, child.failure == nil else { return }
        note(child, key, wasThere: wasThere)
    }

    private mutating func note(_ child: Draft, _ key: Key, wasThere: Bool) {
        guard wasThere ? child.current == nil || !child.recording.isNone : child.current != nil
        else { return }
        var fields: [Key: Recording.Field] = [:]
        if case .map(let known) = recording { fields = known }
        // Gives the dictionary up, so that it can change in place.
        recording = .none
        let before = fields[key]?.wasThere ?? wasThere
        let story: Recording = child.current == nil ? .set : child.recording
        fields[key] = Recording.Field(wasThere: before, recording: story)
        recording = .map(fields)
    }
}

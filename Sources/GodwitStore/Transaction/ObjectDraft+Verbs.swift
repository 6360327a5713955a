internal import GodwitTree

// MARK: - Integers

extension ObjectDraft where Object: BinaryInteger {
    /// Adds to an integer; what several devices add, adds up.
    public static func += (draft: inout ObjectDraft, number: Object) { draft.draft += number }

    /// Subtracts from an integer; what several devices subtract, adds up.
    public static func -= (draft: inout ObjectDraft, number: Object) { draft.draft -= number }
}

extension ObjectDraft<Bool> {
    /// Sets true to false, and false to true.
    public mutating func toggle() {
        guard let object else { return fail("there is no Bool to toggle") }
        draft = Draft(.bool(!object))
    }
}

// MARK: - Strings

extension ObjectDraft<String> {
    /// Puts text at the end.
    public mutating func append(_ text: String) { draft.text.append(text) }

    /// Puts text at an offset, counted in bytes of UTF-8.
    public mutating func insert(_ text: String, at offset: Int) {
        draft.text.insert(text, at: offset)
    }

    /// Puts text in the place of other text, whose range is counted in bytes of UTF-8.
    ///
    /// To record how a person has changed a text as a whole, assign the new text: the draft finds the
    /// words that differ.
    public mutating func replaceSubrange(_ range: Range<Int>, with text: String) {
        draft.text.replaceSubrange(range, with: text)
    }
}

// MARK: - Arrays

extension ObjectDraft {
    /// An item at a position.
    public subscript<Item: Codable>(position: Int) -> ObjectDraft<Item> where Object == [Item] {
        get { ObjectDraft<Item>(draft[position]) }
        set { draft[position] = newValue.draft }
        _modify { yield &draft[position][as: Item.self] }
    }

    /// The value of an item at a position; ``remove(at:)`` removes an item, nil does not.
    @_disfavoredOverload
    public subscript<Item: Codable>(position: Int) -> Item? where Object == [Item] {
        get { draft[position][as: Item.self].object }
        set {
            guard let newValue else { return fail("an item cannot be nil: use remove(at:)") }
            draft.assign(newValue, at: position)
        }
    }

    /// The item with an identity; without it, an edit makes the whole edit throw.
    ///
    /// - Complexity: O(*n*) in the number of items, to find it.
    public subscript<Item: Codable & Identifiable>(
        id id: Item.ID
    ) -> ObjectDraft<Item> where Object == [Item] {
        get { ObjectDraft<Item>(draft[position(of: id) ?? -1]) }
        set { draft[found(id)] = newValue.draft }
        _modify { yield &draft[found(id)][as: Item.self] }
    }

    /// The value of the item with an identity; ``remove(id:)`` removes an item, nil does not.
    @_disfavoredOverload
    public subscript<Item: Codable & Identifiable>(
        id id: Item.ID
    ) -> Item? where Object == [Item] {
        get { position(of: id).flatMap { self[$0] } }
        set { self[found(id)] = newValue }
    }
}

/// An array that a draft edits; no other type conforms.
///
/// The verbs of arrays belong to the drafts of arrays alone, so that other types may have properties of
/// their names.
public protocol ListProperty: Codable {
    associatedtype DraftItem: Codable
}

extension Array: ListProperty where Element: Codable {
    public typealias DraftItem = Element
}

extension ObjectDraft where Object: ListProperty {
    /// How many items there are.
    public var count: Int { draft.list.count }

    /// Puts a new item at the end.
    public mutating func append(_ item: Object.DraftItem) { insert(item, at: count) }

    /// Puts a new item at a position.
    public mutating func insert(_ item: Object.DraftItem, at position: Int) {
        guard let value = draft.encoded(item), let value else { return }
        draft.list.insert(value, at: position)
    }

    /// Moves an item, so that it then stands at `target`.
    public mutating func move(from source: Int, to target: Int) {
        draft.list.move(from: source, to: target)
    }

    /// Removes the item at a position.
    public mutating func remove(at position: Int) { draft.list.remove(at: position) }
}

extension ObjectDraft where Object: ListProperty, Object.DraftItem: Identifiable {
    /// Moves the item with an identity, so that it then stands at `target`.
    public mutating func move(id: Object.DraftItem.ID, to target: Int) {
        draft.list.move(from: found(id), to: target)
    }

    /// Removes the item with an identity; without it, nothing happens.
    public mutating func remove(id: Object.DraftItem.ID) {
        guard let position = position(of: id) else { return }
        draft.list.remove(at: position)
    }

    fileprivate mutating func found(_ id: Object.DraftItem.ID) -> Int {
        if let position = position(of: id) { return position }
        fail("there is no item with the id \(id)")
        return -1
    }

    fileprivate func position(of id: Object.DraftItem.ID) -> Int? {
        Value(draft).list?.firstIndex { value in
            (try? ValueDecoder().decode(Object.DraftItem.self, from: value))?.id == id
        }
    }
}

// MARK: - Dictionaries

extension ObjectDraft {
    /// The value under a key of a dictionary, to be edited.
    public subscript<Property: Codable>(
        key: String
    ) -> ObjectDraft<Property> where Object == [String: Property] {
        get { ObjectDraft<Property>(draft[Key(key)]) }
        set { draft[Key(key)] = newValue.draft }
        _modify { yield &draft[Key(key)][as: Property.self] }
    }

    /// The value under a key of a dictionary; nil removes it.
    @_disfavoredOverload
    public subscript<Property: Codable>(
        key: String
    ) -> Property? where Object == [String: Property] {
        get { draft[Key(key)][as: Property.self].object }
        set { draft.assign(newValue, at: Key(key)) }
    }
}

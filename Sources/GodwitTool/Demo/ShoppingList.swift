import GodwitStore
import GodwitTree

/// The seed's shopping list, and what the three devices do to it.
enum ShoppingList {
    static let key: Key = "groceries"
    static let object = ObjectKey(collection: Device.documents, key: key)

    static let first: Value = [
        "name": "Groceries",
        "items": [item("Bread"), item("Milk"), item("Eggs"), item("Apples")],
    ]

    static func item(_ name: Key) -> Value { ["name": .string(name), "crossed": false] }

    /// One thing that a person does to the list.
    enum Edit {
        case cross(Key)
        case rename(Key, to: Key)
        case move(Key, to: Int)
        case remove(Key)
        case add(Key)
        case call(Key)

        var sentence: String {
            switch self {
            case .cross(let name): "crosses off \(name)"
            case .rename(let old, let new): "renames \(old) to \(new)"
            case .move(let name, 0): "moves \(name) to the top"
            case .move(let name, let place): "moves \(name) to place \(place + 1)"
            case .remove(let name): "removes \(name)"
            case .add(let name): "adds \(name) at the end"
            case .call(let name): "calls the list \(name)"
            }
        }

        func applied(to list: Value) -> Value {
            guard var map = list.map, var items = list["items"]?.list else { return list }
            switch self {
            case .cross(let name): items.change(name) { $0["crossed"] = true }
            case .rename(let old, let new): items.change(old) { $0["name"] = .string(new) }
            case .move(let name, let place):
                if let item = items.take(name) { items.insert(item, at: min(place, items.count)) }
            case .remove(let name): _ = items.take(name)
            case .add(let name): items.append(ShoppingList.item(name))
            case .call(let name): map["name"] = .string(name)
            }
            map["items"] = .list(items)
            return .map(map)
        }
    }

    /// The list as a person sees it.
    static func view(_ list: Value?) -> [String] {
        let items = list?["items"]?.list ?? []
        return [list?["name"]?.text ?? "(no list)"]
            + items.map { item in
                let mark = item["crossed"] == true ? "[x]" : "[ ]"
                return "\(mark) \(item["name"]?.text ?? "?")"
            }
    }
}

extension Value.List {
    fileprivate mutating func change(_ name: Key, _ body: (inout Value.Map) -> Void) {
        guard let index = firstIndex(where: { $0["name"] == .string(name) }),
            var map = self[index].map
        else { return }
        body(&map)
        self[index] = .map(map)
    }

    fileprivate mutating func take(_ name: Key) -> Value? {
        firstIndex { $0["name"] == .string(name) }.map { remove(at: $0) }
    }
}

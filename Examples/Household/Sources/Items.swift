import Godwit

/// An item as the first version of the app has stored it.
struct ItemV1: Codable, Identifiable, Sendable {
    var id: String
    var name: String
    var done: Bool
}

struct Item: Codable, Identifiable, Sendable {
    var id: String
    var name: String
    var isCrossed = false
    var quantity = 1
}

struct Upload: PushOperation {
    static let kind = "upload"
    let file: String
}

let firstItems = Store.Collection<ItemV1>("items")
let items = firstItems.upgraded { Item(id: $0.id, name: $0.name, isCrossed: $0.done) }
let openItems = items.where(\.isCrossed, .equal(false)).order(by: \.name)

/// A device of the household: a store, and a replica of the list.
struct Device: Sendable {
    let store: Store
    let connector: ReplicaConnector
    let list: Replica

    init(_ path: String, _ transport: any ReplicaTransport) async throws {
        var options = Store.Options()
        let open = Store.Index("open", on: Field(\Item.isCrossed), Field(\Item.name))
        options.collections = [CollectionRules(items, indexes: [open])]
        store = try Store(.file(path), options: options)
        connector = try ReplicaConnector(store, transport: transport)
        list = try await connector.open("household", collections: items)
    }

    func sync() async throws { try await connector.synchronize(list.name) }

    func edit(
        _ id: String,
        _ body: @escaping @Sendable (inout ObjectDraft<Item>) -> Void
    ) async throws {
        try await store.write { try $0.edit(id, in: items, body) }
    }
}

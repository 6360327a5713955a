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

let firstItems = Store.Collection<ItemV1>("items")
let items = firstItems.upgraded(to: Item.self) { old in
    Item(id: old.id, name: old.name, isCrossed: old.done)
}
let openItems = items.where(\.isCrossed, .equal(false)).order(by: \.name)

struct Receipt: Codable, Identifiable, Sendable {
    var id: String
    var photo: String
    var cents: Int
}

let receipts = Store.Collection<Receipt>("receipts")

struct UploadPhoto: PushOperation {
    static let kind = "upload-photo"
    let photo: String
}

struct UploadReceipt: PushOperation {
    static let kind = "upload-receipt"
    let receipt: String
}

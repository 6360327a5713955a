import Foundation
import Godwit

/// A line of the list.
struct Item: Codable, Identifiable, Equatable, Sendable {
    var id = UUID()
    var name: String
    var isCrossed = false
    var quantity = 1
}

let items = Store.Collection<Item>("items")
let byName = Store.Index("byName", on: Field(\Item.isCrossed), Field(\Item.name))

/// What is left to buy, by name.
let openItems = items.where(\.isCrossed, .equal(false)).order(by: \.name)

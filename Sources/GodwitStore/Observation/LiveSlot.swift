/// Keeps a view's model while SwiftUI creates the view again and again.
@MainActor
package final class LiveSlot<Model> {
    private var current: (store: Store, id: AnyHashable, model: Model)?

    package nonisolated init() {}

    /// The model of the view that SwiftUI has drawn last; nil before.
    package var model: Model? { current?.model }

    /// Makes the model, unless there is one of the same store and the same identity.
    package func follow(_ store: Store, id: AnyHashable, _ make: @MainActor (Store) -> Model) {
        if let current, current.store === store, current.id == id { return }
        current = (store, id, make(store))
    }
}

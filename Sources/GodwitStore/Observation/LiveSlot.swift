/// Keeps what a view observes for as long as the view is there, however often the view's value is made.
@MainActor
package final class LiveSlot<Model> {
    private var current: (store: Store, id: AnyHashable, model: Model)?

    package nonisolated init() {}

    /// What was made for the same store and the same identity, or something new.
    package func model(
        in store: Store,
        id: AnyHashable,
        _ make: @MainActor (Store) -> Model
    ) -> Model {
        if let current, current.store === store, current.id == id { return current.model }
        let model = make(store)
        current = (store, id, model)
        return model
    }
}

#if canImport(SwiftUI)
internal import GodwitStore
public import SwiftUI

/// A live query, object, search or value of a SwiftUI view that reads the store in the view's environment.
///
/// ```swift
/// struct ShoppingScreen: View {
///     @Live({ LiveQuery(items.order(by: \.name), in: $0) }) var list
///
///     var body: some View {
///         List(list.rows) { row in Text(row.object.name) }
///     }
/// }
///
/// ShoppingScreen().environment(\.godwitStore, store)
/// ```
///
/// The closure runs when SwiftUI first draws the view, and again if the environment has another store. If the
/// closure depends on a property of the view, give that as `id`: when it changes, the closure runs again, and the new
/// model has no rows until its first read. To keep the rows, set `query` of the model instead. The store is
/// followed for as long as the view is there.
///
/// - Precondition: The environment has a store.
@propertyWrapper
public struct Live<Model: AnyObject & Observable>: DynamicProperty {
    @Environment(\.godwitStore) private var store
    @State private var slot = LiveSlot<Model>()
    private let id: AnyHashable
    private let make: @MainActor (Store) -> Model

    /// - Parameters:
    ///   - id: The value that the closure depends on.
    ///   - make: Makes a ``LiveQuery``, a ``LiveObject``, a ``LiveSearch`` or a ``LiveValue``.
    public init(
        id: some Hashable = 0,
        _ make: @escaping @MainActor (Store) -> Model
    ) {
        self.id = AnyHashable(id)
        self.make = make
    }

    @MainActor public var wrappedValue: Model {
        guard let model = slot.model else {
            preconditionFailure("A view with @Live needs .environment(\\.godwitStore, store)")
        }
        return model
    }

    /// SwiftUI calls this before it draws the view: an older value of the view, such as one that a closure has
    /// captured, never replaces the model.
    public nonisolated func update() {
        // Safe because SwiftUI updates properties on the main thread alone.
        nonisolated(unsafe) let this = self
        MainActor.assumeIsolated {
            guard let store = this.store else { return }
            this.slot.follow(store, id: this.id, this.make)
        }
    }
}

extension EnvironmentValues {
    /// The store of a view and of the views in it.
    public var godwitStore: Store? {
        get { self[StoreEntry.self] }
        set { self[StoreEntry.self] = newValue }
    }

    private enum StoreEntry: EnvironmentKey {
        static let defaultValue: Store? = nil
    }
}
#endif

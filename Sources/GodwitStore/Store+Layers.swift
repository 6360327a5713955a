// What the layers above build on.

extension Store {
    /// What another layer keeps in memory beside this store.
    package func attachment<Object: AnyObject & Sendable>(
        _ make: (Identifiers) -> Object
    ) -> Object {
        context.attachments.get { make(context.identifiers) }
    }

    package var options: Options { context.options }

    package func translated(_ error: any Error) -> any Error { context.translated(error) }

    /// Calls `listener` with the commits of other processes, in order with those of this one.
    ///
    /// It must neither read nor wait: the publication of commits waits for it.
    ///
    /// - Parameter listener: nil to call it no more.
    package func setNeighbourListener(
        of owner: AnyObject,
        _ listener: (@Sendable (_ commits: ClosedRange<CommitNumber>) -> Void)?
    ) {
        context.neighbours.set(listener, of: owner)
    }
}

package import Foundation
internal import Synchronization

/// Held while a process starts or a pipe is made.
///
/// Foundation closes in a child the files that it has found open. A pipe that another thread makes between
/// that look and the child's start stays open in the child: its reader sees the end only when the child exits.
private let starts = Mutex(())

extension Process {
    /// Runs the process so that it keeps no pipe open that another thread makes meanwhile.
    package func start() throws { try starts.withLock { _ in try run() } }
}

extension Pipe {
    /// A new pipe that no process inherits by accident.
    package static func make() -> Pipe { starts.withLock { _ in Pipe() } }
}

import Foundation
import GodwitStore
import GodwitTestKit
import Testing

#if os(Linux)
@Suite struct StoreLockTests {
    /// Between its fork and its exec a child process has all open files of its parent, so a
    /// store that is closed in that moment must not stay locked.
    @Test func `a closed store is free although a child process has its files`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let store = try Store(.file(path))
        let inherited = try descriptors(of: path + "-lock").map { dup($0) }
        #expect(inherited.count == 1)

        try store.close()

        try Store(.file(path)).close()
        for descriptor in inherited { close(descriptor) }
    }

    @Test(arguments: [false, true])
    func `a store of several processes keeps the others from writing while it writes`(
        isShared: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        var options = Store.Options()
        options.processes = isShared ? .several : .one
        let store = try Store(.file(path), options: options)
        let file = open(path + "-writer", O_RDWR | O_CREAT, 0o644)
        defer { close(file) }
        let isFree = try await store.write { _ in
            defer { flock(file, LOCK_UN) }
            return flock(file, LOCK_EX | LOCK_NB) == 0
        }
        #expect(isFree == !isShared)
        #expect(flock(file, LOCK_EX | LOCK_NB) == 0, "and not longer")
        flock(file, LOCK_UN)
        try store.close()
    }

    private func descriptors(of path: String) throws -> [Int32] {
        let files = FileManager.default
        return try files.contentsOfDirectory(atPath: "/proc/self/fd").filter { number in
            (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == path
        }.compactMap { Int32($0) }
    }
}
#endif

/// The memory and the locks by which the connections to one WAL database agree.
struct SharedMemory {
    /// A piece of the memory, which stays where it is as long as a connection has it.
    ///
    /// Unchecked, because SQLite's own locks and barriers order what is done to the bytes.
    final class Region: @unchecked Sendable {
        let address: UnsafeMutableRawPointer

        init(size: Int) {
            address = .allocate(byteCount: size, alignment: 16)
            address.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        }

        deinit { address.deallocate() }
    }

    private struct Lock {
        var exclusive: Int?
        var shared: Set<Int> = []
    }

    /// SQLite's `SQLITE_SHM_NLOCK`.
    static let lockCount = 8

    private var regions: [Region] = []
    private var locks = [Lock](repeating: Lock(), count: lockCount)
    private var users: Set<Int> = []

    func isHeldOnly(by handle: Int) -> Bool { users.isSubset(of: [handle]) }

    /// The region of this number; nil when there is none and it shall not be made.
    mutating func region(_ number: Int, size: Int, extending: Bool, for handle: Int) -> Region? {
        users.insert(handle)
        guard number < regions.count || extending else { return nil }
        while regions.count <= number { regions.append(Region(size: size)) }
        return regions[number]
    }

    /// Takes the locks of a range, all or none.
    mutating func lock(_ range: Range<Int>, exclusively: Bool, for handle: Int) -> Bool {
        let isFree = range.allSatisfy { number in
            let lock = locks[number]
            return (lock.exclusive ?? handle) == handle
                && (!exclusively || lock.shared.isSubset(of: [handle]))
        }
        guard isFree else { return false }
        for number in range {
            if exclusively {
                locks[number].exclusive = handle
            } else {
                locks[number].shared.insert(handle)
            }
        }
        return true
    }

    mutating func unlock(_ range: Range<Int>, for handle: Int) {
        for number in range {
            if locks[number].exclusive == handle { locks[number].exclusive = nil }
            locks[number].shared.remove(handle)
        }
    }

    mutating func leave(_ handle: Int) {
        unlock(locks.indices, for: handle)
        users.remove(handle)
    }
}

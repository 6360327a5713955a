/// The memory that things take while they are read.
package enum ReadCost {
    /// A list with the places of its items.
    static func list(_ count: Int) -> Int { container(count, each: 24, collectedEach: 48) }

    /// A map with its keys, but for long ones, and the places of their values.
    static func map(_ count: Int) -> Int { container(count, each: 40, collectedEach: 120) }

    /// The cost of an item of a list with so many items.
    package static func item(_ count: Int) -> Int { list(count) - list(count - 1) }

    /// The cost of an entry of a map with so many entries.
    package static func entry(_ count: Int) -> Int { map(count) - map(count - 1) }

    /// The cost of a container.
    ///
    /// A short one is a single allocation. A longer one has leaves, which know their boundaries. The
    /// array in which a reader collects the elements counts where it is large.
    private static func container(_ count: Int, each: Int, collectedEach: Int) -> Int {
        switch count {
        case 0: 0
        case ..<ChunkBoundary.countMin: 80 + count * each
        case ..<ChunkBoundary.countMax: 192 + count * (each + 12)
        default: 192 + count * (each + 12 + collectedEach)
        }
    }

    /// The memory of a scalar besides its place.
    static func scalar(_ value: Value) -> Int {
        switch value {
        case .string(let key): bytes(key.sizeInBytes)
        case .bytes(let content): bytes(content.count)
        default: 0
        }
    }

    /// The bytes of a base that are a prefix, of a size that is estimated, while they are written.
    static func prefix(_ sizeInBytes: Int) -> Int { 4 * sizeInBytes }

    /// A string that has memory of its own, besides its bytes.
    static let string = 64
    /// An operation of a JSON Patch, and a step on the way of its pointers.
    static let operation = 320
    static let token = 112

    /// An element of EDN, and the scalar or the part of a delta that it becomes.
    static let form = 144
    /// The elements between brackets, and the container that they become.
    static let forms = 192
    /// A tag or a discard that waits for its element: more than it takes, because no element needs
    /// many.
    static let tag = 160

    enum Part {
        static let entry = 112
        static let splice = 128
        static let remove = 112
        static let edit = 112
        static let move = 184
        /// With the place of its value.
        static let insert = 160
    }

    /// The cost of text and byte strings of a size.
    package static func bytes(_ count: Int) -> Int { count > 15 ? string + count : 0 }
}

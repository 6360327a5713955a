#if PostgreSQL
internal import CLibpq

/// The arguments of a statement, as libpq takes them.
struct StatementArguments {
    private let bytes: [UInt8]
    /// The size of each; nil for NULL.
    private let sizes: [Int?]

    init(_ parameters: [PostgreSQLParameter]) {
        let values = parameters.map(\.encoded)
        (bytes, sizes) = (values.flatMap { $0 ?? [] }, values.map { $0?.count })
    }

    var sizeInBytes: Int { bytes.count }

    /// Sends a prepared statement with these arguments.
    ///
    /// - Returns: 1 if libpq has taken it.
    func send(to name: String, on connection: OpaquePointer) -> Int32 {
        let lengths = sizes.map { Int32($0 ?? 0) }
        let formats = [Int32](repeating: 1, count: sizes.count)
        return bytes.withUnsafeBufferPointer { bytes in
            // An empty value is one, and not NULL: it needs an address, too.
            let start = UnsafeRawPointer(bytes.baseAddress ?? Self.noBytes)
            var offset = 0
            let pointers = sizes.map { size -> UnsafePointer<CChar>? in
                guard let size else { return nil }
                defer { offset += size }
                return (start + offset).assumingMemoryBound(to: CChar.self)
            }
            return PQsendQueryPrepared(
                connection,
                name,
                Int32(sizes.count),
                pointers,
                lengths,
                formats,
                1
            )
        }
    }

    /// An address of no bytes.
    ///
    /// Unsafe, because it is global; nothing is ever read from it.
    nonisolated(unsafe) private static let noBytes = UnsafePointer(
        UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
    )
}
#endif

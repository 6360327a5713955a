public import Foundation
public import GodwitStore
public import GodwitTree

/// What makes a value of the bytes that YapDatabase has stored for an object, or for its metadata.
///
/// ```swift
/// source.decoders["contacts"] = .codable(Contact.self)
/// source.decoders["notes"] = YapObjectDecoder { bytes, place in
///     let note = try KeyedArchive(bytes).root
///     return ["text": note["body"] ?? "", "id": .string(place.key)]
/// }
/// ```
///
/// A decoder that returns nil declines the object: the report counts it. One that throws leaves the object
/// out: the report names it, with the reason.
public struct YapObjectDecoder: Sendable {
    /// Makes a value of bytes; `place` is where the object was in YapDatabase.
    public typealias Body = @Sendable (_ bytes: [UInt8], _ place: ObjectKey) throws -> Value?

    let body: Body

    public init(_ body: @escaping Body) { self.body = body }

    /// Objects that YapDatabase's default serializer has archived; see ``KeyedArchive``.
    public static let keyedArchive = YapObjectDecoder { bytes, _ in try KeyedArchive(bytes).root }

    /// Property lists, binary or in XML, as `YapDatabase.propertyListSerializer` writes them, and
    /// Swift's `PropertyListEncoder`.
    public static let propertyList = YapObjectDecoder { bytes, _ in
        try PropertyList(bytes).value()
    }

    /// Dates as `YapDatabase.timestampSerializer` writes them: eight bytes, or else an archive.
    ///
    /// They become the seconds since 2001, as the store's coder writes a `Date`.
    public static let timestamp = YapObjectDecoder { bytes, _ in
        guard bytes.count == 8 else { return try KeyedArchive(bytes).root }
        let bits = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return try PropertyList.date(Double(bitPattern: bits)).scalar()
    }

    /// JSON text.
    public static let json = YapObjectDecoder { bytes, _ in try Value(json: bytes) }

    /// The bytes as they are.
    public static let bytes = YapObjectDecoder { bytes, _ in .bytes(bytes) }

    /// Objects of a type of the app's, which `PropertyListEncoder` has written.
    ///
    /// `registerCodableSerialization` of YapDatabase writes them so. The store keeps each as its own coder
    /// writes the type: dates, UUIDs and enums are what `Store.Collection<Object>` reads.
    public static func codable<Object: Codable & Sendable>(
        _ type: Object.Type
    ) -> YapObjectDecoder {
        codable(type) { data in
            // Foundation's coder takes the memory that a hostile list asks for.
            _ = try PropertyList(Array(data))
            return try PropertyListDecoder().decode(type, from: data)
        }
    }

    /// Objects of a type of the app's, which a decoder of the app's reads.
    ///
    /// ```swift
    /// source.decoders["orders"] = .codable(Order.self) { data in
    ///     let decoder = JSONDecoder()
    ///     decoder.dateDecodingStrategy = .iso8601
    ///     return try decoder.decode(Order.self, from: data)
    /// }
    /// ```
    public static func codable<Object: Codable & Sendable>(
        _ type: Object.Type,
        by decode: @escaping @Sendable (Data) throws -> Object
    ) -> YapObjectDecoder {
        YapObjectDecoder { bytes, _ in try ValueEncoder().encode(try decode(Data(bytes))) }
    }
}

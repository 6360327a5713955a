internal import Foundation
internal import GodwitTree

/// A property list as its file says it: what keyed archives are written in, too.
indirect enum PropertyList {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    /// Seconds since the beginning of 2001.
    case date(Double)
    case text(String)
    case data([UInt8])
    /// The place of an object in a keyed archive.
    case uid(Int)
    case list([PropertyList])
    /// Keys that look alike and have other bytes stay apart.
    case map([Key: PropertyList])
}

extension PropertyList {
    /// How deep lists and maps may lie in each other.
    static let depthMax = 128

    /// Reads a binary property list, or one in XML.
    ///
    /// - Throws: ``YapDatabaseError/unreadableData(reason:)``.
    init(_ bytes: [UInt8]) throws(YapDatabaseError) {
        guard !bytes.isEmpty else { throw .unreadableData(reason: "there are no bytes") }
        if bytes.starts(with: BinaryPropertyList.magic) {
            var reader = try BinaryPropertyList(bytes)
            self = try reader.root()
        } else {
            var reader = try BinaryPropertyList(Self.binary(bytes))
            self = try reader.root()
        }
    }

    /// The same list in the binary format, so that one reader of ours decides what a list may be.
    private static func binary(_ bytes: [UInt8]) throws(YapDatabaseError) -> [UInt8] {
        guard let first = bytes.first(where: { $0 > 0x20 && $0 < 0x7f }),
            first == UInt8(ascii: "<")
        else { throw .unreadableData(reason: "this is no property list") }
        try XMLNesting.check(bytes)
        do {
            let list = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
            let data = try PropertyListSerialization.data(
                fromPropertyList: list,
                format: .binary,
                options: 0
            )
            return Array(data)
        } catch {
            throw .unreadableData(reason: "this is no property list in XML")
        }
    }

    /// The entries of a map, or nil when this is something else.
    var map: [Key: PropertyList]? {
        guard case .map(let map) = self else { return nil }
        return map
    }

    /// The items of a list, or nil when this is something else.
    var list: [PropertyList]? {
        guard case .list(let list) = self else { return nil }
        return list
    }

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The place that this refers to; XML writes it as a map with one entry.
    var uid: Int? {
        switch self {
        case .uid(let uid): return uid
        case .map(let map) where map.count == 1:
            guard case .int(let uid)? = map["CF$UID"] else { return nil }
            return Int(exactly: uid)
        default: return nil
        }
    }
}

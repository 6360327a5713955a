internal import Foundation
internal import GodwitStore
public import GodwitTree

/// What an `NSKeyedArchiver` has written, read without the classes of the app that wrote it.
///
/// ```swift
/// let archive = try KeyedArchive(body)
/// archive.className        // "Contact"
/// archive.root["name"]     // "Robbie"
/// ```
///
/// Strings, numbers, decimals, data, dates, UUIDs, URLs, arrays, sets and dictionaries become the values that
/// the store's coder writes for their Swift types. An object of another class becomes a map of what it
/// has encoded, with the class's name under ``classKey``. So no class has to be there, on Linux too.
/// An object that several others refer to is repeated in each of them. Bytes that are no archive, and
/// objects that contain themselves, throw ``YapDatabaseError/unreadableData(reason:)``.
public struct KeyedArchive: Sendable {
    /// The key under which a map has the name of the class that it was an object of.
    public static let classKey: Key = "$class"

    /// The object that was archived.
    public let root: Value
    /// The class of the object that was archived; nil for a plain value.
    public var className: String? { root[Self.classKey]?.text }

    public init(_ bytes: [UInt8]) throws(YapDatabaseError) {
        guard let archive = try PropertyList(bytes).map, let objects = archive["$objects"]?.list,
            let top = archive["$top"]?.map
        else { throw .unreadableData(reason: "this is no keyed archive") }
        guard let root = (top["root"] ?? (top.count == 1 ? top.values.first : nil))?.uid else {
            throw .unreadableData(reason: "the archive has no root")
        }
        var reader = ArchiveReader(objects, budget: 1 << 24 + min(bytes.count, 1 << 40) * 64)
        self.root = try reader.object(root, depth: 0)
    }
}

/// Follows the references of a keyed archive.
private struct ArchiveReader {
    private let objects: [PropertyList]
    /// How much memory the values may still take: objects that are shared are paid for each time.
    private var budget: Int
    /// The names of the classes, by their places.
    private var classes: [Int: [String]] = [:]
    /// How many names a class may have: its own, and those of the classes above it.
    private static let namesMax = 64
    /// What a value takes in memory beside its text or data.
    private static let valueSizeInBytes = 40

    init(_ objects: [PropertyList], budget: Int) { (self.objects, self.budget) = (objects, budget) }

    mutating func object(_ uid: Int, depth: Int) throws(YapDatabaseError) -> Value {
        guard depth <= Value.depthMax else { throw .tooDeep }
        guard objects.indices.contains(uid) else {
            throw .unreadableData(reason: "the archive names an object that it has not")
        }
        if uid == 0 { return try scalar(.null) }
        guard let fields = objects[uid].map else { return try scalar(objects[uid]) }
        try pay(Self.valueSizeInBytes)
        let names = try classNames(of: fields)
        for name in names {
            if let value = try plain(fields, as: name, depth) { return value }
        }
        return try coded(fields, className: names.first, depth)
    }

    /// The name of an object's class, and those of the classes above it.
    private mutating func classNames(
        of fields: [Key: PropertyList]
    ) throws(YapDatabaseError) -> [String] {
        let place = fields["$class"]?.uid
        if let place, let names = classes[place] { return names }
        guard let place, objects.indices.contains(place),
            let description = objects[place].map, let name = description["$classname"]?.text
        else { throw .unreadableData(reason: "an object of the archive has no class") }
        let above = description["$classes"]?.list?.prefix(Self.namesMax).compactMap(\.text) ?? []
        let names = [name] + above.filter { $0 != name }
        classes[place] = names
        return names
    }

    private mutating func pay(_ size: Int) throws(YapDatabaseError) {
        guard size <= budget else {
            throw .unreadableData(reason: "the archive unfolds to far more than it holds")
        }
        budget -= size
    }

    private mutating func scalar(_ field: PropertyList) throws(YapDatabaseError) -> Value {
        switch field {
        case .text(let text): try pay(Self.valueSizeInBytes + text.utf8.count)
        case .data(let bytes): try pay(Self.valueSizeInBytes + bytes.count)
        default: try pay(Self.valueSizeInBytes)
        }
        return try field.scalar()
    }

    /// What is coded in a field: a value, or a reference.
    private mutating func value(
        _ field: PropertyList?,
        _ depth: Int
    ) throws(YapDatabaseError) -> Value {
        guard let field else { return .null }
        if let uid = field.uid { return try object(uid, depth: depth) }
        if let items = field.list {
            try pay(Self.valueSizeInBytes)
            return .list(try values(items, depth))
        }
        return try scalar(field)
    }

    private mutating func values(
        _ items: [PropertyList],
        _ depth: Int
    ) throws(YapDatabaseError) -> [Value] {
        guard depth <= Value.depthMax else { throw .tooDeep }
        var values: [Value] = []
        for item in items { values.append(try value(item, depth + 1)) }
        return values
    }

    /// Any object: what it has encoded.
    private mutating func coded(
        _ fields: [Key: PropertyList],
        className: String?,
        _ depth: Int
    ) throws(YapDatabaseError) -> Value {
        var map: Value.Map = [:]
        for (name, field) in fields where name != "$class" {
            try pay(name.text.utf8.count)
            map[name] = try value(field, depth + 1)
        }
        try pay(className?.utf8.count ?? 0)
        map[KeyedArchive.classKey] = className.map { .string(Key($0)) }
        return .map(map)
    }
}

// MARK: - Foundation's plain types

extension ArchiveReader {
    /// Returns nil for a class that is none of the plain ones.
    private mutating func plain(
        _ fields: [Key: PropertyList],
        as name: String,
        _ depth: Int
    ) throws(YapDatabaseError) -> Value? {
        switch name {
        case "NSNull": return .null
        case "NSString", "NSMutableString": return try value(fields["NS.string"], depth + 1)
        case "NSData", "NSMutableData":
            return try value(fields["NS.data"] ?? fields["NS.bytes"], depth + 1)
        case "NSDecimalNumber": return try decimal(fields)
        case "NSNumber": return try number(fields)
        case "NSDate":
            guard let field = fields["NS.time"] else { throw .missing("NS.time", in: name) }
            return try real(field)
        case "NSUUID": return try uuid(fields)
        case "NSURL": return try url(fields, depth)
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet",
            "NSMutableOrderedSet":
            return .list(try values(items(of: fields), depth))
        case "NSDictionary", "NSMutableDictionary": return try dictionary(fields, depth)
        default: return nil
        }
    }

    /// A set that is ordered numbers its items.
    private func items(of fields: [Key: PropertyList]) -> [PropertyList] {
        if let items = fields["NS.objects"]?.list { return items }
        var items: [PropertyList] = []
        while let item = fields[Key("NS.object.\(items.count)")] { items.append(item) }
        return items
    }

    private mutating func number(_ fields: [Key: PropertyList]) throws(YapDatabaseError) -> Value {
        for name: Key in ["NS.number", "NS.boolval", "NS.intval", "NS.dblval"] {
            if let field = fields[name] { return try scalar(field) }
        }
        throw .missing("NS.intval", in: "NSNumber")
    }

    /// A mantissa of up to eight words of 16 bits, from the lowest on, and a power of ten.
    private func decimal(_ fields: [Key: PropertyList]) throws(YapDatabaseError) -> Value {
        guard case .data(let bytes)? = fields["NS.mantissa"], bytes.count == 16,
            case .int(let exponent)? = fields["NS.exponent"], (-128...127).contains(exponent),
            case .int(let length)? = fields["NS.length"], (0...8).contains(length)
        else { throw .missing("NS.mantissa", in: "NSDecimalNumber") }
        var isBigEndian = false
        if case .int(2)? = fields["NS.mantissa.bo"] { isBigEndian = true }
        var mantissa = Decimal(0)
        for index in (0..<Int(length)).reversed() {
            let (first, second) = (Int(bytes[2 * index]), Int(bytes[2 * index + 1]))
            mantissa = mantissa * 65_536
            mantissa += Decimal(isBigEndian ? first << 8 | second : second << 8 | first)
        }
        var sign = FloatingPointSign.plus
        if case .bool(true)? = fields["NS.negative"] { sign = .minus }
        let decimal = Decimal(sign: sign, exponent: Int(exponent), significand: mantissa)
        guard let value = try? ValueEncoder().encode(decimal) else {
            throw .unreadableData(reason: "a decimal number is none")
        }
        return value
    }

    /// A date is a double, also where the archive has whole seconds.
    private mutating func real(_ field: PropertyList) throws(YapDatabaseError) -> Value {
        if case .int(let int) = field { return try PropertyList.double(Double(int)).scalar() }
        return try scalar(field)
    }

    private func uuid(_ fields: [Key: PropertyList]) throws(YapDatabaseError) -> Value {
        guard case .data(let bytes)? = fields["NS.uuidbytes"], let uuid = UUID(bytes: bytes) else {
            throw .missing("NS.uuidbytes", in: "NSUUID")
        }
        return .string(Key(uuid.uuidString))
    }

    private mutating func url(
        _ fields: [Key: PropertyList],
        _ depth: Int
    ) throws(YapDatabaseError) -> Value {
        let base = try value(fields["NS.base"], depth + 1)
        let relative = try value(fields["NS.relative"], depth + 1)
        guard let relative = relative.text else { throw .missing("NS.relative", in: "NSURL") }
        let url = base.text.flatMap { URL(string: relative, relativeTo: URL(string: $0)) }
        return .string(Key(url?.absoluteString ?? relative))
    }

    /// Keys that are integers become their digits, as Swift's coders write them.
    private mutating func dictionary(
        _ fields: [Key: PropertyList],
        _ depth: Int
    ) throws(YapDatabaseError) -> Value {
        let keys = try values(fields["NS.keys"]?.list ?? [], depth)
        let values = try values(fields["NS.objects"]?.list ?? [], depth)
        guard keys.count == values.count else { throw .missing("NS.objects", in: "NSDictionary") }
        var map: Value.Map = [:]
        for (key, value) in zip(keys, values) {
            switch key {
            case .string(let key): map[key] = value
            case .int(let number): map[Key("\(number)")] = value
            default: throw .unreadableData(reason: "a dictionary has a key that is no text")
            }
        }
        return .map(map)
    }
}

extension UUID {
    /// Returns nil unless there are 16 bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

extension YapDatabaseError {
    fileprivate static func missing(_ field: String, in name: String) -> YapDatabaseError {
        .unreadableData(reason: "an object of \(name) has no \(field)")
    }
}

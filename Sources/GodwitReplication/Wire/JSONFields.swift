internal import GodwitTree

/// The fields of a JSON object, each of which is taken once; one that is left over is an error.
struct JSONFields {
    private var map: Value.Map
    private let name: String

    static func malformed(_ reason: String) -> ReplicationError {
        .malformedMessage(reason: reason)
    }

    /// - Parameter name: What the object is, for errors.
    init(_ json: Value, of name: String) throws(ReplicationError) {
        guard case .map(let map) = json else {
            throw Self.malformed("\(name) is a JSON object")
        }
        (self.map, self.name) = (map, name)
    }

    func has(_ field: String) -> Bool { map[Key(field)] != nil }

    /// Takes a field; null where there is none.
    mutating func value(_ field: String) -> Value {
        let value = map[Key(field)] ?? .null
        map[Key(field)] = nil
        return value
    }

    mutating func integer(
        _ field: String,
        in range: ClosedRange<Int64>
    ) throws(ReplicationError) -> Int64 {
        guard let integer = try optionalInteger(field, in: range) else {
            throw Self.malformed("\(name) has no \"\(field)\"")
        }
        return integer
    }

    mutating func optionalInteger(
        _ field: String,
        in range: ClosedRange<Int64>
    ) throws(ReplicationError) -> Int64? {
        let value = value(field)
        if value == .null { return nil }
        guard let integer = value.integer, range.contains(integer) else {
            throw Self.malformed(
                "\"\(field)\" is an integer from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return integer
    }

    mutating func text(_ field: String) throws(ReplicationError) -> String {
        guard let text = value(field).text else {
            throw Self.malformed("\(name) has a text \"\(field)\"")
        }
        return text
    }

    mutating func list(_ field: String) throws(ReplicationError) -> Value.List {
        guard case .list(let list) = value(field) else {
            throw Self.malformed("\(name) has a list \"\(field)\"")
        }
        return list
    }

    /// The fields of an object; nil where there is none, or null.
    mutating func fields(_ field: String) throws(ReplicationError) -> JSONFields? {
        let value = value(field)
        return value == .null ? nil : try JSONFields(value, of: "\"\(field)\"")
    }

    /// Checks that all fields were taken.
    func finish() throws(ReplicationError) {
        guard let left = map.first else { return }
        throw Self.malformed("\(name) has no field \"\(left.key.text)\"")
    }
}

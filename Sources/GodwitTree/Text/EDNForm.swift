/// An element of EDN text, before it is known whether it should be a value or a part of a delta.
struct EDNForm {
    enum Content {
        case null
        case bool(Bool)
        case int(Int64)
        case double(Finite)
        case string(Key)
        case keyword(Key)
        /// A vector or a list.
        case list([EDNForm])
        /// Keys and values in turn.
        case map([EDNForm])
        case set([EDNForm])
        /// A form that EDN has and a value cannot be, with the reason.
        case foreign(String)
    }

    let offset: Int
    /// The tags before the element, the outermost first, without their `#`.
    let tags: [Key]
    let content: Content
}

extension EDNForm {
    /// The value that this element stands for; `depthLeft` containers may be nested in it.
    func value(depthLeft: Int, limit: Int) throws(TreeError) -> Value {
        guard tags.isEmpty else { return .bytes(try bytes()) }
        switch content {
        case .null: return .null
        case .bool(let bool): return .bool(bool)
        case .int(let int): return .int(int)
        case .double(let double): return .double(double)
        case .string(let key), .keyword(let key): return .string(key)
        case .foreign(let reason): throw fault(reason)
        case .set: throw fault("a set is not a value; a vector is")
        case .list(let items):
            guard depthLeft > 0 else { throw .tooDeep(limit: limit) }
            var values: [Value] = []
            values.reserveCapacity(items.count)
            for item in items {
                values.append(try item.value(depthLeft: depthLeft - 1, limit: limit))
            }
            return .list(values)
        case .map:
            guard depthLeft > 0 else { throw .tooDeep(limit: limit) }
            var entries: [Value.Map.Entry] = []
            for (key, form) in try pairs("a map") {
                let value = try form.value(depthLeft: depthLeft - 1, limit: limit)
                entries.append(Value.Map.Entry(key: try key.key(), value: value))
            }
            switch Value.Map.build(entries) {
            case .success(let map): return .map(map)
            case .failure(let twice):
                throw fault("the key \"\(twice.key)\" occurs twice in this map")
            }
        }
    }

    /// The key of a map that this element stands for.
    func key() throws(TreeError) -> Key {
        guard tags.isEmpty else { throw fault("a key has no tag") }
        switch content {
        case .string(let key), .keyword(let key): return key
        default: throw fault("a key is a keyword or a string")
        }
    }

    /// The keys and values of a map.
    func pairs(_ name: String) throws(TreeError) -> [(EDNForm, EDNForm)] {
        guard tags.isEmpty, case .map(let forms) = content else {
            throw fault("\(name) was expected")
        }
        return stride(from: 0, to: forms.count, by: 2).map { (forms[$0], forms[$0 + 1]) }
    }

    /// The items of a vector or a list.
    func items(_ name: String) throws(TreeError) -> [EDNForm] {
        guard tags.isEmpty, case .list(let items) = content else {
            throw fault("\(name) was expected")
        }
        return items
    }

    private func bytes() throws(TreeError) -> [UInt8] {
        guard tags == ["bytes"] else { throw fault("the tag #\(tags[0]) is unknown here") }
        guard case .string(let digits) = content, let bytes = [UInt8](hex: digits.text) else {
            throw fault("bytes are hexadecimal digits in a string")
        }
        return bytes
    }

    func fault(_ reason: String) -> TreeError {
        .malformed(format: .edn, offset: offset, reason: reason)
    }
}

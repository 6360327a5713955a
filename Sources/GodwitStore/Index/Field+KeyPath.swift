internal import GodwitTree

extension Field {
    /// The stored property that a key path leads to, by the name that `Codable` gives it by default.
    ///
    /// ```swift
    /// Field(\Contact.address.city)     // the same as Field("address", "city")
    /// ```
    ///
    /// A type whose `CodingKeys` name the property differently names the field itself.
    ///
    /// - Precondition: The properties on the way are stored ones.
    public init(_ path: AnyKeyPath) {
        guard let field = Field(named: path) else {
            preconditionFailure("\(path) is no stored property; name the field: Field(\"name\")")
        }
        self = field
    }

    /// Returns nil for a key path with a computed property or a subscript.
    ///
    /// The names come from the description of the key path, which Swift makes from the type's metadata.
    init?(named path: AnyKeyPath) {
        let names = path.debugDescription.split(separator: ".").dropFirst().map { name in
            name.hasSuffix("?") ? name.dropLast() : name[...]
        }
        let areNames = names.allSatisfy { name in
            !name.contains { "<>()[]! ".contains($0) }
        }
        guard areNames, !names.isEmpty, names != ["self"] else { return nil }
        self.init(path: names.map { Key(String($0)) })
    }
}

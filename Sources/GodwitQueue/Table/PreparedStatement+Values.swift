internal import GodwitStore
internal import GodwitTree

extension PreparedStatement {
    /// Binds text, or leaves the parameter NULL.
    func bind(optional text: String?, at index: Int32) throws {
        if let text { try bind(text, at: index) }
    }

    /// The value of a column of any type; nil for NULL.
    func value(_ column: Int32) -> Value? {
        switch kind(column) {
        case .integer: .int(integer(column))
        case .double: .double(Finite(double(column)) ?? 0.0)
        case .text: .string(Key(text(column)))
        case .blob: .bytes(Array(blob(column)))
        case .null: nil
        }
    }
}

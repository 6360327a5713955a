#if PostgreSQL
/// What the answer to a statement says, for code that has more to send before it looks.
struct Pending<Value> {
    private let read: () throws -> Value

    /// Something that no statement was needed for.
    init(_ value: Value) { read = { value } }

    init(_ answer: PostgreSQLAnswer, _ body: @escaping (PostgreSQLRows) throws -> Value) {
        read = { try body(answer.rows()) }
    }

    /// Waits for the answer.
    func value() throws -> Value { try read() }
}
#endif

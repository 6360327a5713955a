import ArgumentParser

#if PostgreSQL
import GodwitPostgreSQL
#endif

/// The PostgreSQL database of a server, if it has one.
struct DatabaseArgument: ParsableArguments {
    @Option(
        name: .customLong("database"),
        help: "A PostgreSQL database instead of a store: postgres://user@host/name."
    )
    var address: String?

    func validate() throws {
        if let address { try Self.check(address) }
    }

    static func check(_ address: String) throws {
        #if PostgreSQL
        do throws(PostgreSQLError) {
            _ = try PostgreSQLAddress(address)
        } catch {
            throw ValidationError("\(error)")
        }
        #else
        throw ValidationError("A database needs a godwit that was built with the trait PostgreSQL.")
        #endif
    }

    #if PostgreSQL
    /// The database; nil where none is named.
    func opened() throws -> PostgreSQLDatabase? {
        try address.map { PostgreSQLDatabase(try PostgreSQLAddress($0)) }
    }
    #endif
}

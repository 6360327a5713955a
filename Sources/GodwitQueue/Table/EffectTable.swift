internal import GRDB
internal import GodwitStore

/// What the unfinished operations do to the things that they are about.
enum EffectTable {
    struct Row {
        let operation: OperationNumber
        let effect: Effect
        /// Whether others may be merged into it.
        let mayMerge: Bool
    }

    static let schema = """
        CREATE TABLE godwit_effect (
            operation INTEGER PRIMARY KEY,
            collection TEXT NOT NULL,
            thing TEXT NOT NULL,
            action TEXT NOT NULL,
            place TEXT,
            destination TEXT,
            may_merge INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX godwit_effect_thing ON godwit_effect (collection, thing);
        """

    static func set(_ row: Row, in database: Database) throws {
        let statement = try PreparedStatement(
            """
            INSERT OR REPLACE INTO godwit_effect
                (operation, thing, action, place, destination, may_merge, collection)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            in: database
        )
        try statement.bind(row.operation.rawValue, at: 1)
        try statement.bind(row.effect.thing, at: 2)
        let (name, place, destination) = row.effect.columns
        try statement.bind(name, at: 3)
        try statement.bind(optional: place, at: 4)
        try statement.bind(optional: destination, at: 5)
        try statement.bind(row.mayMerge, at: 6)
        try statement.bind(row.effect.collection, at: 7)
        try statement.execute()
    }

    /// The last operation on a thing.
    static func last(
        on thing: String,
        of collection: String,
        in database: Database
    ) throws -> Row? {
        let statement = try PreparedStatement(
            """
            SELECT operation, action, place, destination, may_merge FROM godwit_effect
            WHERE thing = ?1 AND collection = ?2 ORDER BY operation DESC LIMIT 1
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(thing, at: 1)
        try statement.bind(collection, at: 2)
        guard try statement.step() else { return nil }
        let place = statement.isNull(2) ? nil : statement.text(2)
        let destination = statement.isNull(3) ? nil : statement.text(3)
        let action = Effect.Action(name: statement.text(1), place, destination)
        return action.map { action in
            Row(
                operation: OperationNumber(rawValue: statement.integer(0)),
                effect: Effect(thing, of: collection, action),
                mayMerge: statement.integer(4) != 0
            )
        }
    }

    /// Whether others may be merged into an operation; not if it had no effect.
    static func mayMerge(_ operation: OperationNumber, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            "SELECT may_merge FROM godwit_effect WHERE operation = ?1",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(operation.rawValue, at: 1)
        return try statement.step() && statement.integer(0) != 0
    }

    static func remove(_ operation: OperationNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_effect WHERE operation = ?1",
            in: database
        )
        try statement.bind(operation.rawValue, at: 1)
        try statement.execute()
    }
}

extension Effect {
    fileprivate var columns: (name: String, place: String?, destination: String?) {
        switch action {
        case .create(let place): ("create", place, nil)
        case .write: ("write", nil, nil)
        case .move(let place, let other): ("move", place, other)
        case .delete(let place): ("delete", place, nil)
        }
    }

    /// That operations on one thing have an order, whatever else they touch.
    var footprint: Footprint { .thing(thing, of: collection, .write) }
}

extension Effect.Action {
    fileprivate init?(name: String, _ place: String?, _ destination: String?) {
        switch (name, place, destination) {
        case ("create", let place?, nil): self = .create(at: place)
        case ("write", nil, nil): self = .write
        case ("move", let place?, let destination?): self = .move(from: place, to: destination)
        case ("delete", let place?, nil): self = .delete(at: place)
        default: return nil
        }
    }
}

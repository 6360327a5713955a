internal import GRDB
internal import GodwitStore
internal import GodwitTree

// The states that a device has adopted.

extension DeviceTable {
    /// How many adopted states a device remembers.
    static let adoptedMax = 1_024

    /// The states that the device has adopted, the last one last.
    static func adopted(
        of replica: DeviceNumber,
        in database: Database
    ) throws -> [AdoptedState] {
        let statement = try PreparedStatement(
            "SELECT epoch, serial, id FROM godwit_device_adopted WHERE replica = ? ORDER BY number",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        var states: [AdoptedState] = []
        while try statement.step() {
            let state = LineState(serial: statement.integer(1), id: try statement.stateID(2))
            states.append(AdoptedState(epoch: Epoch(stored: statement.integer(0)), state: state))
        }
        return states
    }

    static func insert(
        _ state: LineState,
        _ epoch: Epoch,
        of replica: DeviceNumber,
        in database: Database
    ) throws {
        let insert = try PreparedStatement(
            """
            INSERT INTO godwit_device_adopted (replica, number, epoch, serial, id)
            SELECT ?1, ifnull(max(number), 0) + 1, ?2, ?3, ?4 FROM godwit_device_adopted
            WHERE replica = ?1
            """,
            in: database
        )
        try insert.bind(replica.rawValue, at: 1)
        try insert.bind(epoch.stored, at: 2)
        try insert.bind(state.serial, at: 3)
        try insert.bind(state.id.bytes, at: 4)
        try insert.execute()
        let delete = try PreparedStatement(
            """
            DELETE FROM godwit_device_adopted WHERE replica = ?1 AND number <= (
                SELECT max(number) FROM godwit_device_adopted WHERE replica = ?1) - ?2
            """,
            in: database
        )
        try delete.bind(replica.rawValue, at: 1)
        try delete.bind(Int64(adoptedMax), at: 2)
        try delete.execute()
    }
}

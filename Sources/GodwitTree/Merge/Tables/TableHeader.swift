/// The names of a table's columns, in the base and on both sides; empty where there are none.
struct TableHeader {
    let base: Names
    let sides: Sides<Names>
    /// The key of the list beside the table that has the names.
    let list: Key?
    /// Whether the names are in the first row.
    let isFirstRow: Bool
    /// Which one of several lists side by side has the names; nil for another table.
    let row: Int?

    /// Whether a row of the table has the names.
    var isAmongRows: Bool { isFirstRow || row != nil }

    /// Whether there are names.
    func isThere(_ width: Int) -> Bool { base.positions(width) != nil }

    /// Whether a side has a name in another place.
    func hasMovedNames(_ width: Int) -> Bool {
        guard let old = base.positions(width) else { return false }
        return Side.allCases.contains { side in
            sides[side].values.enumerated().contains { place, name in
                name.flatMap { old[$0] }.map { $0 != place } ?? false
            }
        }
    }

    /// The names of the columns of one version, in their order; nil for a column without one.
    struct Names {
        let values: [Value?]

        init(values: [Value?]) { self.values = values }

        /// The columns without a name.
        var unnamed: [Int] { values.indices.filter { values[$0] == nil } }

        /// The columns by their names; nil if most have none, or if these are names of something else.
        func positions(_ count: Int) -> [Value: Int]? {
            var positions: [Value: Int] = [:]
            for (column, name) in values.enumerated() {
                guard let name else { continue }
                guard positions.updateValue(column, forKey: name) == nil else { return nil }
            }
            return values.count == count && 2 * positions.count >= count ? positions : nil
        }
    }

    /// The names in the one of several rows that has a text of its own in each column, or else in the first
    /// one of numbers that ascend, or in one whose numbers tell where most other cells have gone.
    init(_ rows: Sides<[TableRow]>, width: Int) {
        let named = rows.ours.indices.compactMap { place -> TableHeader? in
            let (ours, theirs) = (rows.ours[place], rows.theirs[place])
            guard let base = Names(beside: ours.old), let our = Names(beside: ours.new),
                let their = Names(beside: theirs.new)
            else { return nil }
            return TableHeader(base: base, sides: Sides(ours: our, theirs: their), row: place)
        }
        let numbers = named.first { header in
            [header.base, header.sides.ours, header.sides.theirs].allSatisfy(\.ascend)
        }
        let leading = Self.best(of: named, for: rows, width: width).flatMap {
            $0.tellsMoves(of: rows, width: width) ? $0 : nil
        }
        self =
            Self.best(of: named.filter { $0.base.areTexts }, for: rows, width: width) ?? numbers
            ?? leading
            ?? TableHeader(base: Names(values: []), sides: Sides(both: Names(values: [])))
    }

    init(base: Names, sides: Sides<Names>, list: Key? = nil, row: Int? = nil) {
        (self.base, self.sides, self.list, self.row) = (base, sides, list, row)
        isFirstRow = false
    }

    /// Of lists that are as many as a table has columns, the one that tells most cells their columns.
    private static func best(
        of headers: [TableHeader],
        for rows: Sides<[TableRow]>,
        width: Int
    ) -> TableHeader? {
        guard headers.count > 1 else { return headers.first }
        return headers.map { (header: $0, count: $0.agreement(with: rows, width: width).right) }
            .max { $0.count < $1.count }?.header
    }

    /// Whether most cells that stay are in the columns that the names tell, where these have changed.
    func agrees(with rows: Sides<[TableRow]>, width: Int) -> Bool {
        let changed = Side.allCases.filter { sides[$0].values != base.values }
        let agreement = agreement(with: rows, width: width, on: changed)
        return 2 * agreement.right > agreement.all
    }

    /// Whether most cells of other rows, which a side that moved names has changed too, and which are not all
    /// alike, have gone where the names went.
    private func tellsMoves(of rows: Sides<[TableRow]>, width: Int) -> Bool {
        guard hasMovedNames(width) else { return false }
        let others = rows.ours.indices.filter { place in
            let old = rows.ours[place].old
            return place != row && old.contains { $0 != old[0] }
                && Side.allCases.contains { side in
                    sides[side].values != base.values && rows[side][place].new != old
                }
        }
        return agrees(with: rows.map { side in others.map { side[$0] } }, width: width)
    }

    /// How many cells are in the columns that the names tell, of all whose names stay, in some rows.
    private func agreement(
        with rows: Sides<[TableRow]>,
        width: Int,
        on changed: [Side] = Side.allCases
    ) -> (right: Int, all: Int) {
        guard let old = base.positions(width) else { return (0, 0) }
        var (right, all) = (0, 0)
        for side in changed {
            for row in rows[side].prefix(Self.rowsMax) {
                for (name, cell) in zip(sides[side].values, row.new) {
                    guard let column = name.flatMap({ old[$0] }) else { continue }
                    all += 1
                    if row.old[column] == cell { right += 1 }
                }
            }
        }
        return (right, all)
    }

    private static let rowsMax = 16

    /// The names in a list beside the table, or else in its first row, if that is none like the others.
    ///
    /// - Parameters:
    ///   - around: The map that has the table.
    ///   - key: The key of the table in it.
    ///   - top: The position of the first row in the base.
    init(
        _ around: MapAround?,
        of key: Key?,
        _ rows: Sides<[TableRow]>,
        top: Int,
        width: Int
    ) {
        let widths = rows.map { $0.first?.new.count ?? 0 }
        let beside = around?.headers(besides: key, width: width, widths) ?? []
        if let header = Self.best(of: beside, for: rows, width: width) {
            self = header
            return
        }
        (list, row) = (nil, nil)
        let first = rows.map { rows in rows.first.flatMap { $0.position == top ? $0 : nil } }
        isFirstRow = true
        guard Side.allCases.allSatisfy({ rows[$0].mayHaveHeader }),
            let old = first.ours?.old ?? first.theirs?.old,
            rows.ours.dropFirst().map(\.old).areBelow(header: old)
                || rows.ours.haveMovedAlike || rows.theirs.haveMovedAlike
        else {
            (base, sides) = (Names(values: []), Sides(both: Names(values: [])))
            return
        }
        // Numbers are in each row: as names they are moved, and none comes or goes.
        let mayBeNumbers = Side.allCases.allSatisfy { Set(first[$0]?.new ?? []) == Set(old) }
        base = Names(first: old, of: rows.ours.map(\.old), mayBeNumbers: mayBeNumbers)
        sides = Sides(
            ours: Names(
                first: first.ours?.new,
                of: rows.ours.map(\.new),
                mayBeNumbers: mayBeNumbers
            ),
            theirs: Names(
                first: first.theirs?.new,
                of: rows.theirs.map(\.new),
                mayBeNumbers: mayBeNumbers
            )
        )
    }
}

extension TableHeader.Names {
    /// The names of columns in a list of texts or ints, or of records with usual names.
    init?(beside list: Value.List) {
        if let names = Self.own(list.map { $0.text == nil && $0.integer == nil ? nil : $0 }) {
            values = names
            return
        }
        guard let first = list.first?.map,
            let names = first.lazy.filter(\.isUsualName).compactMap({ field in
                Self.own(list.map { $0[field.key] })
            }).first
        else { return nil }
        values = names
    }

    /// Names, if each is there and no other is like it.
    private static func own(_ names: [Value?]) -> [Value?]? {
        names.contains(nil) || Set(names).count < names.count ? nil : names
    }

    /// Whether these are texts.
    var areTexts: Bool { values.allSatisfy { $0?.text != nil } }

    /// Whether these are numbers, each above the one before it.
    fileprivate var ascend: Bool {
        zip(values, values.dropFirst()).allSatisfy {
            ($0?.integer ?? .max) < ($1?.integer ?? .min)
        }
    }

    fileprivate init(first row: Value.List?, of rows: [Value.List], mayBeNumbers: Bool) {
        let row = row ?? []
        let areNames = row.enumerated().allSatisfy { column, name in
            name.text != nil || mayBeNumbers && name.integer != nil
                || name == .null && (column == 0 || rows.haveCells(in: column))
        }
        values = areNames ? row.map { $0.isBlank ? nil : $0 } : []
    }
}

extension [Value.List] {
    /// Whether most rows below the first one have something in a column: nothing above it is a corner.
    fileprivate func haveCells(in column: Int) -> Bool {
        let cells = dropFirst().compactMap { $0.count > column ? $0[column] : nil }
        return 2 * cells.count { !$0.isBlank } > cells.count
    }
}

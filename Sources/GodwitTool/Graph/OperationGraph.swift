import GodwitQueue
import GodwitStore

/// A picture of a queue: a row for each commit, a box for each operation, an arrow to what it
/// waits for.
struct OperationGraph {
    private let queue: QueueSnapshot
    private let rows: [[QueuedOperation]]
    private let places: [OperationNumber: (row: Int, column: Int)]

    private static let (boxWidth, boxHeight) = (190, 44)
    private static let (columnWidth, rowHeight) = (214, 96)
    private static let (left, top) = (160, 56)

    init(_ queue: QueueSnapshot, limit: Int) {
        self.queue = queue
        let shown = queue.operations.prefix(limit)
        rows = Dictionary(grouping: shown, by: \.commit).sorted { $0.key < $1.key }.map(\.value)
        places = rows.enumerated().reduce(into: [:]) { places, row in
            for (column, operation) in row.element.enumerated() {
                places[operation.number] = (row.offset, column)
            }
        }
    }

    var count: Int { places.count }

    var svg: String {
        let columns = rows.map(\.count).max() ?? 1
        let width = Self.left + columns * Self.columnWidth + 30
        let height = Self.top + rows.count * Self.rowHeight + 30
        let arrows = queue.edges.map(arrow).joined()
        let commits = rows.enumerated().map { commit($0.element, at: $0.offset) }.joined()
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" \
            width="\(width)" height="\(height)" font-family="ui-monospace, monospace" \
            font-size="12">
            <title>push queue</title>
            <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" \
            markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#6b7280"/></marker></defs>
            <rect width="100%" height="100%" fill="#ffffff"/>
            <text x="20" y="28" font-size="15" font-weight="bold" fill="#111827">\
            \(queue.operations.count) operations, \(count) drawn</text>
            \(commits)\(arrows)</svg>

            """
    }

    private func origin(_ place: (row: Int, column: Int)) -> (x: Int, y: Int) {
        (Self.left + place.column * Self.columnWidth, Self.top + place.row * Self.rowHeight)
    }

    private func commit(_ operations: [QueuedOperation], at row: Int) -> String {
        let y = origin((row, 0)).y
        let number = operations.first?.commit.description ?? ""
        let band = """
            <rect x="10" y="\(y - 12)" width="100%" height="\(Self.boxHeight + 24)" \
            fill="\(row.isMultiple(of: 2) ? "#f9fafb" : "#ffffff")"/>
            <text x="20" y="\(y + 26)" fill="#4b5563">commit \(number.svgText)</text>

            """
        return band + operations.map(box).joined()
    }

    private func box(_ operation: QueuedOperation) -> String {
        guard let place = places[operation.number] else { return "" }
        let (x, y) = origin(place)
        let fill =
            switch operation.state {
            case .waiting: "#e0f2fe"
            case .running: "#dcfce7"
            case .conflict: "#fef3c7"
            case .deadLetter, .unreadable: "#fee2e2"
            }
        let status = queue.status(of: operation.number).text(operation)
        let label = "\(operation.number) \(operation.kind)"
        return """
            <g><title>\(status.svgText)</title>
            <rect x="\(x)" y="\(y)" width="\(Self.boxWidth)" height="\(Self.boxHeight)" rx="8" \
            fill="\(fill)" stroke="#374151"/>
            <text x="\(x + 10)" y="\(y + 19)" fill="#111827">\(label.shortened(to: 24).svgText)</text>
            <text x="\(x + 10)" y="\(y + 35)" font-size="10" fill="#4b5563">\
            \(status.shortened(to: 28).svgText)</text></g>

            """
    }

    /// Points to what is needed; dashed when it follows from what both touch.
    private func arrow(_ edge: QueueSnapshot.Edge) -> String {
        guard let from = places[edge.operation], let to = places[edge.need] else { return "" }
        let (start, end) = (origin(from), origin(to))
        let dash = edge.isDerived ? " stroke-dasharray=\"5 3\"" : ""
        let middle = Self.boxWidth / 2
        let path: String
        if from.row == to.row {
            let y = start.y + Self.boxHeight / 2
            let isLeftward = end.x < start.x
            let x1 = isLeftward ? start.x : start.x + Self.boxWidth
            let x2 = isLeftward ? end.x + Self.boxWidth : end.x
            path = "M\(x1),\(y) L\(x2),\(y)"
        } else if abs(from.row - to.row) > 1 {
            // Around the boxes between them, the further the wider.
            let bow = min(20 + 10 * abs(from.row - to.row), 90)
            let (y1, y2) = (start.y + Self.boxHeight / 2, end.y + Self.boxHeight / 2)
            path = """
                M\(start.x),\(y1) C\(start.x - bow),\(y1) \(end.x - bow),\(y2) \(end.x),\(y2)
                """
        } else {
            let isUpward = end.y < start.y
            let y1 = isUpward ? start.y : start.y + Self.boxHeight
            let y2 = isUpward ? end.y + Self.boxHeight : end.y
            let bend = isUpward ? -30 : 30
            path = """
                M\(start.x + middle),\(y1) C\(start.x + middle),\(y1 + bend) \
                \(end.x + middle),\(y2 - bend) \(end.x + middle),\(y2)
                """
        }
        return """
            <path d="\(path)" fill="none" stroke="#6b7280" stroke-width="1.5"\(dash) \
            marker-end="url(#tip)"/>

            """
    }
}

extension String {
    /// The text, or its beginning and a sign that it goes on.
    fileprivate func shortened(to count: Int) -> String {
        self.count > count ? prefix(count - 1) + "…" : self
    }

    /// The text as it stands between tags, or in an attribute.
    var svgText: String {
        map { character in
            switch character {
            case "<": "&lt;"
            case ">": "&gt;"
            case "&": "&amp;"
            case "\"": "&quot;"
            default: String(character)
            }
        }.joined()
    }
}

import GodwitReplication

/// A picture of a replica's states: the root on top, the head at the bottom, refs beside them.
struct StateDrawing {
    private let record: ReplicaRecord

    private static let rowHeight = 92
    private static let nodeWidth = 150
    private static let nodeHeight = 40
    private static let left = 40
    private static let width = 860

    init(_ record: ReplicaRecord) { self.record = record }

    var svg: String {
        let states = record.states
        let height = states.count * Self.rowHeight + 60
        let rows = states.enumerated().map { index, state in
            edge(to: state, at: index) + node(state, at: index)
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(height)" \
            width="\(Self.width)" height="\(height)" font-family="ui-monospace, monospace" \
            font-size="13">
            <title>\(record.name.svgText)</title>
            <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" \
            markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#6b7280"/></marker></defs>
            <rect width="100%" height="100%" fill="#ffffff"/>
            <text x="\(Self.left)" y="28" font-size="15" font-weight="bold" fill="#111827">\
            \(record.name.svgText), \(record.role.rawValue)'s side</text>
            \(rows.joined(separator: "\n"))
            </svg>

            """
    }

    private func top(_ index: Int) -> Int { 48 + index * Self.rowHeight }

    private func node(_ state: ReplicaRecord.State, at index: Int) -> String {
        let isRoot = state.state == .root
        let isHead = state.state == record.states.last?.state
        let fill = isHead ? "#dcfce7" : isRoot ? "#f3f4f6" : "#e0f2fe"
        let label = isRoot ? "root" : state.state.id.short
        let x = Self.left + Self.nodeWidth / 2
        let box = """
            <rect x="\(Self.left)" y="\(top(index))" width="\(Self.nodeWidth)" \
            height="\(Self.nodeHeight)" rx="8" fill="\(fill)" stroke="#374151"/>
            <text x="\(x)" y="\(top(index) + 25)" text-anchor="middle" fill="#111827">\(label)</text>
            """
        let refs = record.refNames(of: state.state).enumerated().map { place, name in
            let left = Self.left + Self.nodeWidth + 20 + place * 126
            return """
                <rect x="\(left)" y="\(top(index) + 8)" width="116" height="24" rx="12" \
                fill="#fef3c7" stroke="#b45309"/>
                <text x="\(left + 58)" y="\(top(index) + 25)" text-anchor="middle" \
                fill="#92400e">\(name.svgText)</text>
                """
        }
        return box + "\n" + refs.joined(separator: "\n")
    }

    /// Points to the parent, as git draws it, and says what changed.
    private func edge(to state: ReplicaRecord.State, at index: Int) -> String {
        guard index > 0 else { return "" }
        let x = Self.left + Self.nodeWidth / 2
        let (start, end) = (top(index), top(index - 1) + Self.nodeHeight + 4)
        return """
            <line x1="\(x)" y1="\(start)" x2="\(x)" y2="\(end)" stroke="#6b7280" \
            stroke-width="1.5" marker-end="url(#tip)"/>
            <text x="\(x + 14)" y="\((start + end) / 2 + 5)" fill="#4b5563" font-size="12">\
            \(state.summary.svgText) · \(state.sizeInBytes) B</text>

            """
    }
}

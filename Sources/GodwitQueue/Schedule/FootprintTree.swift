// The things that operations touch, as a tree: a path lies in its folders, any other name in nothing.
//
//   (1) A node is there as long as something uses it: a shelf of touches, or a node below it.
//   (2) A node counts the touches in view on it and below it, those that write apart: so a search below
//       a folder does not enter what has none.

struct FootprintTree {
    private static let none: Int32 = -1
    /// Stands in the place of the parent of a name.
    private static let names: Int32 = -2

    private struct Node {
        let name: UInt64
        let parent: Int32
        /// Its place among the children that have touches in view, on them or below them.
        var touched = Links()
        /// Its place among those that have touches which write.
        var written = Links()
        /// What the index keeps at it; -1 for nothing.
        var shelf = none
        var useCount: Int32 = 0
        var touchCount: Int32 = 0
        var writeCount: Int32 = 0
    }

    private struct Links {
        var firstChild = none
        var next = none
        var previous = none
    }

    private struct Child: Hashable {
        let parent: Int32
        let name: UInt64
    }

    private var nodes = Slots<Node>()
    private var children: [Child: Int32] = [:]

    /// The nodes on the way to a key, from the root on, as far as they are there.
    func path(to key: FootprintKey) -> [Int32] {
        var (path, parent) = ([Int32](), key.isPath ? Self.none : Self.names)
        path.reserveCapacity(key.steps.count)
        for name in key.steps {
            guard let node = children[Child(parent: parent, name: name)] else { break }
            path.append(node)
            parent = node
        }
        return path
    }

    /// The node of a key, which is made if it is not there; the caller retains it at once.
    mutating func node(of key: FootprintKey) -> Int32 {
        var parent = key.isPath ? Self.none : Self.names
        for name in key.steps {
            let child = Child(parent: parent, name: name)
            parent = children[child] ?? add(child)
        }
        return parent
    }

    private mutating func add(_ child: Child) -> Int32 {
        let place = nodes.insert(Node(name: child.name, parent: child.parent))
        children[child] = place
        if child.parent >= 0 { nodes[child.parent].useCount += 1 }
        return place
    }

    private mutating func link(_ place: Int32, _ links: WritableKeyPath<Node, Links>) {
        let parent = nodes[place].parent
        guard parent >= 0 else { return }
        let sibling = nodes[parent][keyPath: links].firstChild
        nodes[place][keyPath: links].next = sibling
        nodes[place][keyPath: links].previous = Self.none
        if sibling != Self.none { nodes[sibling][keyPath: links].previous = place }
        nodes[parent][keyPath: links].firstChild = place
    }

    private mutating func unlink(_ place: Int32, _ links: WritableKeyPath<Node, Links>) {
        let (parent, own) = (nodes[place].parent, nodes[place][keyPath: links])
        if own.next != Self.none { nodes[own.next][keyPath: links].previous = own.previous }
        if own.previous != Self.none {
            nodes[own.previous][keyPath: links].next = own.next
        } else if parent >= 0 {
            nodes[parent][keyPath: links].firstChild = own.next
        }
    }

    var isEmpty: Bool { children.isEmpty }

    func shelf(at node: Int32) -> Int32 { nodes[node].shelf }

    mutating func setShelf(_ shelf: Int32, at node: Int32) { nodes[node].shelf = shelf }

    mutating func retain(_ node: Int32) { nodes[node].useCount += 1 }

    mutating func release(_ node: Int32) {
        var place = node
        while place >= 0 {
            nodes[place].useCount -= 1
            let node = nodes[place]
            guard node.useCount == 0 else { return }
            children[Child(parent: node.parent, name: node.name)] = nil
            nodes.remove(place)
            place = node.parent
        }
    }

    /// Notes that a touch comes in view at a node, or that one leaves; O(depth).
    mutating func count(_ change: Int32, isWriting: Bool, at node: Int32) {
        var place = node
        while place >= 0 {
            if nodes[place].touchCount == 0 { link(place, \.touched) }
            nodes[place].touchCount += change
            if nodes[place].touchCount == 0 { unlink(place, \.touched) }
            if isWriting {
                if nodes[place].writeCount == 0 { link(place, \.written) }
                nodes[place].writeCount += change
                if nodes[place].writeCount == 0 { unlink(place, \.written) }
            }
            place = nodes[place].parent
        }
    }

    /// Calls `body` with the nodes below one that have touches in view on them or below them; O(those).
    func forEachNode(below node: Int32, onlyWritten: Bool, _ body: (Int32) -> Void) {
        func links(_ place: Int32) -> Links {
            onlyWritten ? nodes[place].written : nodes[place].touched
        }
        var left = [links(node).firstChild]
        while let place = left.popLast() {
            guard place != Self.none else { continue }
            body(place)
            left.append(links(place).next)
            left.append(links(place).firstChild)
        }
    }

    func parent(of node: Int32) -> Int32 { nodes[node].parent }

    func isBelow(_ node: Int32, _ other: Int32) -> Bool {
        var place = nodes[node].parent
        while place >= 0, place != other { place = nodes[place].parent }
        return place == other
    }
}

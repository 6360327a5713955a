/// Values in one array, each at a place that it keeps until it is removed.
struct Slots<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var free: [Int32] = []

    mutating func insert(_ element: Element) -> Int32 {
        if let place = free.popLast() {
            elements[Int(place)] = element
            return place
        }
        elements.append(element)
        return Int32(elements.count - 1)
    }

    /// Frees a place: the next element may get it.
    mutating func remove(_ place: Int32) { free.append(place) }

    subscript(place: Int32) -> Element {
        get { elements[Int(place)] }
        _modify { yield &elements[Int(place)] }
    }
}

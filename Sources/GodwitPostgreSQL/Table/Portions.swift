#if PostgreSQL
extension Array {
    /// Parts that one statement takes at once: of up to 1,024 elements, and about 8 MiB.
    func portions(_ sizeInBytes: (Element) -> Int) -> [[Element]] {
        var portions: [[Element]] = []
        var size = 0
        for element in self {
            let more = sizeInBytes(element)
            let isFull = portions.last.map { $0.count >= 1_024 || size + more > 8 << 20 } ?? true
            if isFull {
                portions.append([])
                size = 0
            }
            portions[portions.count - 1].append(element)
            size += more
        }
        return portions
    }
}
#endif

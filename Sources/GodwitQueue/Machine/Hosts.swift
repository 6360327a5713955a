/// The hosts of a queue's operations, each with a small number.
///
/// A host without operations is remembered for its rate. When there are more such hosts than
/// others, those go whose governors are at rest, and their numbers are used again.
///
/// Number 0 stands for operations without a host, and never goes.
struct Hosts {
    private var numbers: [String: Int] = [:]
    private var names: [String?] = [nil]
    /// How many operations each host has.
    private var useCounts = [0]
    private var unused: Set<Int> = []
    private var free: [Int] = []

    /// How many unused hosts are remembered, whatever else there is.
    static let unusedMin = 64

    var count: Int { numbers.count }

    func number(of name: String) -> Int? { numbers[name] }
    func name(of number: Int) -> String? { names.indices.contains(number) ? names[number] : nil }

    /// Gives a host a number.
    ///
    /// - Parameter isAtRest: Whether a number's governor has nothing to remember.
    mutating func add(_ name: String, isAtRest: (Int) -> Bool) -> Int {
        if free.isEmpty, unused.count > max(Self.unusedMin, numbers.count / 2) {
            for number in unused where isAtRest(number) { forget(number) }
        }
        let number = free.popLast() ?? names.count
        if number == names.count {
            names.append(name)
            useCounts.append(0)
        } else {
            names[number] = name
        }
        numbers[name] = number
        return number
    }

    mutating func use(_ number: Int) {
        guard number > 0 else { return }
        useCounts[number] += 1
        unused.remove(number)
    }

    mutating func release(_ number: Int) {
        guard number > 0 else { return }
        useCounts[number] -= 1
        assert(useCounts[number] >= 0)
        if useCounts[number] == 0 { unused.insert(number) }
    }

    private mutating func forget(_ number: Int) {
        if let name = names[number] { numbers[name] = nil }
        names[number] = nil
        unused.remove(number)
        free.append(number)
    }
}

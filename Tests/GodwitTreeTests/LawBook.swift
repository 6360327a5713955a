import Testing

/// How often each law was broken, and the first case that broke it.
struct LawBook {
    private var breaches: [(law: String, count: Int, first: String)] = []

    /// Notes a case that does not keep a law.
    mutating func check(_ law: String, _ isKept: Bool, _ description: @autoclosure () -> String) {
        guard !isKept else { return }
        if let index = breaches.firstIndex(where: { $0.law == law }) {
            breaches[index].count += 1
        } else {
            breaches.append((law, 1, description()))
        }
    }

    /// Fails the test once for each law that was broken.
    func record(sourceLocation: SourceLocation = #_sourceLocation) {
        for breach in breaches {
            Issue.record(
                "\(breach.law): broken \(breach.count) times, first by \(breach.first)",
                sourceLocation: sourceLocation
            )
        }
    }
}

// How the inserts and moves of a list's delta are done one by one.
//
// A list is seen as a row of rooms. A run of items that stays in place has one; so has each run that
// moves away, where it stands before, and whatever arrives, where it will stand. Between two runs
// that stay, first come the rooms of what moves away, then those of what arrives.
//
//   (1) Rooms have the order of the base in those that are taken before, and the order of the
//       result in those that are taken after.
//   (2) So an item's index, at any time, is the number of items in the rooms before its own, and
//       in its own before it; a counted tree knows it in O(log k).
//   (3) Runs arrive in the order of the result, and of a run the first item first.

struct ListRooms {
    enum Step {
        case insert(Value, at: Int)
        case move(from: Int, to: Int)
    }

    private enum Arrival {
        case new(Value)
        /// One of the moves, by its index.
        case moved(Int)
    }

    private let moves: [ListDelta.Move]
    /// How many items each room has at first.
    private var counts: [Int] = []
    /// The room that each move leaves.
    private var sources: [Int]
    /// By position in the result.
    private var arrivals: [(room: Int, arrival: Arrival)] = []

    /// - Complexity: O(*k* log *k*) in the number of runs.
    init(_ parts: ListDelta.Parts) {
        moves = parts.moves
        sources = Array(repeating: 0, count: moves.count)
        layOut(Self.departures(parts), Self.comings(parts))
    }

    /// Removals have no room: they are done first.
    private static func departures(_ parts: ListDelta.Parts) -> [(range: Range<Int>, move: Int?)] {
        let removed = parts.removes.map { (range: $0, move: Int?.none) }
        let moved = parts.moves.enumerated().map { (range: $1.sources, move: Int?.some($0)) }
        return (removed + moved).sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    private static func comings(_ parts: ListDelta.Parts) -> [(range: Range<Int>, Arrival)] {
        let inserted = parts.inserts.map {
            (range: $0.position..<($0.position + 1), Arrival.new($0.value))
        }
        let moved = parts.moves.enumerated().map { (range: $1.targets, Arrival.moved($0)) }
        return (inserted + moved).sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    /// Walks along base and result at once.
    private mutating func layOut(
        _ departures: [(range: Range<Int>, move: Int?)],
        _ comings: [(range: Range<Int>, Arrival)]
    ) {
        var (departures, comings) = (departures[...], comings[...])
        var (base, result) = (0, 0)
        while !departures.isEmpty || !comings.isEmpty {
            let toDeparture = (departures.first?.range.lowerBound ?? .max) - base
            let toComing = (comings.first?.range.lowerBound ?? .max) - result
            if toDeparture == 0 {
                let departure = departures.removeFirst()
                base = departure.range.upperBound
                guard let move = departure.move else { continue }
                sources[move] = counts.count
                counts.append(departure.range.count)
            } else if toComing == 0 {
                let (range, arrival) = comings.removeFirst()
                result = range.upperBound
                arrivals.append((counts.count, arrival))
                counts.append(0)
            } else {
                let count = min(toDeparture, toComing)
                counts.append(count)
                base += count
                result += count
            }
        }
    }

    /// The steps, each with indices in the list as those before have left it.
    ///
    /// - Complexity: O(*k* log *k*) in the number of items that arrive.
    func steps() -> [Step] {
        var rooms = CountedPlaces(counts)
        var steps: [Step] = []
        for (room, arrival) in arrivals {
            switch arrival {
            case .new(let value):
                steps.append(.insert(value, at: rooms.count(before: room)))
                rooms.add(1, at: room)
            case .moved(let move):
                for arrived in 0..<moves[move].count {
                    let from = rooms.count(before: sources[move])
                    rooms.add(-1, at: sources[move])
                    steps.append(.move(from: from, to: rooms.count(before: room) + arrived))
                    rooms.add(1, at: room)
                }
            }
        }
        return steps
    }
}

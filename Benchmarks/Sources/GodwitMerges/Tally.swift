/// How the merges of one program came out, by kind of document.
struct Tally {
    let program: String
    private(set) var entries: [Entry] = []

    struct Entry {
        let kind: MergeCase.Kind
        let file: String
        let isMadeByHand: Bool
        let isNotice: Bool
        let outcome: Outcome
    }

    init(_ program: String) { self.program = program }

    mutating func add(_ answer: Answer, for entry: MergeCase, isMadeByHand: Bool) {
        entries.append(
            Entry(
                kind: entry.kind,
                file: entry.file,
                isMadeByHand: isMadeByHand,
                isNotice: answer.hasOnlyNotices,
                outcome: answer.outcome(of: entry)
            )
        )
    }

    func counts(where isWanted: (Entry) -> Bool = { _ in true }) -> Counts {
        Counts(entries.filter(isWanted))
    }

    /// A row for each kind and each file, one for all, and one for those that no hand has added to.
    var rows: [(name: String, counts: Counts)] {
        let kinds = MergeCase.Kind.allCases.map { kind in
            (kind.rawValue, counts { $0.kind == kind })
        }
        let files = Set(entries.map(\.file)).sorted().map { file in
            (file, counts { $0.file == file })
        }
        return kinds.filter { $0.1.merges > 0 } + files + [
            ("all", counts()), ("all but those by hand", counts { !$0.isMadeByHand }),
        ]
    }
}

/// How many merges came out how.
struct Counts: Encodable {
    let merges: Int
    /// The same as people's, with or without a reported conflict.
    let equal: Int
    /// Those of the equal ones that report a conflict.
    let decidedAlike: Int
    let orderOnly: Int
    let decidedDifferently: Int
    let silentlyDifferent: Int
    /// Those that report nothing but notices: these count as reported, and stop no script.
    let noticed: Int
    /// Those of the noticed ones that differ from people's.
    let noticedDifferent: Int
    /// Those to which people added what is in none of the inputs.
    let madeByHand: Int

    init(_ entries: [Tally.Entry]) {
        func count(_ outcome: Outcome) -> Int { entries.count { $0.outcome == outcome } }
        merges = entries.count
        equal = entries.count { $0.outcome.isEqual }
        decidedAlike = count(.decidedAlike)
        orderOnly = count(.orderOnly)
        decidedDifferently = count(.decidedDifferently)
        silentlyDifferent = count(.silentlyDifferent)
        noticed = entries.count(where: \.isNotice)
        noticedDifferent = entries.count { $0.isNotice && !$0.outcome.isEqual }
        madeByHand = entries.count { $0.isMadeByHand }
    }

    var reported: Int { decidedAlike + decidedDifferently }
}

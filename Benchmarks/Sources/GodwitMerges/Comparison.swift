import Foundation

/// The merges of all programs beside those of people.
struct Comparison {
    let tallies: [Tally]
    let targets: [Target]
    /// The merges that came out differently, where they are asked for.
    let listing: [String]
    /// What a reader of the figures should know besides.
    let notes: [String]

    init(of cases: [MergeCase], _ options: Options) throws {
        var (godwit, git) = (Tally("godwit"), Tally("git merge-file"))
        var listing: [String] = []
        let gitMerge = try GitMerge()
        for entry in cases {
            let isMadeByHand = entry.isMadeByHand
            let answer = GodwitMerge().merge(entry)
            let outcome = answer.outcome(of: entry)
            godwit.add(answer, for: entry, isMadeByHand: isMadeByHand)
            git.add(try gitMerge.merge(entry), for: entry, isMadeByHand: isMadeByHand)
            if options.isList, !outcome.isEqual { listing.append(entry.described(answer, outcome)) }
        }
        var (tallies, notes) = ([godwit, git], [String]())
        do {
            if let nbdime = try Self.nbdime(cases, options) { tallies.append(nbdime) }
        } catch {
            notes.append("NBDIME DID NOT RUN, its rows are missing: \(error)")
        }
        let ours = godwit.counts()
        if ours.noticed > 0 {
            notes.append(
                """
                \(ours.noticed) of ours report nothing but notices, \(ours.noticedDifferent) of \
                these differ: a script that looks at the exit code alone takes them for clean
                """
            )
        }
        (self.tallies, self.listing, self.notes) = (tallies, listing, notes)
        targets = Target.all(godwit: godwit, git: git)
    }

    private static func nbdime(_ cases: [MergeCase], _ options: Options) throws -> Tally? {
        let notebooks = cases.filter { $0.kind == .notebook }
        guard !options.nbdime.isEmpty, !notebooks.isEmpty else { return nil }
        let answers = try NotebookMerge(command: options.nbdime).merge(notebooks)
        var tally = Tally("nbdime")
        for (entry, answer) in zip(notebooks, answers) {
            tally.add(answer, for: entry, isMadeByHand: entry.isMadeByHand)
        }
        return tally
    }

    var text: String {
        let tables = tallies.map { "\n\($0.text)" }
        return (listing + tables + ["\n\(Tally.legend)\n"] + notes + targets.map(\.text))
            .joined(separator: "\n")
    }

    var json: String {
        get throws {
            let programs = tallies.map { tally in
                let rows = tally.rows.map { ($0.name, $0.counts) }
                return (tally.program, Dictionary(uniqueKeysWithValues: rows))
            }
            let document = Document(
                programs: Dictionary(uniqueKeysWithValues: programs),
                targets: targets,
                listing: listing,
                notes: notes
            )
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return String(decoding: try encoder.encode(document), as: UTF8.self)
        }
    }

    private struct Document: Encodable {
        let programs: [String: [String: Counts]]
        let targets: [Target]
        let listing: [String]
        let notes: [String]
    }
}

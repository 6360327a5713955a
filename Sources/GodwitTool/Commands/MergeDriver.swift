import ArgumentParser
import Foundation
import GodwitTree

/// Merges a file for git.
struct MergeDriver: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge-driver",
        abstract: "Merge a JSON document for git; `godwit git install` sets it up.",
        discussion: """
            git calls this command for each file that both sides have changed, or have
            added. The result takes the place of OURS in one step, and keeps its layout,
            unless THEIRS alone was laid out anew. Where the merge has conflicts, git's
            markers stand around both versions, and the reasons go to standard error;
            lists of lines that have both changes get no markers. So do notices: both
            changes of a record are there, and you may want to look.

            In notebooks (.ipynb) the counts of executions are theirs, without a conflict.

            A file that is not JSON, has a comment or has a key twice is merged by its
            lines, as git does it, with a word about why. With --conflict-style list or
            json it stays as it is: git then reports a conflict, and the file holds our
            version.

            In a criss-cross merge git merges the bases first, with --virtual-base: what is
            contested there has neither side's value, so that git asks wherever people
            decided differently.

            Exit codes, as git wants them: 0, 1 for conflicts, 2 for a file that cannot be
            merged.

            EXAMPLES
              git config merge.godwit.driver 'godwit merge-driver %O %A %B -- %P'
              git config merge.godwit.driver \\
                'godwit merge-driver --policy /votes=sum %O %A %B -- %P'
              godwit merge-driver base.json ours.json theirs.json package.json
            """
    )

    @Argument(help: "The version that both grew from; empty when both sides added the file.")
    var base: InputFile
    @Argument(help: "Our version, which the result replaces.") var ours: InputFile
    @Argument(help: "Their version.") var theirs: InputFile
    @Argument(help: "The path of the file, for messages.") var path: String?
    @OptionGroup var rules: MergeRules
    @Option(help: "How conflicts are shown: markers, or list or json on standard error.")
    var conflictStyle = ConflictStyle.markers
    @Option(help: "How long a marker is; git's %L.") var markerSize = 7
    @Flag(help: "Merge the bases of a criss-cross merge, taking no side.") var virtualBase = false

    func validate() throws {
        guard (1...100).contains(markerSize) else {
            throw ValidationError("A marker has 1 to 100 characters.")
        }
    }

    func run() throws {
        let policy = try rules.policy(defaults: isNotebook ? Self.notebookRules : [])
        let documents: DocumentMerge
        do {
            documents = try read(policy: policy)
        } catch let error as ToolError {
            warn("\(error)")
            return try mergeByLines()
        }
        let conflicts = documents.merge.conflicts.filter { !$0.isNotice }
        let isRenamedTwice = documents.merge.conflicts.contains(where: \.isOfTwoNewKeys)
        if virtualBase, !conflicts.isEmpty || isRenamedTwice {
            // git reads the result again, and has no other use for it.
            guard !isRenamedTwice, let text = documents.undecidedText else {
                return try mergeByLines(isContested: true)
            }
            return try replaceOurs(with: text)
        }
        let isMarked = conflictStyle == .markers && !conflicts.isEmpty
        let marked = isMarked ? documents.markedText(size: markerSize) : nil
        try replaceOurs(with: marked?.bytes ?? documents.text)
        if virtualBase { return }
        let all = documents.merge.conflicts
        conflictStyle.report(all, of: name, marked: marked?.conflicts ?? [])
        if !conflicts.isEmpty { throw ExitCode(1) }
    }

    private var name: String { path ?? ours.path }

    /// Beside a merge that git calls clean, a word about its bases would mislead.
    private func warn(_ text: String) {
        if !virtualBase { Terminal.warn("godwit: \(text)") }
    }

    private var isNotebook: Bool { name.hasSuffix(".ipynb") }

    /// Each run of a notebook counts anew: a conflict there is of no use to people.
    private static let notebookRules = [
        "/cells/*/execution_count=theirs", "/cells/*/outputs/*/execution_count=theirs",
    ]

    /// - Throws: ``ToolError`` that names the file in the repository, not git's copy of it.
    private func read(policy: MergePolicy) throws -> DocumentMerge {
        let oldBytes = try base.bytes()
        let isAdded = oldBytes.allSatisfy { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
        if oldBytes.hasConflictMarkers {
            throw ToolError("the bases of \(name) are in conflict, as both branches merged before")
        }
        return DocumentMerge(
            base: isAdded ? nil : try document(oldBytes, "the base of \(name)"),
            ours: try document(ours.bytes(), "our \(name)"),
            theirs: try document(theirs.bytes(), "their \(name)"),
            policy: policy
        )
    }

    private func document(_ bytes: [UInt8], _ title: String) throws -> Document {
        do throws(TreeError) {
            return try Document(bytes)
        } catch {
            throw ToolError(error, in: bytes, of: title)
        }
    }

    /// Has git merge a file line by line that cannot be merged by its structure.
    ///
    /// - Parameter isContested: Whether the sides are in conflict, also where their lines are not.
    private func mergeByLines(isContested: Bool = false) throws {
        let arguments =
            ["merge-file", "-p", "--marker-size=\(markerSize)"]
            + ["-L", "ours", "-L", "base", "-L", "theirs", ours.path, base.path, theirs.path]
        // What is not to have markers stays as it is.
        let merged = conflictStyle == .markers ? try? Subprocess.run("git", arguments) : nil
        switch merged?.status {
        case 0? where isContested:
            // A base on which later decisions would look like no changes: there is none.
            try replaceOurs(with: Array("<<<<<<< ours\n=======\n>>>>>>> theirs\n".utf8))
        case 0?:
            let lines = Array(merged?.output ?? Data())
            let error = try errorMade(by: lines)
            try replaceOurs(with: lines)
            if let error, !virtualBase {
                warn("\(error)")
                warn("\(name) is merged by its lines, and needs a look")
                throw ExitCode(1)
            }
            warn("\(name) is merged by its lines")
        // git counts the conflicts; without git there is no output.
        case (1...127)? where merged?.output.isEmpty == false:
            try replaceOurs(with: Array(merged?.output ?? Data()))
            warn("\(name) is merged by its lines, with conflicts")
            throw ExitCode(1)
        case _ where virtualBase:
            // As git does it with files that are no text: our version would be no change of ours.
            try replaceOurs(with: base.bytes())
        default:
            warn("\(name) stays as ours; see theirs with: git show :3:\(name)")
            throw ExitCode(2)
        }
    }

    /// Why lines of two documents are none; nil if they are one, or a side is none.
    private func errorMade(by lines: [UInt8]) throws -> ToolError? {
        let sides = try [ours, theirs].map { try $0.bytes() }
        guard sides.allSatisfy({ (try? Document($0)) != nil }) else { return nil }
        do throws(TreeError) {
            _ = try Document(lines)
            return nil
        } catch {
            return ToolError(error, in: lines, of: "the merged \(name)")
        }
    }

    /// Puts the result in the place of our version at once: a reader sees the one or the other.
    private func replaceOurs(with text: [UInt8]) throws {
        guard try ours.bytes() != text else { return }
        do {
            try ReplacedFile(ours.path).replace(with: text)
        } catch {
            Terminal.warn("godwit: \(ours.path) cannot be written: \(error)")
            throw ExitCode(2)
        }
    }
}

extension Conflict {
    /// Whether each side gave a key of the base another name: a later choice of one name would remove both.
    fileprivate var isOfTwoNewKeys: Bool {
        guard reason == .bothChangedRecord, let base = base?.map, let ours = ours?.map,
            let theirs = theirs?.map
        else { return false }
        func hasNewKey(_ side: Value.Map, of value: Value) -> Bool {
            side.contains { base[$0.key] == nil && $0.value == value }
        }
        return base.contains { entry in
            ours[entry.key] == nil && theirs[entry.key] == nil
                && hasNewKey(ours, of: entry.value) && hasNewKey(theirs, of: entry.value)
        }
    }
}

extension [UInt8] {
    /// Whether these are lines that git has marked.
    fileprivate var hasConflictMarkers: Bool {
        let marker = Array("<<<<<<<".utf8)
        return starts(with: marker) || firstRange(of: Array("\n".utf8) + marker) != nil
    }
}

import ArgumentParser
import Foundation

/// Shows a document as lines, for git's diffs.
struct Textconv: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a JSON document as lines that git's diffs can compare.",
        discussion: """
            Each scalar has a line of its own, without commas, whatever the layout of the
            file: also a document on one line has a readable diff. Text of several lines,
            such as the source in a notebook, is shown line by line behind a bar; of a
            long word, such as a picture, the beginning, the size and a digest are shown.
            Keys keep their order.

            What is not JSON is printed as it is. git shows these lines in diff, log and
            show; a patch that is to be applied needs `git diff --no-textconv`.

            EXAMPLES
              git config diff.godwit.textconv 'godwit textconv --'
              godwit textconv notebook.ipynb
            """
    )

    @Argument(help: "The document; - for standard input.") var file: InputFile

    func run() throws {
        let bytes = try file.bytes()
        let document = try? Document(bytes)
        let text = document.map { Array(ReadableText($0).text.utf8) } ?? bytes
        try Terminal.write(text)
    }
}

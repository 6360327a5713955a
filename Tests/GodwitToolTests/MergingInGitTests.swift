import Foundation
import GodwitTestKit
import Testing

/// Runs what Documentation/merging-in-git.md shows.
@Suite struct MergingInGitTests {
    let repository: Repository
    let page: String

    init() throws {
        repository = try Repository()
        let path = URL(filePath: #filePath).resolvingSymlinksInPath()
            .appending(path: "../../../Documentation/merging-in-git.md").standardized
        page = try String(contentsOf: path, encoding: .utf8)
    }

    /// The blocks of the page in one language.
    private func blocks(_ language: String) -> [String] {
        page.components(separatedBy: "\n```\(language)\n").dropFirst().compactMap { rest in
            rest.components(separatedBy: "\n```").first.map { $0 + "\n" }
        }
    }

    @Test func `the package.json merges as the page shows`() throws {
        let (base, merged) = (blocks("json")[0], blocks("json")[1])
        try repository.commit(base, to: "package.json")
        try repository.git("branch", "topic")
        let main = base.replacing(
            "server.js\"",
            with: "server.js\",\n    \"test\": \"node --test\""
        )
        .replacing("    \"express", with: "    \"cors\": \"^2.8.5\",\n    \"express")
        .replacing("1.4.0", with: "1.5.0")
        let topic = base.replacing("server.js\"", with: "server.js\",\n    \"lint\": \"eslint .\"")
            .replacing("    \"express", with: "    \"compression\": \"^1.7.4\",\n    \"express")
            .replacing("^4.18.0", with: "^4.19.2")
        try repository.commit(main, to: "package.json")
        try repository.git("switch", "--quiet", "topic")
        try repository.commit(topic, to: "package.json")
        try repository.git("switch", "--quiet", "main")

        #expect(try repository.git("merge", "topic").status == 1)
        try repository.git("merge", "--abort")
        let install = try repository.godwit("git", "install").output
        for line in blocks("console")[0].split(separator: "\n").dropFirst() {
            let shown = line.replacing(" godwit ", with: " ")
            let program = "'\(BuiltProgram.url("godwit").path)' "
            #expect(install.replacing(program, with: "").contains(shown), "\(install)")
        }
        try repository.commitAll("install")
        #expect(try repository.git("merge", "--no-edit", "topic").status == 0)
        #expect(try repository.text("package.json") == merged)
        try conflict(merged)
    }

    private func conflict(_ merged: String) throws {
        try repository.git("switch", "--quiet", "--create", "left")
        try repository.commit(merged.replacing("server.js", with: "app.js"), to: "package.json")
        try repository.git("switch", "--quiet", "main")
        let right = merged.replacing("server.js", with: "main.js")
            .replacing("^8.0.0\"", with: "^8.0.0\",\n    \"qs\": \"^6.12.0\"")
        try repository.commit(right, to: "package.json")
        let merge = try repository.git("merge", "left")
        #expect(blocks("console")[1] == "$ git merge left\n" + merge.errors + merge.output)
        let marked = try repository.text("package.json")
        let scripts = try #require(marked.range(of: "  \"scripts\": {\n"))
        let rest = try #require(marked.range(of: "    \"lint\""))
        #expect(page.contains(marked[scripts.lowerBound..<rest.lowerBound]))
        #expect(marked.contains("\"qs\": \"^6.12.0\""))
    }

    @Test func `the notebook merges as the page shows`() throws {
        try repository.godwit("git", "install")
        let base = notebook(
            count: 1,
            plot: #""df.plot()""#,
            image: "UgAA" + String(repeating: "QUJD", count: 200)
        )
        try repository.commit(base, to: "sales.ipynb")
        try repository.git("switch", "--quiet", "--create", "other")
        let edited = base.replacing("sales.csv'", with: "sales.csv', parse_dates=['day']")
            .replacing("\"execution_count\": 1,", with: "\"execution_count\": 3,")
        try repository.write(edited, to: "sales.ipynb")
        let theirs = try repository.git("diff").output
        for line in theirs.split(separator: "\n") where line.contains("| df = ") {
            #expect(page.contains("\n\(line)\n"))
        }
        try repository.commitAll("dates")
        try repository.git("switch", "--quiet", "main")
        let run = notebook(
            count: 4,
            plot: "\"df.plot()\\n\",\n    \"df.describe()\"",
            image: "UgAB" + String(repeating: "QUJE", count: 210),
            more: true
        )
        try repository.write(run, to: "sales.ipynb")
        let diff = try repository.git("diff", "sales.ipynb").output
        let hunks = try #require(diff.range(of: "@@"))
        #expect(blocks("console")[2] == "$ git diff\n" + diff[hunks.lowerBound...])
        try repository.commitAll("describe")
        #expect(try repository.git("merge", "--no-edit", "other").status == 0)
        let both = run.replacing("sales.csv'", with: "sales.csv', parse_dates=['day']")
            .replacing("\"execution_count\": 4,", with: "\"execution_count\": 3,")
        #expect(try repository.text("sales.ipynb") == both)
    }

    private static let third = """
        ,
          {
           "cell_type": "code",
           "execution_count": null,
           "id": "c3",
           "metadata": {},
           "outputs": [],
           "source": [
            "df.to_csv('out.csv')"
           ]
          }
        """

    private func notebook(
        count: Int,
        plot: String,
        image: String,
        more: Bool = false
    ) -> String {
        """
        {
         "cells": [
          {
           "cell_type": "code",
           "execution_count": \(count),
           "id": "a1",
           "metadata": {},
           "outputs": [],
           "source": [
            "import pandas as pd\\n",
            "df = pd.read_csv('sales.csv')"
           ]
          },
          {
           "cell_type": "code",
           "execution_count": 2,
           "id": "b2",
           "metadata": {},
           "outputs": [
            {
             "data": {
              "image/png": "iVBORw0KGgoAAAANSUhE\(image)"
             },
             "metadata": {},
             "output_type": "display_data"
            }
           ],
           "source": [
            \(plot)
           ]
          }\(more ? Self.third : "")
         ],
         "metadata": {
          "kernelspec": {
           "name": "python3"
          }
         },
         "nbformat": 4,
         "nbformat_minor": 5
        }

        """
    }
}

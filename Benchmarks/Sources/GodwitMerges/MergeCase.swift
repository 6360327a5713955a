import GodwitTree

/// One merge that people have made, as a line of a file has it.
struct MergeCase {
    let name: String
    let kind: Kind
    let base: Value
    let ours: Value
    let theirs: Value
    /// What people settled on.
    let expected: Value
    /// The line that this was read from: it has the order of keys, which values do not have.
    let line: [UInt8]
    /// The name of the file that has the line.
    let file: String

    init(_ line: [UInt8], of file: String) throws {
        let value = try Value(json: line)
        let (repository, path) = (value["repo"]?.text ?? "?", value["path"]?.text ?? "?")
        name = "\(repository) \(value["commit"]?.text?.prefix(10) ?? "") \(path)"
        kind = Kind(repository: repository, path: path)
        base = value["base"] ?? .null
        ours = value["ours"] ?? .null
        theirs = value["theirs"] ?? .null
        expected = value["merged"] ?? .null
        (self.line, self.file) = (line, file)
    }

    /// What sort of document was merged.
    enum Kind: String, CaseIterable, Codable {
        case notebook, geojson, sources, icons, npm, compat, schema

        init(repository: String, path: String) {
            switch true {
            case path.hasSuffix(".ipynb"): self = .notebook
            case path.hasSuffix(".geojson"): self = .geojson
            case repository.contains("openaddresses"): self = .sources
            case repository.contains("simple-icons") && path.contains("_data"): self = .icons
            case path.hasSuffix("package.json") || path.hasSuffix("package-lock.json"): self = .npm
            case repository.contains("browser-compat"): self = .compat
            default: self = .schema
            }
        }
    }
}

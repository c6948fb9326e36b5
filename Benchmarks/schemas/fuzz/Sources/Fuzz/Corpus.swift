import FoundationEssentials
import JSON
@testable import JSONSchema

/// What mutations start from: the official test suite where it is at hand, else a few schemas.
struct Corpus {
    struct Case {
        let dialect: Dialect
        let schema: Tree
        let values: [Tree]
    }

    private(set) var cases: [Case] = []
    /// All schemas, and all values.
    private(set) var schemas: [Tree] = []
    private(set) var values: [Tree] = []
    /// The documents that the suite's schemas refer to.
    private(set) var library = SchemaLibrary()

    /// - Parameter folder: of the suite; nil for none.
    init(_ folder: String?) throws {
        if let folder {
            try library.add(folder: folder + "/remotes", base: "http://localhost:1234/")
            for dialect in Dialect.allCases { try read(folder + "/tests/" + Self.folder(of: dialect), dialect) }
        }
        if cases.isEmpty {
            for dialect in Dialect.allCases { addMetaschema(of: dialect) }
        }
        schemas = cases.map(\.schema)
        values = cases.flatMap(\.values)
    }

    private static func folder(of dialect: Dialect) -> String {
        switch dialect {
        case .draft202012, .draft201909: "draft" + dialect.rawValue
        case .draft07, .draft06, .draft04: "draft" + dialect.rawValue.dropFirst()
        }
    }

    private mutating func read(_ folder: String, _ dialect: Dialect) throws {
        // Sorted, so that a seed means the same everywhere.
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }
            .sorted()
        for file in files {
            guard let bytes = FileManager.default.contents(atPath: folder + "/" + file),
                let document = try? JSONDocument(JSONText(trusted: Array(bytes)))
            else { continue }
            for item in document.root.elements ?? [] {
                guard let schema = item["schema"] else { continue }
                let values = (item["tests"]?.elements ?? []).compactMap { $0["data"].map(Tree.init) }
                cases.append(Case(dialect: dialect, schema: Tree(schema), values: values))
            }
        }
    }

    private mutating func addMetaschema(of dialect: Dialect) {
        let schema = Tree(Schema.metaschema(of: dialect).compiled.index.documents[0].json.root)
        cases.append(Case(dialect: dialect, schema: schema, values: [schema]))
    }
}

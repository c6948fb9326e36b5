import Foundation
import JSON
import Testing

@testable import JSONSchema

private func document(_ text: String) throws -> JSONDocument { try JSONDocument(Array(text.utf8)) }

@Suite("A schema library") struct SchemaLibraryTests {
    @Test("finds a document by where it was loaded from and by its own identifier")
    func identifiers() throws {
        var library = SchemaLibrary()
        try library.add(document("{\"$id\": \"urn:example:a\"}"), at: "http://Host/dir/../a.json")
        try library.add(document("{\"$id\": \"other.json\"}"), at: "http://host/b.json#")
        try library.add(
            document("{\"id\": \"http://host/old\", \"$schema\": \"http://json-schema.org/draft-04/schema#\"}"),
            at: "http://host/c.json")
        try library.add(document("{\"id\": \"http://host/no-identifier\"}"), at: "http://host/d.json")
        try library.add(document("true"), at: "http://host/e.json")
        #expect(
            library.identifiers == [
                "http://host/a.json", "http://host/b.json", "http://host/c.json", "http://host/d.json",
                "http://host/e.json", "http://host/old", "http://host/other.json", "urn:example:a",
            ])
        #expect(library.document(at: "HTTP://host/a.json#/x")?.root["$id"]?.string == "urn:example:a")
        #expect(library.document(at: "http://host/f.json") == nil)
    }

    @Test("refuses an identifier twice, and one that is not absolute")
    func refusals() throws {
        var library = SchemaLibrary()
        try library.add(document("{}"), at: "http://host/a")
        #expect(throws: SchemaLibraryError.self) { try library.add(document("{}"), at: "http://HOST/a") }
        #expect(throws: SchemaLibraryError.self) {
            try library.add(document("{\"$id\": \"http://host/a\"}"), at: "http://host/b")
        }
        for relative in ["", "a.json", "//host/a", "http://host/a#part"] {
            #expect(throws: SchemaLibraryError.self) { try library.add(document("{}"), at: relative) }
        }
    }

    @Test("loads a folder with the folders in it, JSON files only")
    func folder() throws {
        let folder = try Folder([
            "a.json": "{}", "in/ner/b c.json": "true", "in/é.json": "{\"$id\": \"own\"}", "notes.txt": "not JSON",
            ".hidden.json": "not JSON", ".git/c.json": "not JSON",
        ])
        var library = SchemaLibrary()
        try library.add(folder: folder.path, base: "http://localhost:1234")
        #expect(
            library.identifiers == [
                "http://localhost:1234/a.json", "http://localhost:1234/in/%C3%A9.json",
                "http://localhost:1234/in/ner/b%20c.json", "http://localhost:1234/in/own",
            ])
        var unnamed = SchemaLibrary()
        try unnamed.add(folder: folder.path)
        let real = try #require(realpath(folder.path, nil))
        defer { free(real) }
        #expect(unnamed.document(at: "file://\(String(cString: real))/a.json") != nil)
    }

    @Test("refuses a folder beyond its limits or with invalid JSON as a whole")
    func limits() throws {
        let folder = try Folder([
            "a.json": "{}", "b.json": "[\(String(repeating: " ", count: 1_000))]", "x/c.json": "{}",
        ])
        func load(_ change: (inout SchemaFolderLimits) -> Void) throws -> [String] {
            var limits = SchemaFolderLimits()
            change(&limits)
            var library = SchemaLibrary()
            defer { #expect(library.identifiers.count == 3 || library.identifiers.isEmpty) }
            try library.add(folder: folder.path, base: "http://h/", limits: limits)
            return library.identifiers
        }
        #expect(try load { $0.entries = 4 }.count == 3)
        #expect(throws: SchemaLibraryError.self) { try load { $0.entries = 3 } }
        #expect(throws: SchemaLibraryError.self) { try load { $0.fileBytes = 1_001 } }
        #expect(throws: SchemaLibraryError.self) { try load { $0.totalBytes = 1_005 } }
        #expect(try load { $0.totalBytes = 1_006 }.count == 3)
        #expect(throws: SchemaLibraryError.self) { try load { $0.depth = 0 } }
        try folder.write("d.json", "{\"a\": 1, \"a\": 2}")
        #expect(throws: SchemaLibraryError.self) { try load { _ in } }
    }

    @Test("ends at circular links")
    func circle() throws {
        let folder = try Folder(["a.json": "{}"])
        for name in ["one", "two"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder.path)/\(name)", withDestinationPath: folder.path)
        }
        var library = SchemaLibrary()
        #expect(throws: SchemaLibraryError.self) { try library.add(folder: folder.path, base: "http://h/") }
    }

    @Test("names a missing folder")
    func missing() {
        var library = SchemaLibrary()
        let error = #expect(throws: SchemaLibraryError.self) { try library.add(folder: "/nowhere/at/all", base: "a:b") }
        #expect(error?.description.contains("/nowhere/at/all") == true)
    }
}

/// A temporary folder that is deleted with the value.
private final class Folder {
    let path: String

    init(_ files: [String: String]) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "schemas-\(UUID().uuidString)").path
        for (name, text) in files { try write(name, text) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String) throws {
        let file = URL(filePath: path).appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
}

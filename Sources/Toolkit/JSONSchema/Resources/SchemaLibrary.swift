import Glibc
public import JSON

/// The documents to which the references of schemas may refer. They are loaded before a schema is compiled; documents
/// are never fetched from the network. A reference to a document that is not in the library and is not a metaschema is
/// an error.
public struct SchemaLibrary: Sendable {
    private var documents: [String: JSONDocument] = [:]

    /// Creates an empty library. The metaschemas are always known.
    public init() {}

    /// The identifiers of the documents, sorted.
    var identifiers: [String] { documents.keys.sorted() }

    /// Adds a document with the URI `uri`. References can use this URI or the identifier at the root of the document.
    ///
    /// - Throws: ``SchemaLibraryError`` when the URI is not absolute, or when the URI or the identifier already belongs
    ///   to another document.
    public mutating func add(_ document: JSONDocument, at uri: String) throws(SchemaLibraryError) {
        guard let (place, fragment) = URIText.resolve(uri, against: ""), URIReference(place).scheme != nil,
            fragment ?? "" == ""
        else { throw SchemaLibraryError("'\(uri)' is not an absolute URI") }
        try add(document, place)
        // `id` is an identifier only in a document that declares draft-04. In other documents, it may have any meaning.
        let isDraft04 = document.root["$schema"]?.string.map { $0.contains("draft-04") } ?? false
        if let name = document.root[isDraft04 ? "id" : "$id"]?.string,
            let (own, _) = URIText.resolve(name, against: place), own != place
        {
            try add(document, own)
        }
    }

    private mutating func add(_ document: JSONDocument, _ uri: String) throws(SchemaLibraryError) {
        guard documents[uri] == nil else { throw SchemaLibraryError("two documents have the identifier '\(uri)'") }
        documents[uri] = document
    }

    /// Returns the document with this URI; nil when the library contains none.
    ///
    /// - Parameter uri: an absolute URI. Its fragment is ignored.
    func document(at uri: String) -> JSONDocument? { documents[uri] ?? documents[Self.key(uri)] }

    private static func key(_ uri: String) -> String { URIReference(uri).withoutFragment.normalised.text }
}

/// The reason why a document cannot be added to a library.
public struct SchemaLibraryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence about the error, which contains the path or URI.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Limits for loading the documents of a folder.
public struct SchemaFolderLimits: Sendable, Equatable {
    /// The maximum number of files and folders of any type that are visited.
    public var entries = 2_000
    /// The maximum length of one document in bytes.
    var fileBytes = 256 << 10
    /// The maximum length of all documents of the folder together, in bytes.
    public var totalBytes = 16 << 20
    /// The maximum nesting of folders. It also limits cycles of symbolic links.
    public var depth = 16

    /// Creates the default limits.
    public init() {}
}

extension SchemaLibrary {
    /// Adds each `.json` file of a folder and its subfolders. The URI of a document is `base` followed by the path of
    /// the file in the folder. Names that start with a dot are skipped.
    ///
    /// - Parameter base: an absolute URI. A slash is added at its end if it is missing. The default is the `file:` URI
    ///   of the folder.
    /// - Throws: ``SchemaLibraryError`` when a file cannot be read, is not JSON, or exceeds the limits. The library is
    ///   then unchanged.
    public mutating func add(
        folder path: String, base: String? = nil, limits: SchemaFolderLimits = SchemaFolderLimits()
    ) throws(SchemaLibraryError) {
        let base = if let base { base } else { try Self.fileURI(of: path) }
        var grown = self
        var left = limits.totalBytes
        let files = try Self.files(in: path, limits)
        for file in files {
            let full = path + "/" + file
            let bytes = try Self.read(full, limit: min(limits.fileBytes, left))
            left -= bytes.count
            let document: JSONDocument
            do { document = try JSONDocument(bytes, limits: JSONLimits(depth: 100)) } catch {
                throw SchemaLibraryError("\(full): \(error)")
            }
            try grown.add(document, at: base + (base.utf8.last == UInt8(ascii: "/") ? "" : "/") + Self.encoded(file))
        }
        self = grown
    }

    private static func fileURI(of path: String) throws(SchemaLibraryError) -> String {
        guard let real = realpath(path, nil) else { throw failure(path) }
        defer { free(real) }
        return "file://" + encoded(String(cString: real))
    }

    private static func encoded(_ path: String) -> String {
        Percent.encoded(path) { Percent.isUnreserved($0) || "!$&'()*+,;=:@/".utf8.contains($0) }
    }

    /// Returns the paths of the files in the folder. They are sorted, so that errors do not depend on the order of the
    /// file system.
    private static func files(
        in root: String, _ limits: SchemaFolderLimits
    ) throws(SchemaLibraryError) -> [String] {
        var files: [String] = []
        var folders: [(path: String, depth: Int)] = [("", 0)]
        // The number of entries is counted for all folders together, because a cycle of links can contain very many
        // entries before it reaches the maximum depth.
        var left = limits.entries
        while let (folder, depth) = folders.popLast() {
            guard depth <= limits.depth else {
                throw SchemaLibraryError("the folder \(root)/\(folder) is nested too deeply")
            }
            let names = try names(in: root + "/" + folder, limit: left)
            left -= names.count
            for name in names {
                let path = folder + name
                var status = stat()
                guard stat(root + "/" + path, &status) == 0 else { throw failure(root + "/" + path) }
                switch status.st_mode & S_IFMT {
                case S_IFDIR: folders.append((path + "/", depth + 1))
                case S_IFREG where name.hasSuffix(".json"): files.append(path)
                default: continue
                }
            }
        }
        return files.sorted()
    }

    private static func names(in folder: String, limit: Int) throws(SchemaLibraryError) -> [String] {
        guard let handle = opendir(folder) else { throw failure(folder) }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            // `d_name` is read through a pointer and not copied, because an entry is only as long as its name, and the
            // declared type is longer.
            let start = MemoryLayout<dirent>.offset(of: \.d_name).map { UnsafeRawPointer(entry) + $0 }
            guard let start else { break }
            let name = String(cString: start.assumingMemoryBound(to: CChar.self))
            if name.utf8.first != UInt8(ascii: ".") { names.append(name) }
            guard names.count <= limit else { throw SchemaLibraryError("the folder \(folder) contains too many files") }
        }
        return names
    }

    private static func read(_ path: String, limit: Int) throws(SchemaLibraryError) -> [UInt8] {
        guard let file = fopen(path, "re") else { throw failure(path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { break }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw SchemaLibraryError("\(path) is larger than the remaining limit of \(limit) bytes")
            }
        }
        guard ferror(file) == 0 else { throw failure(path) }
        return bytes
    }

    private static func failure(_ path: String) -> SchemaLibraryError {
        SchemaLibraryError("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
}

import CAssets
import HTTPServer

/// One file of the site, as it lies in the folder `Site` of the sources.
struct SiteFile: Sendable {
    /// The path below `Site`.
    let name: String
    /// Changes with the bytes.
    let tag: String
    let bytes: StaticBytes

    /// In the order of `assets.c`.
    static let all = (0..<site_file_count()).map { SiteFile(site_file($0)) }

    private init(_ file: Asset) {
        name = String(cString: file.name)
        bytes = StaticBytes(start: file.bytes, count: file.length)
        tag = Self.hash(bytes.buffer)
    }

    /// FNV-1a with 64 bits: tells versions of a file apart, and is not meant to withstand anybody.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> String {
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }

    var contentType: String {
        if name.hasSuffix(".html") { return "text/html; charset=utf-8" }
        if name.hasSuffix(".css") { return "text/css; charset=utf-8" }
        if name.hasSuffix(".svg") { return "image/svg+xml" }
        return "text/javascript; charset=utf-8"
    }

    /// Where it is served: pages and the library for other pages at the top, the rest under `/dashboard/`.
    var path: String {
        switch name {
        case "index.html": "/"
        case "docs.html": "/docs"
        case "parley.js", "parley-hub.js": "/" + name
        default: "/dashboard/" + name
        }
    }
}

import HTTPServer

/// One file of the site, as it lies in the folder `Site` of the sources.
struct SiteFile: Sendable {
    /// Below `Site`.
    let name: String
    /// Changes with the text.
    let tag: String
    let text: StaticString

    init(_ name: String, tag: String, text: StaticString) {
        self.name = name
        self.tag = tag
        self.text = text
    }

    static func named(_ name: String) -> SiteFile? { all.first { $0.name == name } }

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

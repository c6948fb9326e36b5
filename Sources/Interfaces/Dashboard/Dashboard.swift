import CAssets
public import HTTPServer
import Locking

/// The dashboard, the API reference and the guides. The pages use only the public native API. The server only delivers
/// files.
public enum Dashboard {
    /// Adds the routes of `/`, `/docs`, the guides below `/docs`, `/parley.js`, and the files that these pages load.
    ///
    /// - Parameter isDevelopment: true to let the dashboard sign in without input, with the well-known development key.
    public static func addRoutes(to router: inout Router, isDevelopment: Bool = false) {
        for file in SiteFile.all {
            let answer =
                isDevelopment && file.name == "index.html"
                ? developmentPage(file) : Answer(file.tag, .fixed(file.bytes))
            // Pages of other sites may load the library `parley.js` from here. It contains no user's data.
            var routeOptions = RouteOptions(
                cors: file.name.hasPrefix("parley") ? CORSPolicy(origins: isDevelopment ? .loopback : .any) : nil)
            routeOptions.isPage = file.name.hasSuffix(".html")
            router.add(.get, RoutePattern(stringLiteral: file.path), options: routeOptions) { request in
                answer.response(to: request, contentType: file.contentType)
            }
        }
        var options = RouteOptions()
        options.isPage = true
        for guide in Guide.all {
            // The first request for a guide converts it to HTML. Converting all guides at the start would take too
            // long.
            let page = Lock<Answer?>(nil)
            router.add(.get, RoutePattern(guide.path), options: options) { request in
                let answer = page.withLock { page in
                    if let page { return page }
                    let bytes = guide.page()
                    let answer = Answer(StaticBytes.tag(of: bytes), .bytes(bytes))
                    page = answer
                    return answer
                }
                return answer.response(to: request, contentType: "text/html; charset=utf-8")
            }
        }
    }

    private struct Answer {
        let tag: String
        let body: ResponseBody

        init(_ tag: String, _ body: ResponseBody) {
            self.tag = "\"\(tag)\""
            self.body = body
        }

        func response(to request: Request, contentType: String) -> Response {
            let isKnown = EntityTag.isKnown(tag, to: request.headers)
            let headers = [("Content-Type", contentType), ("ETag", tag)] + Dashboard.headers
            // A 304 has no body, but must state its length.
            return Response(status: isKnown ? 304 : 200, headers: headers, body: body)
        }
    }

    private static func developmentPage(_ file: SiteFile) -> Answer {
        let html = String(decoding: file.bytes.buffer, as: UTF8.self)
        let marked = html.replacing("<html ", with: "<html data-mode=\"dev\" ", maxReplacements: 1)
        return Answer(file.tag + "-dev", .bytes(Array(marked.utf8)))
    }

    private static let headers: [(name: String, value: String)] = [
        ("Cache-Control", "no-cache"),
        // The pages load nothing from other sites, run no inline scripts, create no markup from texts, and cannot be
        // shown in a frame.
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
                + "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                + "require-trusted-types-for 'script'; trusted-types parley"
        ),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Referrer-Policy", "no-referrer"),
    ]
}

/// One file of the site, from the folder `Site` of the sources.
struct SiteFile: Sendable {
    /// The path below `Site`.
    let name: String
    /// A text that changes with the bytes of the file, for the entity tag.
    let tag: String
    let bytes: StaticBytes

    /// All files, in the order of `assets.c`.
    static let all = (0..<site_file_count()).map { SiteFile(site_file($0)) }

    private init(_ file: Asset) {
        name = String(cString: file.name)
        bytes = StaticBytes(start: file.bytes, count: file.length)
        tag = StaticBytes.tag(of: bytes.buffer)
    }

    var contentType: String {
        if name.hasSuffix(".html") { return "text/html; charset=utf-8" }
        if name.hasSuffix(".css") { return "text/css; charset=utf-8" }
        if name.hasSuffix(".svg") { return "image/svg+xml" }
        return "text/javascript; charset=utf-8"
    }

    /// The path of the URL. Pages and the library `parley.js` are at the top level, and all other files are under
    /// `/dashboard/`.
    var path: String {
        switch name {
        case "index.html": "/"
        case "docs.html": "/docs"
        case "parley.js", "parley-hub.js": "/" + name
        default: "/dashboard/" + name
        }
    }
}

extension StaticBytes {
    /// A digest that distinguishes the versions of a file (FNV-1a with 64 bits). It is not secure against deliberate
    /// collisions.
    fileprivate static func tag(of bytes: some Sequence<UInt8>) -> String {
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}

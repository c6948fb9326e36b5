import CAssets
import HTTPServer

/// One guide of the folder `docs`, as a page for browsers.
struct Guide: Sendable {
    /// The name of the file without `.md`; `README` for the list of the guides.
    let name: String
    /// The text of the guide's first line, which is a heading.
    let title: String
    private let markdown: StaticBytes

    /// All guides, in the order of `assets.c`.
    static let all = (0..<guide_count()).map { Guide(guide($0)) }

    private static let names = Set((0..<guide_count()).map { String(cString: guide($0).name) })

    private init(_ file: Asset) {
        name = String(cString: file.name)
        markdown = StaticBytes(start: file.bytes, count: file.length)
        let heading = markdown.buffer.prefix { $0 != UInt8(ascii: "\n") }
        title = String(decoding: heading.drop { "# ".utf8.contains($0) }, as: UTF8.self)
    }

    /// The path at which the guide is served.
    var path: String { Self.path(of: name) }

    private static func path(of name: String) -> String { name == "README" ? "/docs/" : "/docs/" + name }

    /// The URL for the target of a link in a guide; nil for a file that the gateway does not serve.
    static func address(of target: String) -> String? {
        if ["#", "https://", "http://"].contains(where: target.hasPrefix) { return target }
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let fragment = parts.count > 1 ? "#" + parts[1] : ""
        if parts[0] == "../openapi.yaml" { return "/openapi.yaml" + fragment }
        guard parts[0].hasSuffix(".md") else { return nil }
        let name = String(parts[0].dropLast(3))
        return names.contains(name) ? path(of: name) + fragment : nil
    }

    /// Converts the guide to HTML, without the surrounding page.
    func converted() -> MarkdownPage { MarkdownPage(markdown.buffer, resolve: Self.address) }

    /// Renders the page, with the title, a menu of all guides, and the guide. This takes a millisecond or more.
    func page() -> [UInt8] {
        let menu = Self.all.map { guide in
            let current = guide.name == name ? " aria-current=\"page\"" : ""
            return "<li><a href=\"\(guide.path)\"\(current)>\(guide.title)</a></li>"
        }
        let head = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) · Parley</title>
            <link rel="icon" href="/dashboard/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="/dashboard/style.css">
            <link rel="stylesheet" href="/dashboard/docs.css">
            </head>
            <body class="docs">
            <a class="skip" href="#main">Skip to content</a>
            <header id="top">
            <a class="brand" href="/"><img src="/dashboard/icon.svg" alt="" width="22" height="22"> Parley</a>
            <span class="quiet">Guides</span>
            <a href="/docs">API reference</a>
            </header>
            <nav id="menu" aria-label="Guides">
            <ul>
            \(menu.joined(separator: "\n"))
            </ul>
            </nav>
            <main id="main" tabindex="-1">

            """
        return Array(head.utf8) + converted().html + Array("</main>\n</body>\n</html>\n".utf8)
    }
}

import JSON

/// The index of a schema: all subschemas, their resources and their anchors.
///
/// The index visits only the positions that contain schemas in the current dialect. For example, a member `$id` inside
/// `const`, `enum`, `default`, `examples` or an unknown keyword is not an identifier. A referenced document is indexed
/// when the first reference to it is resolved.
struct SchemaIndex {
    typealias SubschemaID = Int
    typealias ResourceID = Int

    /// A subschema in a document.
    struct Subschema {
        let value: JSONValue
        let place: Place
        let resource: ResourceID
    }

    /// A position in a document. Positions and not node addresses identify schemas, because the parser uses one node
    /// for all values `true` and one for all values `false`.
    struct Place: Hashable {
        let document: Int
        /// A JSON Pointer without `#`.
        let pointer: String

        init(document: Int, pointer: String) {
            self.document = document
            self.pointer = pointer
            name = Name(pointer)
        }

        private let name: Name

        static func == (left: Place, right: Place) -> Bool {
            left.document == right.document && left.name == right.name
        }

        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    struct Resource {
        /// The absolute, normalized URI without a fragment.
        let uri: String
        let root: Place
        let scope: Scope
        var anchors: [String: SubschemaID] = [:]
        var dynamicAnchors: [String: SubschemaID] = [:]
        /// True for a root with `$recursiveAnchor: true`.
        var isRecursive = false
    }

    struct Document {
        let json: JSONDocument
        /// The URI of the document, which is the base of its relative identifiers.
        let uri: String
        /// True for built-in documents, which do not count against the limits.
        let isOurs: Bool
    }

    private(set) var documents: [Document] = []
    private(set) var subschemas: [Subschema] = []
    private(set) var resources: [Resource] = []
    private var subschemaAt: [Place: SubschemaID] = [:]
    private var resourceAt: [String: ResourceID] = [:]
    private var nodes = 0
    private var placeBytes = 0
    let options: SchemaOptions

    /// The base URI of a schema without an identifier.
    static let privateBase = "parley:/schema"

    init(options: SchemaOptions) { self.options = options }
}

// MARK: - Adding documents

extension SchemaIndex {
    /// Indexes a whole document and returns its root schema.
    mutating func add(_ json: JSONDocument, at uri: String, isOurs: Bool = false) throws(SchemaError) -> SubschemaID {
        let document = documents.count
        if !isOurs { try measure(json) }
        documents.append(Document(json: json, uri: uri, isOurs: isOurs))
        let scope = try scope(of: json.root, inherited: Scope(dialect: options.dialect), at: "#")
        var walk = Walk(document: document, registers: true)
        let base = newResource(uri, at: Place(document: document, pointer: ""), scope: scope)
        let root = try index(json.root, at: "", in: base, &walk)
        // References can use the URI of the document even if its root has another identifier.
        if resourceAt[uri] == nil { resourceAt[uri] = subschemas[root].resource }
        return root
    }

    private mutating func measure(_ json: JSONDocument) throws(SchemaError) {
        guard json.text.count <= options.limits.schemaBytes else {
            throw SchemaError(.limit, "the schema is longer than \(options.limits.schemaBytes) bytes")
        }
        nodes += try count(json.root, depth: 1)
        guard nodes <= options.limits.schemaNodes else {
            throw SchemaError(.limit, "the schema has more than \(options.limits.schemaNodes) values")
        }
    }

    private mutating func charge(_ bytes: Int) throws(SchemaError) {
        placeBytes += bytes
        guard placeBytes <= options.limits.placeBytes else {
            throw SchemaError(
                .limit, "the JSON Pointers to the schema's parts take more than \(options.limits.placeBytes) bytes")
        }
    }

    private func count(_ value: JSONValue, depth: Int) throws(SchemaError) -> Int {
        guard value.kind == .object || value.kind == .array else { return 1 }
        guard depth <= options.limits.schemaDepth else {
            throw SchemaError(.limit, "the schema is nested deeper than \(options.limits.schemaDepth) levels")
        }
        var total = 1
        for child in value.elements ?? [] { total += try count(child, depth: depth + 1) }
        for member in value.members ?? [] { total += try count(member.value, depth: depth + 1) }
        return total
    }
}

// MARK: - Walking

extension SchemaIndex {
    private struct Walk {
        let document: Int
        /// True when references from other locations can use the identifiers inside the visited location. False for a
        /// location that is a schema only because a reference refers to it. Its identifiers are valid only inside it,
        /// so that the result does not depend on the order of references.
        let registers: Bool
    }

    /// Indexes `value`, which belongs to the resource `outer`, and the schemas inside it.
    private mutating func index(
        _ value: JSONValue, at pointer: String, in outer: ResourceID, _ walk: inout Walk
    ) throws(SchemaError) -> SubschemaID {
        let place = Place(document: walk.document, pointer: pointer)
        if let known = subschemaAt[place] { return known }
        try charge(pointer.utf8.count)
        let resource = try enter(value, at: place, in: outer, walk)
        let id = subschemas.count
        subschemas.append(Subschema(value: value, place: place, resource: resource))
        subschemaAt[place] = id
        guard value.kind == .object else { return id }
        let scope = resources[resource].scope
        let hidden = scope.referencesHideSiblings && value["$ref"]?.string != nil
        if !hidden { try registerAnchors(of: id, walk) }
        for member in value.members ?? [] {
            guard let keyword = scope.keyword(member.name) else { continue }
            try indexChildren(of: keyword, member.value, at: pointer + "/" + member.name, in: resource, &walk)
        }
        return id
    }

    private mutating func indexChildren(
        of keyword: Keyword, _ value: JSONValue, at pointer: String, in resource: ResourceID, _ walk: inout Walk
    ) throws(SchemaError) {
        switch (keyword.position, value.kind) {
        case (.none, _): return
        case (.schema, .object), (.schema, .boolean), (.schemaOrList, .object), (.schemaOrList, .boolean):
            _ = try index(value, at: pointer, in: resource, &walk)
        case (.list, .array), (.schemaOrList, .array):
            for (position, element) in (value.elements ?? []).enumerated() where element.isSchema {
                _ = try index(element, at: "\(pointer)/\(position)", in: resource, &walk)
            }
        case (.map, .object), (.schemasOrNames, .object):
            for member in value.members ?? [] where member.value.isSchema {
                _ = try index(member.value, at: pointer + "/" + member.name.pointerToken, in: resource, &walk)
            }
        default: return
        }
    }

    /// Returns the resource of a schema: a new resource if the schema has an identifier, otherwise `outer`.
    private mutating func enter(
        _ value: JSONValue, at place: Place, in outer: ResourceID, _ walk: Walk
    ) throws(SchemaError) -> ResourceID {
        guard value.kind == .object else { return outer }
        let around = resources[outer]
        // A resource can have its own dialect, which determines the keyword of its identifier (`id` or `$id`).
        let scope = try scope(of: value, inherited: around.scope, at: display(place))
        let identified = value[scope.identity.rawValue]?.string
        guard let identified, !(scope.referencesHideSiblings && value["$ref"]?.string != nil) else { return outer }
        try charge(identified.utf8.count + around.uri.utf8.count)
        guard let (uri, fragment) = URIText.resolve(identified, against: around.uri) else {
            throw SchemaError(.identifier, "'\(identified.quotable)' is not a URI reference", at: display(place))
        }
        if let fragment, !fragment.isEmpty, scope.dialect >= .draft201909 {
            throw SchemaError(.identifier, "$id must not have a fragment; use $anchor", at: display(place))
        }
        if identified.starts(withASCII: "#") { return outer }
        if place == around.root, uri == around.uri { return outer }
        if walk.registers, let other = resourceAt[uri], resources[other].root != place,
            resources[other].root.document == place.document
        {
            throw SchemaError(.identifier, "two schemas have the identifier '\(uri.quotable)'", at: display(place))
        }
        let resource = newResource(uri, at: place, scope: scope)
        if walk.registers, resourceAt[uri] == nil || place.document == 0 { resourceAt[uri] = resource }
        return resource
    }

    private mutating func newResource(_ uri: String, at place: Place, scope: Scope) -> ResourceID {
        resources.append(Resource(uri: uri, root: place, scope: scope))
        return resources.count - 1
    }

    private mutating func registerAnchors(of id: SubschemaID, _ walk: Walk) throws(SchemaError) {
        let schema = subschemas[id]
        let scope = resources[schema.resource].scope
        if scope.dialect < .draft201909 {
            guard let text = schema.value[scope.identity.rawValue]?.string,
                let (_, fragment) = URIText.resolve(text, against: resources[schema.resource].uri),
                let fragment, !fragment.isEmpty
            else { return }
            return try register(anchor: fragment, id)
        }
        if let name = schema.value["$anchor"]?.string { try register(anchor: name, id) }
        if scope.dialect == .draft202012, let name = schema.value["$dynamicAnchor"]?.string {
            try register(anchor: name, id)
            resources[schema.resource].dynamicAnchors[name] = id
        }
        if scope.dialect == .draft201909, schema.value["$recursiveAnchor"]?.boolean == true,
            schema.place == resources[schema.resource].root
        {
            resources[schema.resource].isRecursive = true
        }
    }

    private mutating func register(anchor: String, _ id: SubschemaID) throws(SchemaError) {
        let resource = subschemas[id].resource
        if let other = resources[resource].anchors[anchor], other != id {
            throw SchemaError(
                .identifier, "two parts of the schema have the anchor '\(anchor.quotable)'",
                at: display(subschemas[id].place))
        }
        resources[resource].anchors[anchor] = id
    }
}

// MARK: - Finding

extension SchemaIndex {
    /// The target of a reference.
    struct Target {
        let subschema: SubschemaID
        /// The name of the anchor, if the fragment of the reference is an anchor; nil otherwise.
        let anchor: String?
    }

    /// Resolves a reference that occurs in the subschema `origin`.
    mutating func resolve(_ reference: String, from origin: SubschemaID) throws(SchemaError) -> Target {
        let place = subschemas[origin].place
        let origin = subschemas[origin].resource
        // Most references refer to their own resource and need no URI parsing.
        if reference.starts(withASCII: "#") {
            if let target = try follow(String(Substring(reference.utf8.dropFirst())), in: origin) { return target }
        } else {
            guard let (uri, fragment) = URIText.resolve(reference, against: resources[origin].uri) else {
                throw SchemaError(.unresolved, "'\(reference.quotable)' is not a URI reference", at: display(place))
            }
            if let resource = try resource(at: uri), let target = try follow(fragment ?? "", in: resource) {
                return target
            }
        }
        throw SchemaError(
            .unresolved,
            "the reference '\(reference.quotable)' has no target in the schema; schemas are never fetched from the network",
            at: display(place))
    }

    /// Returns the resource with this URI; nil when there is none. Searches the index, then the library, then the
    /// metaschemas.
    private mutating func resource(at uri: String) throws(SchemaError) -> ResourceID? {
        if let known = resourceAt[uri] { return known }
        if let document = options.library.document(at: uri) {
            _ = try add(document, at: uri)
        } else if let document = Metaschemas.document(at: uri) {
            _ = try add(document, at: uri, isOurs: true)
        }
        return resourceAt[uri]
    }

    private mutating func follow(_ fragment: String, in resource: ResourceID) throws(SchemaError) -> Target? {
        let root = resources[resource].root
        if fragment.isEmpty { return subschemaAt[root].map { Target(subschema: $0, anchor: nil) } }
        guard let decoded = URIText.percentDecoded(fragment) else { return nil }
        guard decoded.starts(withASCII: "/") else {
            return resources[resource].anchors[decoded].map { Target(subschema: $0, anchor: decoded) }
        }
        guard let pointer = JSONPointer(decoded) else { return nil }
        return try descend(pointer.tokens, from: root, in: resource).map { Target(subschema: $0, anchor: nil) }
    }

    /// Follows a JSON Pointer from a location in a document, also into subschemas that are separate resources. Returns
    /// the subschema at the end of the pointer, which is added to the index if it is new; nil when there is no schema.
    private mutating func descend(
        _ tokens: [String], from root: Place, in resource: ResourceID
    ) throws(SchemaError) -> SubschemaID? {
        var value = documents[root.document].json.root
        if let start = subschemaAt[root] { value = subschemas[start].value }
        var pointer = root.pointer
        var owner = resource
        for token in tokens {
            guard let next = value.at(JSONPointer(tokens: [token])) else { return nil }
            value = next
            pointer += "/" + token.pointerToken
            if let known = subschemaAt[Place(document: root.document, pointer: pointer)] {
                owner = subschemas[known].resource
            }
        }
        guard value.isSchema else { return nil }
        var walk = Walk(document: root.document, registers: false)
        return try index(value, at: pointer, in: owner, &walk)
    }
}

// MARK: - Locations

extension SchemaIndex {
    func subschema(at place: Place) -> SubschemaID? { subschemaAt[place] }

    /// Returns the location of a schema for messages, for instance `#/properties/a`. In every document except the
    /// first, the location begins with the URI of the document.
    func display(_ place: Place) -> String {
        (place.document == 0 ? "" : documents[place.document].uri) + "#" + place.pointer
    }

    /// Returns the absolute location (2020-12 core 12.3.2) of the keyword at `suffix` below a subschema: the URI of the
    /// resource and a JSON Pointer inside it.
    func absoluteLocation(of id: SubschemaID, _ suffix: String) -> String {
        let schema = subschemas[id]
        let resource = resources[schema.resource]
        let uri = resource.uri == Self.privateBase ? "" : resource.uri
        return uri + "#"
            + URIText.fragment(String(schema.place.pointer.dropFirst(resource.root.pointer.count)) + suffix)
    }
}

extension JSONValue {
    /// True for a value that can be a schema: an object or a Boolean.
    var isSchema: Bool { kind == .object || kind == .boolean }
}

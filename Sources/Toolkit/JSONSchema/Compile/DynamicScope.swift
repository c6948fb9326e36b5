/// The dynamic scope, reduced to what it decides: for each dynamic anchor the outermost resource that has it.
///
/// Instead of carrying the scope through evaluation, a subschema is compiled once for each binding it is reached with.
/// Only the names that some dynamic reference asks for count, so that most schemas have a single, empty binding.
struct DynamicScope {
    typealias ID = Int

    /// Stands for `$recursiveAnchor`, which has no name.
    static let recursive = Name("")

    private var known: [[Name: SchemaIndex.ResourceID]] = [[:]]
    private var ids: [[Name: SchemaIndex.ResourceID]: ID] = [[:]: 0]
    /// Names that dynamic references ask for.
    var wanted: Set<Name> = []

    static let empty: ID = 0

    var count: Int { known.count }

    func resource(for name: Name, in binding: ID) -> SchemaIndex.ResourceID? { known[binding][name] }

    /// The binding after entering a resource: what was bound further out stays.
    mutating func entering(_ resource: SchemaIndex.ResourceID, of index: SchemaIndex, from binding: ID) -> ID {
        guard !wanted.isEmpty else { return binding }
        var bound = known[binding]
        for name in index.resources[resource].dynamicAnchors.keys.map(Name.init)
        where wanted.contains(name) && bound[name] == nil {
            bound[name] = resource
        }
        if index.resources[resource].isRecursive, wanted.contains(Self.recursive), bound[Self.recursive] == nil {
            bound[Self.recursive] = resource
        }
        if let id = ids[bound] { return id }
        known.append(bound)
        ids[bound] = known.count - 1
        return known.count - 1
    }
}

import ArgumentParser

/// Which records a list shows.
struct RecordListOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only records this expression selects.", valueName: "expression"))
    var filter: String?

    @Option(
        help: ArgumentHelp(
            "A member to sort by, with ':asc' or ':desc'; may be given several times.", valueName: "member"))
    var sort: [String] = []

    @OptionGroup var length: LengthOptions

    func path(_ segments: String...) -> RequestPath {
        var path = RequestPath(segments: segments).adding("filter", filter)
        path.add("sort", each: sort)
        return path
    }
}

/// Options that bound how much of a list is printed.
struct LengthOptions: ParsableArguments {
    @Option(help: ArgumentHelp("At most so many.", valueName: "n"))
    var limit = 50

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1.") }
    }
}

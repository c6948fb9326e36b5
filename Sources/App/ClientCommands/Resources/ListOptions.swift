import ArgumentParser

/// Which part of a list, and in which direction.
struct ListOptions: ParsableArguments {
    enum Order: String, ExpressibleByArgument, CaseIterable { case asc, desc }

    @Option(help: "The direction: asc or desc; of times, asc is the oldest first.")
    var order: Order?

    @Option(help: ArgumentHelp("Only later than this: a timetoken, or 2030-01-31T12:00:00Z.", valueName: "time"))
    var after: String?

    @Option(help: ArgumentHelp("Only earlier than this.", valueName: "time"))
    var before: String?

    /// The path of a list with what is asked for.
    func adding(to path: RequestPath) -> RequestPath {
        path.adding("after", after).adding("before", before).adding("order", order?.rawValue)
    }
}

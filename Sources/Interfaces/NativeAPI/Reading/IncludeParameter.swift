import ChatCore
import ChatModel

extension Parameters {
    /// The parameter that names the objects to hand out beside events.
    static let include = "include"

    /// The objects that `include` names: with commas between them, or in several parameters.
    ///
    /// - Throws: `.malformed`, slug `bad_parameter`, for any other name.
    func included() throws(ChatError) -> Set<IncludedObject> {
        let names = texts(Self.include).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map(String.init)
        let (objects, index) = IncludedObject.objects(named: names)
        guard let unknown = index.map({ names[$0] }) else { return objects }
        let nearest = NameSuggestion.nearest(to: unknown, among: IncludedObject.allCases.map(\.rawValue))
        throw Self.bad(
            Self.include,
            "takes \(IncludedObject.choices), with commas between several; got '\(unknown.prefix(64))'"
                + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
    }

    /// The page's `limit`. Its upper bound is lower if objects are included.
    ///
    /// - Throws: `.malformed` for a number out of range.
    func pageLimit(_ limits: Limits) throws(ChatError) -> Int {
        let most = try included().isEmpty ? limits.pageMost : min(limits.pageMost, IncludedObject.pageMost)
        return try integer("limit", in: 1...most) ?? min(limits.pageDefault, most)
    }
}

import ChatModel
import Testing

@Suite("A list of patterns")
struct NamePatternTests {
    @Test(
        "covers another pattern only if one of its own covers it alone",
        arguments: [
            (["a.*"], "a.b", true), (["a.*"], "a.b.*", true), (["*"], "a.*", true), (["*"], "*", true),
            (["a.b", "a.c.*"], "a.*", false), (["a.*", "b.*"], "*", false), (["a"], "a.*", false), ([], "a", false),
            (["*"], "$system", false), (["*", "$system"], "$system", true),
        ])
    func covers(own: [String], other: String, isCovered: Bool) throws {
        #expect(own.compactMap { NamePattern($0) }.covers(try #require(NamePattern(other))) == isCovered)
    }

    @Test("covers several patterns only if it covers each of them")
    func coversAll() {
        let own = [NamePattern.below("a."), .exact("b")]
        #expect(own.coversAll([]))
        #expect(own.coversAll([.exact("a.x"), .below("a.b."), .exact("b")]))
        #expect(!own.coversAll([.exact("b"), .below("b.")]))
        #expect(![NamePattern]().coversAll([.all]))
    }

    @Test("reaches `$system` by name only with the scope `admin`")
    func reachesSystem() {
        let system = NamePattern.exact(ChannelID.systemName)
        var caller = Caller(app: AppID("app"), credential: "k", scopes: [.read], channels: [.all, system])
        #expect(!caller.reaches(channels: system) && caller.reaches(channels: .all))
        caller.scopes = [.admin]
        #expect(caller.reaches(channels: system))
        caller.channels = [.below("a.")]
        #expect(caller.reaches(channels: .exact("a.b")) && caller.reaches(channels: .below("a.b.")))
        #expect(!caller.reaches(channels: .all) && !caller.reaches(channels: .exact("b")))
    }
}

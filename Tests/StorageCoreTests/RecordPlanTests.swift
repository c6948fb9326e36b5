import ChatModel
import JSON
import StorageCore
import Testing

@Suite("The plan of record changes") struct RecordPlanTests {
    private let present = Record(
        key: RecordKey(.user, "ana", in: AppID("app")), body: JSONText(string: "old"), etag: "1", updated: 5)
    private let missing = RecordKey(.user, "ben", in: AppID("app"))
    private let body = JSONText(string: "new")

    private func plan(_ changes: RecordChange...) -> Result<RecordPlan, ChatError> {
        RecordPlan.make(changes, tag: 255, now: 7) { $0 == present.key ? present : nil }
    }

    private func error(_ result: Result<RecordPlan, ChatError>) -> ChatError? {
        if case .failure(let error) = result { error } else { nil }
    }

    @Test("replaces the etag and the time of a changed record only")
    func results() throws {
        let plan = try plan(
            RecordChange(present.key, body: present.body, precondition: .present),
            RecordChange(missing, body: body, precondition: .absent)
        ).get()
        #expect(plan.steps.count == 1)
        #expect(plan.results.map(\.etag) == ["1", "ff"])
        #expect(plan.results.map(\.updated) == [5, 7])
        #expect(plan.stamped(9).results.map(\.updated) == [5, 9])
    }

    @Test("checks each precondition against the result of the changes before it")
    func order() throws {
        let twice = plan(
            RecordChange(missing, body: body, precondition: .absent),
            RecordChange(missing, body: body, precondition: .absent))
        #expect(error(twice)?.code == .conflict)
        let again = try plan(
            RecordChange(present.key, body: nil, precondition: .etag("1")),
            RecordChange(present.key, body: body, precondition: .absent)
        ).get()
        #expect(again.results.map(\.etag) == ["1", "ff"])
        #expect(again.steps.count == 2)
    }

    @Test("returns the error of a precondition that is not satisfied, with the current record")
    func refusals() {
        let refusals: [(RecordKey, RecordChange.Precondition, ChatError.Code, String?)] = [
            (present.key, .absent, .conflict, "1"), (missing, .present, .notFound, nil),
            (present.key, .etag("2"), .stale, "1"), (missing, .etag("2"), .notFound, nil),
        ]
        for (key, precondition, code, etag) in refusals {
            let error = error(plan(RecordChange(key, body: body, precondition: precondition)))
            #expect(error?.code == code)
            #expect(error?.current?.etag == etag)
        }
    }
}

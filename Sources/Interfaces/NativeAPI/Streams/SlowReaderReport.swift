import ChatCore
import ChatModel
import LongPolling
import JSON

/// A report to operators about streams of one app that were closed because their readers were too slow.
struct SlowReaderReport: Sendable {
    var count = 0
    /// The id of the stream that was closed last.
    var stream: String
    var key: String

    var data: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("count", count)
            writer.member("stream", stream)
            writer.member("key", key)
            writer.endObject()
        }
    }
}

extension LiveStreams {
    func recordLag(_ stream: LiveStream) {
        counters.slowCloses += 1
        let owner = stream.owner.caller
        var report = lagged[owner.app] ?? SlowReaderReport(stream: "", key: "")
        report.count += 1
        report.stream = id(of: stream.sequence)
        report.key = owner.credential
        lagged[owner.app] = report
    }

    /// Reports streams with slow readers to operators, in at most one event per app and second. Many slow readers
    /// therefore cause few writes. A report that cannot be stored is merged into the next report.
    func reportLag() {
        guard !lagged.isEmpty, reporting == nil else { return }
        let reports = lagged
        lagged = [:]
        reporting = Task { await self.sendReport(reports) }
    }

    private func sendReport(_ reports: [AppID: SlowReaderReport]) async {
        for (app, report) in reports {
            do throws(ChatError) {
                try await service.report("stream.lagged", data: report.data, in: app)
            } catch {
                lagged[app, default: SlowReaderReport(stream: report.stream, key: report.key)].count += report.count
            }
        }
        reporting = nil
    }
}

import Glibc

/// Random inputs for every part of the JSON Schema room:
///
///     Fuzz RECORD [--seconds N] [--seed S] [--suite FOLDER] [--part NAME --case K]
///
/// `RECORD` is a file that holds the input under way, for whoever finds the process dead. With a part and a case only that
/// one is tried again.
@main enum Fuzz {
    static func main() throws {
        let arguments = CommandLine.arguments
        func option(_ name: String) -> String? {
            arguments.firstIndex(of: name).flatMap { $0 + 1 < arguments.count ? arguments[$0 + 1] : nil }
        }
        guard arguments.count > 1, let record = Record(path: arguments[1]) else {
            say("the first argument is a file that can be written")
            exit(2)
        }
        let seed = option("--seed").flatMap { UInt64($0) } ?? UInt64(time(nil))
        let corpus = try Corpus(option("--suite"))
        say("seed \(seed), \(corpus.cases.count) schemas to start from")
        var run = Run(seed: seed, corpus: corpus, record: record)
        let isFine =
            if let part = option("--part"), let number = option("--case").flatMap({ Int($0) }) {
                run.one(named: part, number)
            } else {
                run.all(seconds: option("--seconds").flatMap { Int($0) } ?? 60)
            }
        exit(isFine ? 0 : 1)
    }
}

extension Pattern {
    /// Follows all ways through a program at once, for patterns whose table would be too large: a state set per
    /// character, so time is bounded by the text times the program, whatever the pattern.
    struct Simulation {
        let machine: Machine

        /// One step pays for this many visits to an instruction.
        private static let visitsPerStep = 16

        func matches(_ text: Text, steps: inout Int) -> PatternVerdict {
            let room = StateSet.room(machine.count) + machine.count
            return withUnsafeTemporaryAllocation(of: Int32.self, capacity: room) { room in
                guard let base = room.baseAddress else { return .noMatch }
                return matches(text, base, &steps)
            }
        }

        private func matches(
            _ text: Text, _ room: UnsafeMutablePointer<Int32>, _ steps: inout Int
        ) -> PatternVerdict {
            var frontier = StateSet(machine, room)
            defer { steps -= frontier.work / Self.visitsPerStep }
            let targets = room + StateSet.room(machine.count)
            var count = 0
            var place = text.start
            var moment = TextBoundary(isStart: true)
            while true {
                moment.isEnd = place == text.end
                let symbol = moment.isEnd ? 0 : machine.alphabet.next(&place, text.end)
                if machine.looksAtWords { moment.wordAfter = !moment.isEnd && machine.isWord(symbol) }
                frontier.clear()
                for index in 0..<count { frontier.add(Int(targets[index]), at: moment) }
                if moment.isStart || !machine.isAnchored { frontier.add(0, at: moment) }
                if frontier.isMatched { return .match }
                if moment.isEnd || (frontier.count == 0 && machine.isAnchored) { return .noMatch }
                if frontier.work / Self.visitsPerStep > steps { return .exhausted }
                count = 0
                for index in 0..<frontier.count where machine.takes(frontier[index], symbol) {
                    targets[count] = Int32(frontier[index] + 1)
                    count += 1
                }
                moment = TextBoundary(wordBefore: moment.wordAfter)
            }
        }
    }
}

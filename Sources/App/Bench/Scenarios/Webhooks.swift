import JSON

extension Bench {
    /// Registers webhooks at a local receiver, publishes events, and counts the posts. Removes the webhooks at the end.
    static func runWebhooks(_ plan: BenchPlan, _ result: inout BenchResult) throws(BenchFailure) {
        var plan = plan
        plan.channels = 1
        if plan.inFlight == 0 { plan.inFlight = max(2, usualDeliveries / plan.webhooks) }
        let driver = try Driver(plan, streams: plan.webhooks, others: mostConnections)
        driver.ledger.isOrdered = false
        let receiver = try Receiver(driver: driver)
        driver.onOther = { [unowned receiver] in receiver.serve(Int32($0)) }
        defer { driver.onOther = nil }
        let control = ControlRequests(target: driver.target, key: plan.key)
        result.add("webhooks", .count(plan.webhooks))
        var made: [String] = []
        do throws(BenchFailure) {
            for index in 0..<plan.webhooks {
                made.append(try register(index, at: receiver, driver, control))
                driver.ledger.join(index, channel: 0)
            }
            try measure(driver, &result)
        } catch {
            remove(made, control)
            throw error
        }
        remove(made, control)
        result.add("posts", .count(receiver.posts))
    }

    /// The default number of undelivered webhook deliveries. It keeps the sender busy without a long queue.
    private static let usualDeliveries = 1_000
    /// The maximum number of simultaneous connections from the gateway to the receiver.
    private static let mostConnections = 2_000

    private static func measure(_ driver: Driver, _ result: inout BenchResult) throws(BenchFailure) {
        if driver.plan.warmUpSeconds > 0 {
            try driver.publish(seconds: Double(driver.plan.warmUpSeconds))
            try driver.drain()
        }
        driver.resetMemory()
        let interval = Interval(driver)
        try driver.publish(seconds: Double(driver.plan.seconds))
        try driver.drain()
        interval.report(to: &result)
        driver.addMemory(to: &result)
        driver.addVerdict(to: &result)
    }

    private static func register(
        _ index: Int, at receiver: Receiver, _ driver: Driver, _ control: ControlRequests
    ) throws(BenchFailure) -> String {
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("url", "http://127.0.0.1:\(receiver.port)/hook/\(index)")
            writer.key("channels")
            writer.beginArray()
            writer.string("bench-\(driver.run)-00000")
            writer.endArray()
            writer.endObject()
        }
        let answer = try control.send("POST", "/v1/webhooks", body.bytes)
        // A body that is not JSON contains no id.
        guard answer.status == 201, let document = try? JSONDocument(answer.body), let id = document.root["id"]?.string
        else {
            throw BenchFailure("a webhook could not be registered; the server responded with \(answer.status)")
        }
        return id
    }

    private static func remove(_ webhooks: [String], _ control: ControlRequests) {
        // A gateway that has ended does not respond. The run has then failed and reports the reason.
        for id in webhooks { _ = try? control.send("DELETE", "/v1/webhooks/\(id)", nil) }
    }
}

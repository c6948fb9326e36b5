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
                made.append(
                    try control.createWebhook(
                        url: "http://127.0.0.1:\(receiver.port)/hook/\(index)", channel: "bench-\(driver.run)-00000"))
                driver.ledger.join(index, channel: 0)
            }
            try measure(driver, &result)
        } catch {
            control.deleteWebhooks(made)
            throw error
        }
        control.deleteWebhooks(made)
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
}

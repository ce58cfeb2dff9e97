import Foundation

/// Where calls go and what they say about the device.
package struct Options: Sendable {
    package var url: String
    /// A publishable key. Without one, calls carry no credential of the app.
    package var key: String?
    package var bundleId: String?
    package var device: Device
    /// Takes lines about what the SDK does.
    package var debug: (@Sendable (String) -> Void)?

    package init(
        url: String, key: String? = nil, bundleId: String?, device: Device = Device(),
        debug: (@Sendable (String) -> Void)? = nil
    ) {
        self.url = url
        self.key = key
        self.bundleId = bundleId
        self.device = device
        self.debug = debug
    }
}

/// The SDK of one install. Its functions may be called from anywhere, return at once and take effect in the order of
/// their calls. `done` is called when the call is in the storage, or in
/// memory only: before `configure`, and while the storage cannot be read or refuses it.
package actor Core {
    package typealias Done = @Sendable () -> Void

    private let engine: Engine
    private let network: any Network
    private let attester: any Attester
    private let inbox = Inbox<@Sendable (Engine) -> Void>()
    private var tasks: [Int: Task<Void, Never>] = [:]

    package init(environment: Environment) {
        engine = Engine(environment)
        network = environment.network
        attester = environment.attester
    }

    /// Starts the SDK, or changes its options.
    package nonisolated func configure(_ options: Options) {
        send { $0.configure(options) }
    }

    package nonisolated func identify(
        _ userId: String, attributes: Attributes = [:], done: Done? = nil
    ) {
        send { $0.identify(userId, attributes, done) }
    }

    package nonisolated func setAttributes(_ attributes: Attributes, done: Done? = nil) {
        send { $0.setAttributes(attributes, done) }
    }

    package nonisolated func attributePurchase(
        _ purchase: Purchase, _ occasion: Occasion = .asked, done: Done? = nil
    ) {
        send { $0.attributePurchase(purchase, occasion, done) }
    }

    package nonisolated func reset(done: Done? = nil) {
        send { $0.reset(done) }
    }

    /// The foreground or a connection: tries now what failed for lack of a connection.
    package nonisolated func wake() {
        send { $0.wake() }
    }

    /// Tries to send now. Returns when all that can be sent was sent.
    package nonisolated func flush() async {
        await withCheckedContinuation { done in send { $0.flush { done.resume() } } }
    }

    package nonisolated func debugState() async -> DebugState {
        await withCheckedContinuation { done in send { done.resume(returning: $0.debugState()) } }
    }

    /// Runs `work` after all that was sent before.
    private nonisolated func send(_ work: @escaping @Sendable (Engine) -> Void) {
        inbox.add(work)
        Task { await self.run() }
    }

    private func run() {
        while let work = inbox.next() { work(engine) }
        for (id, effect) in engine.takeEffects() { perform(effect, id) }
    }

    private func perform(_ effect: Effect, _ id: Int) {
        if case .cancel(let other) = effect {
            tasks.removeValue(forKey: other)?.cancel()
            return
        }
        tasks[id] = Task { [network, attester] in
            let outcome = await effect.outcome(network, attester)
            if !Task.isCancelled { self.finish(id, outcome) }
        }
    }

    private func finish(_ id: Int, _ outcome: Outcome) {
        tasks[id] = nil
        engine.finish(id, outcome)
        run()
    }
}

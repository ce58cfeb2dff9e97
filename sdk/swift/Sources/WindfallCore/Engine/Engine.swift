/// The SDK of one install, without threads: each function runs to its end, and what it wants from outside is an effect.
/// Calls wait in memory until the stored state is loaded; from then on memory has everything, and the storage follows.
final class Engine {
    let environment: Environment
    var target: Target?
    var debug: (String) -> Void = { _ in }

    var store: Store
    var isLoaded = false
    /// What is stored beside the queue, once it is loaded.
    var state = State(anonymousId: "")
    /// The queue, in order.
    var entries: [Entry] = []
    /// The highest sequence number so far.
    var last = 0
    /// Whether the stored state has refused proofs.
    var hasStoredProofs = false

    /// The name of the item that is being sent: it is neither joined nor dropped.
    var inFlight: String?
    /// Waits after a lost connection, by destination. They end with the process.
    var soft: [String: State.Kept] = [:]
    var lastAnswer: String?
    var enrolment = Enrolment()

    /// Calls that the storage has not taken yet, and those before `configure`.
    private var calls: [(run: (Engine, Target) -> Void, done: (() -> Void)?)] = []
    private var flushes: [() -> Void] = []
    private var alarm: Int?
    private var stalls = 0

    private var effects: [(Int, Effect)] = []
    private var waiting: [(id: Int, then: (Outcome) -> Void)] = []
    private var asked = 0

    init(_ environment: Environment) {
        self.environment = environment
        store = Store(environment.storage)
    }

    var now: Double { environment.now() }
}

/// Where calls go now.
final class Target {
    let url: String
    let bundleId: String
    let key: String?
    let device: Device

    init(url: String, bundleId: String, key: String?, device: Device) {
        self.url = url
        self.bundleId = bundleId
        self.key = key
        self.device = device
    }

    var lane: String { "\(url) \(bundleId)" }
}

private let mostEarlyCalls = 100
private let mostCalls = 1000

// Calls.
extension Engine {
    /// Runs `run` in its turn; `done` follows it. Calls before `configure` wait for it.
    func call(_ run: @escaping (Engine, Target) -> Void, _ done: (() -> Void)?) {
        if calls.count < (target == nil ? mostEarlyCalls : mostCalls) {
            calls.append((run, done))
        } else {
            debug("too many calls")
            done?()
        }
        wake()
    }

    /// Foreground, connectivity or a call: tries now what failed for lack of a connection.
    func wake() {
        soft = [:]
        enrolment.soft = nil
        pump()
    }

    /// `done` follows when all that can be sent was sent.
    func flush(_ done: @escaping () -> Void) {
        flushes.append(done)
        wake()
    }

    /// Runs the calls, then sends what need not wait. Each event ends here.
    func pump() {
        guard let target else { return endWaits() }
        guard load() else {
            stalls += 1
            setAlarm(jitter(environment.random(), stalls, softMs))
            return endWaits()
        }
        stalls = 0
        while !calls.isEmpty {
            let call = calls.removeFirst()
            state.prune(now)
            call.run(self, target)
            call.done?()
        }
        let enrolsIn = enrolIfDue()
        if inFlight == nil { sendNext(enrolsIn) }
    }

    private func sendNext(_ enrolsIn: Double) {
        switch pick() {
        case .send(let entry): send(entry)
        case .wait(let milliseconds):
            setAlarm(min(milliseconds, enrolsIn))
            if !enrolment.isHolding { endFlushes() }
        }
    }

    /// Nobody waits for a `configure` that may never come, or for a storage that may stay unreadable.
    private func endWaits() {
        for index in calls.indices {
            calls[index].done?()
            calls[index].done = nil
        }
        endFlushes()
    }

    private func endFlushes() {
        let ended = flushes
        flushes = []
        for done in ended { done() }
    }

    private func setAlarm(_ milliseconds: Double) {
        if let alarm { cancel(alarm) }
        alarm = nil
        guard milliseconds < dayMs * 2 else { return }
        alarm = ask(.timer(milliseconds: milliseconds + 1)) { [unowned self] _ in
            alarm = nil
            pump()
        }
    }

    var hasWaitingCalls: Bool { !calls.isEmpty }
}

// Effects.
extension Engine {
    /// What is to be done outside, each with the number for `finish`.
    func takeEffects() -> [(Int, Effect)] {
        defer { effects = [] }
        return effects
    }

    /// Reports the outcome of an effect.
    func finish(_ id: Int, _ outcome: Outcome) {
        guard let at = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: at).then(outcome)
    }

    /// Wants `effect`; `then` gets its outcome, once.
    @discardableResult
    func ask(_ effect: Effect, _ then: @escaping (Outcome) -> Void) -> Int {
        asked += 1
        waiting.append((asked, then))
        effects.append((asked, effect))
        return asked
    }

    /// Wants `effect`; after a while without an outcome `late` is the outcome.
    func ask(_ effect: Effect, or late: Outcome, _ then: @escaping (Outcome) -> Void) {
        var timer = 0
        let id = ask(effect) { [unowned self] outcome in
            cancel(timer)
            then(outcome)
        }
        timer = ask(.timer(milliseconds: answerMs)) { [unowned self] _ in
            cancel(id)
            then(late)
        }
    }

    func cancel(_ id: Int) {
        guard let at = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: at)
        effects.append((id, .cancel(id)))
    }
}

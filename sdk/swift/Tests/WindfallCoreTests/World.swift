import Foundation

@testable import WindfallCore

/// An operation of the storage.
enum Operation {
    case read, write, remove, names
}

/// Whether an operation of the storage fails; `after` fails although it took effect.
enum Fault {
    case no, before, after
}

struct Failure: Error {
    let text: String
}

/// The world around the SDK in tests: a clock and timers turned by hand, a network and a storage that fail on request, and
/// processes that are killed between any two operations. A test uses it from one thread.
final class World: @unchecked Sendable {
    /// What survives a kill.
    var stored: [String: String] = [:]
    var cells: [String: String] = [:]
    /// Time that only goes forward, for timers; the wall clock is `skew` ahead.
    private var monotonic = 0.0
    private var skew = 1_767_225_600_000.0
    var fault: (Operation) -> Fault = { _ in .no }
    /// The answer of the network; nil without an answer.
    var answer: (Request) -> Reply = { _ in .now(nil) }
    var random: () -> Double = { 1 }
    let device = AttestedDevice()
    var warnings = 0
    private(set) var process: Process!
    private var uuids = SplitMix(seed: 1)

    enum Reply {
        case now(Answer?)
        /// The answer comes with `release`.
        case later(Answer?)
    }

    init() { boot() }

    var now: Double { monotonic + skew }

    /// Turns the wall clock alone.
    func turnClock(_ milliseconds: Double) { skew += milliseconds }

    /// Starts a process. The one before stops in the middle of whatever it does.
    func boot() {
        process?.kill()
        process = Process(self)
    }

    func environment(_ process: Process) -> Environment {
        Environment(
            now: { [unowned self] in now }, random: { [unowned self] in random() },
            uuid: { [unowned self] in uuid() }, storage: ProcessStorage(process: process),
            anonymousId: ProcessCell(process: process, name: "anonymousId"),
            enrolment: ProcessCell(process: process, name: "enrolment"), network: Unused(),
            attester: device, warn: { [unowned self] _ in warnings += 1 })
    }

    private func uuid() -> String {
        var digits = (0..<32).map { _ in String(uuids.next() % 16, radix: 16) }
        digits[12] = "4"
        digits[16] = ["8", "9", "a", "b"][Int(uuids.next() % 4)]
        let text = digits.joined()
        var parts: [Substring] = []
        var rest = Substring(text)
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return parts.joined(separator: "-")
    }

    /// Lets time pass, and runs the timers that are due.
    func advance(_ milliseconds: Double) {
        let end = monotonic + milliseconds
        while let due = process.nextTimer, due <= end {
            monotonic = max(monotonic, due)
            process.fireTimer()
        }
        monotonic = end
    }

    fileprivate var monotonicNow: Double { monotonic }
}

/// One process of the app. After a kill nothing that it began goes on, and nothing that it does has an effect.
final class Process: @unchecked Sendable {
    private unowned let world: World
    private(set) var engine: Engine!
    private(set) var isDead = false
    /// Half operations until the process is killed.
    private var left = Int.max
    /// Writes that the storage refused and that were not repeated since.
    private var refused: Set<String> = []
    private var timers: [(id: Int, at: Double)] = []
    private var late: [(id: Int, answer: Answer?)] = []

    init(_ world: World) {
        self.world = world
        engine = Engine(world.environment(self))
    }

    func kill() {
        isDead = true
        timers = []
        late = []
    }

    /// Kills the process after so many half operations.
    func doom(_ steps: Int) { left = steps }

    var isFailing: Bool { !refused.isEmpty }
    var nextTimer: Double? { isDead ? nil : timers.map(\.at).min() }

    /// Calls the engine, then lets everything happen that needs no timer.
    func run<T>(_ work: (Engine) -> T) -> T {
        let result = work(engine)
        settle()
        return result
    }

    private func settle() {
        while !isDead, case let effects = engine.takeEffects(), !effects.isEmpty {
            for (id, effect) in effects where !isDead { perform(id, effect) }
        }
    }

    private func perform(_ id: Int, _ effect: Effect) {
        switch effect {
        case .timer(let milliseconds): timers.append((id, world.monotonicNow + milliseconds))
        case .cancel(let other): timers.removeAll { $0.id == other }
        case .post(let request): post(id, request)
        case .makeKey: finish(id, .key(world.device.result { try $0.newKey() }))
        case .attest(let key, let hash):
            finish(id, .signed(world.device.result { try $0.signed(key, hash, "attestation") }))
        case .assert(let key, let hash):
            finish(id, .signed(world.device.result { try $0.signed(key, hash, "assertion") }))
        }
    }

    private func post(_ id: Int, _ request: Request) {
        guard isLive() else { return }
        switch world.answer(request) {
        case .now(let answer):
            if isLive() { engine.finish(id, .answer(answer)) }
        case .later(let answer): late.append((id, answer))
        }
    }

    private func finish(_ id: Int, _ outcome: Outcome) {
        if isLive() { engine.finish(id, outcome) }
    }

    /// Answers that were late arrive.
    func release() {
        for (id, answer) in late where !isDead { run { $0.finish(id, .answer(answer)) } }
        late = []
    }

    func fireTimer() {
        guard let timer = timers.min(by: { $0.at < $1.at }) else { return }
        timers.removeAll { $0.id == timer.id }
        run { $0.finish(timer.id, .fired) }
    }

    private func isLive() -> Bool {
        if isDead { return false }
        left -= 1
        if left < 0 { kill() }
        return !isDead
    }

    /// The state that the storage refused is still missing when the one before it is removed.
    private func note(_ operation: Operation, _ name: String, isRefused: Bool) {
        guard operation == .write || operation == .remove else { return }
        if isRefused {
            refused.insert(name)
        } else if operation == .write || name.hasPrefix("q.") {
            refused.remove(name)
        }
    }

    /// An operation of the storage, which may fail.
    fileprivate func touch<T>(_ operation: Operation, _ name: String, _ work: () -> T) throws -> T {
        try step {
            let fault = world.fault(operation)
            note(operation, name, isRefused: fault != .no)
            if fault == .before { throw Failure(text: "failed") }
            let value = work()
            if fault == .after { throw Failure(text: "failed late") }
            return value
        }
    }

    /// Runs an operation of the process, or kills the process before or after it.
    fileprivate func step<T>(_ work: () throws -> T) throws -> T {
        guard isLive() else { throw Failure(text: "killed") }
        let result = Result { try work() }
        guard isLive() else { throw Failure(text: "killed") }
        return try result.get()
    }

    fileprivate var storedWorld: World { world }
}

private struct ProcessStorage: Storage {
    let process: Process

    func read(_ name: String) throws -> String? {
        try process.touch(.read, name) { process.storedWorld.stored[name] }
    }
    func write(_ name: String, _ text: String) throws {
        try process.touch(.write, name) { process.storedWorld.stored[name] = text }
    }
    func remove(_ name: String) throws {
        try process.touch(.remove, name) { process.storedWorld.stored[name] = nil }
    }
    func names() throws -> [String] {
        try process.touch(.names, "") { Array(process.storedWorld.stored.keys) }
    }
}

/// A place for one text, which a kill may hit as well, and whose operations do not fail.
private struct ProcessCell: Cell {
    let process: Process
    let name: String

    func read() throws -> String? { process.storedWorld.cells[name] }
    func write(_ text: String?) throws {
        try process.step { process.storedWorld.cells[name] = text }
    }
}

/// Tests perform effects themselves.
private struct Unused: Network {
    func post(_ request: Request) async -> Answer? { nil }
}

/// A device whose App Attest works as a test says.
final class AttestedDevice: Attester, @unchecked Sendable {
    var support = AttestationSupport.unsupported
    private(set) var keys = 0
    /// Keys with a lower number are not known any more.
    var firstKnown = 0
    private(set) var signatures = 0

    func newKey() throws -> String {
        keys += 1
        return "key-\(keys)"
    }

    /// What the hash is of is for the server to check.
    func signed(_ key: String, _ hash: Data, _ kind: String) throws -> Data {
        guard let number = Int(key.dropFirst(4)), number > firstKnown else { throw AttestationError.invalidKey }
        signatures += 1
        return Data("\(kind) \(signatures) \(key) \(hash.base64EncodedString())".utf8)
    }

    func result<T>(_ work: (AttestedDevice) throws -> T) -> Result<T, AttestationError> {
        do { return .success(try work(self)) } catch { return .failure(error as? AttestationError ?? .failed) }
    }

    func makeKey() async throws -> String { try newKey() }
    func attest(keyId: String, clientDataHash: Data) async throws -> Data {
        try signed(keyId, clientDataHash, "attestation")
    }
    func assert(keyId: String, clientDataHash: Data) async throws -> Data {
        try signed(keyId, clientDataHash, "assertion")
    }
}

/// Random numbers from a seed.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

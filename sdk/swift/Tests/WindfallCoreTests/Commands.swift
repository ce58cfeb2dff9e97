@testable import WindfallCore

let hour = 3_600_000.0

enum StorageMode: CaseIterable {
    case good, full, writesFailLate, removesFail, removesFailLate, readsFail

    var fault: (Operation) -> Fault {
        switch self {
        case .good: return { _ in .no }
        case .full: return { $0 == .write ? .before : .no }
        case .writesFailLate: return { $0 == .write ? .after : .no }
        case .removesFail: return { $0 == .remove ? .before : .no }
        case .removesFailLate: return { $0 == .remove ? .after : .no }
        case .readsFail: return { $0 == .read || $0 == .names ? .before : .no }
        }
    }
}

enum Command {
    case call(ModelCall)
    case network(ModelServer.Mode)
    case storage(StorageMode)
    case pass(Double)
    case clock(Double)
    case kill
    case flush
    /// Kills the process this many half operations later, most often in the middle of a call.
    case doom(Int)
}

extension Command {
    /// A random command. Each call gets a value of its own when it runs.
    static func random(_ source: inout SplitMix) -> Command {
        switch Int.random(in: 0..<20, using: &source) {
        case 0..<8: return .call(.random(&source))
        case 8..<11:
            return .network(Bool.random(using: &source) ? .open : ModelServer.Mode.allCases.randomElement(using: &source)!)
        case 11: return .storage(StorageMode.allCases.randomElement(using: &source)!)
        case 12..<14: return .pass([500, 5000, 60_000, hour, 26 * hour].randomElement(using: &source)!)
        case 14: return .clock([-400 * 24 * hour, -hour, hour, 5 * 24 * hour].randomElement(using: &source)!)
        case 15: return .kill
        case 16: return .flush
        default: return .doom(Int.random(in: 1...60, using: &source))
        }
    }
}

extension ModelCall {
    fileprivate static func random(_ source: inout SplitMix) -> ModelCall {
        switch Int.random(in: 0..<4, using: &source) {
        case 0:
            let user = ["ann", "bob"].randomElement(using: &source)!
            return .identify(user: user, value: Bool.random(using: &source) ? 0 : nil)
        case 1: return .setAttributes(name: ["a", "b"].randomElement(using: &source)!, value: 0)
        case 2: return .reset
        default:
            let id = ["1", "2", "3"].randomElement(using: &source)!
            let proof = [nil, ModelServer.goodProof, ModelServer.badProof].randomElement(using: &source)!
            return .attributePurchase(id: id, isAsked: Bool.random(using: &source), jws: proof)
        }
    }

    fileprivate func numbered(_ number: Int) -> ModelCall {
        switch self {
        case .identify(let user, let value): return .identify(user: user, value: value == nil ? nil : number)
        case .setAttributes(let name, _): return .setAttributes(name: name, value: number)
        default: return self
        }
    }
}

/// One run: an install, its network and the server behind it.
final class Run {
    let world = World()
    let server = ModelServer()
    private(set) var kills = 0
    private var model: Model
    private var mode = ModelServer.Mode.open
    private var storage = StorageMode.good
    /// Whether the storage refused a write that has not been written since.
    private var isFailing = false
    private var calls = 0

    init() {
        world.answer = server.answer
        var random = 1
        world.random = {
            random = random * 48_271 % 2_147_483_647
            return Double(random) / 2_147_483_647
        }
        model = Model(ModelIdentity(user: nil, anonymousId: ""))
        start()
        model = Model(identity)
    }

    private func start() {
        let options = Options(
            url: "https://windfall.example.com", bundleId: "com.example.lantern", device: Device(platform: "ios"))
        world.process.run { $0.configure(options) }
    }

    private var identity: ModelIdentity {
        let state = world.process.run { $0.debugState() }
        let isKnown = state.appUserId != state.anonymousId
        return ModelIdentity(user: isKnown ? state.appUserId : nil, anonymousId: state.anonymousId ?? "")
    }

    func execute(_ command: Command) throws {
        switch command {
        case .call(let call): try make(call)
        case .network(let next): setNetwork(next)
        case .storage(let next): setStorage(next)
        case .pass(let milliseconds): world.advance(milliseconds)
        case .clock(let milliseconds): world.turnClock(milliseconds)
        case .kill: try restart()
        case .flush: world.process.run { $0.flush {} }
        case .doom(let steps): world.process.doom(steps)
        }
        if world.process.isDead { try restart() }
    }

    private func make(_ given: ModelCall) throws {
        calls += 1
        let call = given.numbered(calls)
        let process = world.process!
        // The identity of the moment when the call ends; nil if a kill cuts it.
        var after: String?
        let done = { if !process.isDead && process.engine.isLoaded { after = process.engine.state.anonymousId } }
        process.run { engine in
            switch call {
            case .identify(let user, let value):
                engine.identify(user, value.map { ["a": .int($0)] } ?? [:], done)
            case .setAttributes(let name, let value): engine.setAttributes([name: .int(value)], done)
            case .reset: engine.reset(done)
            case .attributePurchase(let id, let isAsked, let jws):
                let purchase = Purchase(originalTransactionId: id, productId: "pro", jws: jws)
                engine.attributePurchase(purchase, isAsked ? .asked : .observed, done)
            }
        }
        guard let after else {
            model.apply(call, "", .cut)
            return try restart()
        }
        isFailing = process.isFailing
        model.apply(call, after, isFailing ? .risky : .stored)
    }

    private func restart() throws {
        kills += 1
        let isPure = !isFailing && !world.process.isFailing
        repeat {
            server.mode = .offline
            world.fault = storage == .readsFail ? storage.fault : StorageMode.good.fault
            world.boot()
            start()
            world.fault = StorageMode.good.fault
            world.process.run { $0.wake() }
        } while world.process.isDead
        isFailing = false
        try model.restart(identity, isPure: isPure)
        world.fault = storage.fault
        setNetwork(mode)
        world.process.run { $0.wake() }
    }

    /// Answers that were late arrive.
    private func setNetwork(_ next: ModelServer.Mode) {
        mode = next
        server.mode = next
        world.process.release()
    }

    private func setStorage(_ next: StorageMode) {
        storage = next
        world.fault = next.fault
    }

    /// Heals everything, waits four days, and compares the server with the model.
    func finish() throws {
        world.process.doom(.max)
        setStorage(.good)
        setNetwork(.open)
        server.areProofsGood = true
        world.advance(50 * hour)
        world.process.run { $0.wake() }
        world.advance(50 * hour)
        let queue = world.process.run { $0.debugState() }.queue
        if !queue.isEmpty { throw Failure(text: "\(queue.count) items are left") }
        if let fault = server.fault(model) { throw Failure(text: fault) }
    }
}

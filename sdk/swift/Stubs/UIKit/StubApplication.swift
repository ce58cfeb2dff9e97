/// The system around the app of a test: its background time.
import Foundation

public final class StubApplication: @unchecked Sendable {
    public static let shared = StubApplication()

    private let lock = NSLock()
    private var state = State()

    private struct State {
        var isExtension = false
        var refuses = false
        var running: [UIBackgroundTaskIdentifier: @MainActor @Sendable () -> Void] = [:]
        var begun = 0
        var strayEnds = 0
        var waiting: [@Sendable () -> Void] = []
    }

    public func reset() { locked { $0 = State() } }

    /// An app extension has no application.
    public var isExtension: Bool {
        get { locked { $0.isExtension } }
        set { locked { $0.isExtension = newValue } }
    }

    /// The system gives no background time.
    public var refusesBackgroundTime: Bool {
        get { locked { $0.refuses } }
        set { locked { $0.refuses = newValue } }
    }

    /// How many background tasks began since the reset, and how many still run.
    public var begun: Int { locked { $0.begun } }
    public var running: Int { locked { $0.running.count } }

    /// How often a task was ended that did not run.
    public var strayEnds: Int { locked { $0.strayEnds } }

    /// Calls `work` when no background task runs.
    public func whenNoneRuns(_ work: @escaping @Sendable () -> Void) {
        let isDone = locked { state in
            if state.running.isEmpty { return true }
            state.waiting.append(work)
            return false
        }
        if isDone { work() }
    }

    /// The background time ends: the system calls the expiration handlers.
    @MainActor
    public func expireBackgroundTime() {
        for handler in locked({ Array($0.running.values) }) { handler() }
    }

    @MainActor var application: UIApplication? { isExtension ? nil : instance }
    @MainActor private lazy var instance = UIApplication()

    func begin(_ handler: (@MainActor @Sendable () -> Void)?) -> UIBackgroundTaskIdentifier {
        locked { state in
            if state.refuses { return .invalid }
            state.begun += 1
            let identifier = UIBackgroundTaskIdentifier(rawValue: state.begun)
            state.running[identifier] = handler ?? {}
            return identifier
        }
    }

    func end(_ identifier: UIBackgroundTaskIdentifier) {
        let met = locked { state in
            if state.running.removeValue(forKey: identifier) == nil { state.strayEnds += 1 }
            defer { if state.running.isEmpty { state.waiting = [] } }
            return state.running.isEmpty ? state.waiting : []
        }
        for work in met { work() }
    }

    private func locked<T>(_ work: (inout State) -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return work(&state)
    }
}

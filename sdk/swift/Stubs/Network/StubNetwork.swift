/// The network of a test.
import Dispatch
import Foundation

public final class StubNetwork: @unchecked Sendable {
    public static let shared = StubNetwork()

    private let lock = NSLock()
    private var monitors: [(queue: DispatchQueue, handler: @Sendable (NWPath) -> Void)] = []

    /// Nobody monitors any more.
    public func reset() {
        lock.lock()
        defer { lock.unlock() }
        monitors = []
    }

    public var monitorCount: Int {
        lock.lock()
        defer { lock.unlock() }
        return monitors.count
    }

    /// The path changes; returns when each monitor has heard it.
    public func change(to status: NWPath.Status) {
        lock.lock()
        let all = monitors
        lock.unlock()
        for (queue, handler) in all { queue.sync { handler(NWPath(status: status)) } }
    }

    /// A monitor hears the present path once it starts, as Apple's does.
    func add(_ queue: DispatchQueue, _ handler: @escaping @Sendable (NWPath) -> Void) {
        lock.lock()
        defer { lock.unlock() }
        monitors.append((queue, handler))
        queue.async { handler(NWPath(status: .satisfied)) }
    }
}

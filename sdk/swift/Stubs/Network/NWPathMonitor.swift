/// Stands in for Network on Linux: the names that `Windfall` uses, with Apple's signatures.
import Dispatch
import Foundation

public struct NWPath {
    public enum Status: Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }

    public let status: Status
}

public final class NWPathMonitor {
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?

    public init() {}

    public func start(queue: DispatchQueue) {
        guard let pathUpdateHandler else { return }
        StubNetwork.shared.add(queue, pathUpdateHandler)
    }
}

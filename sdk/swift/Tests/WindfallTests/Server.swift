import Foundation
import WindfallCore
import XCTest

/// A server that accepts what it gets, and keeps it.
final class Server: Network, @unchecked Sendable {
    struct Call: Sendable, Equatable {
        let path: String
        let headers: [String: String]
        let body: [String: String]
    }

    private struct State {
        var calls: [Call] = []
        var lost = 0
        var isOffline = false
        var held: [CheckedContinuation<Void, Never>]?
        var waiting: [(id: UUID, isMet: ([Call]) -> Bool, done: CheckedContinuation<Void, Never>)] = []
    }

    private let lock = NSLock()
    private var state = State()

    /// Requests get no answer.
    var isOffline: Bool {
        get { locked { $0.isOffline } }
        set { locked { $0.isOffline = newValue } }
    }

    /// How many requests got no answer.
    var lost: Int { locked { $0.lost } }
    var calls: [Call] { locked { $0.calls } }
    var purchases: [Call] { calls.filter { $0.path == "attribute" } }

    /// Answers wait until `release`.
    func hold() { locked { $0.held = [] } }

    func release() {
        let held = locked { state in
            defer { state.held = nil }
            return state.held ?? []
        }
        for answer in held { answer.resume() }
    }

    /// Returns when the purchases that arrived are at least so many.
    func waitForPurchases(_ count: Int) async {
        await wait { $0.filter { $0.path == "attribute" }.count >= count }
    }

    /// Returns when the calls meet the condition; fails the test if they never do.
    func wait(until isMet: @escaping @Sendable ([Call]) -> Bool) async {
        let id = UUID()
        let limit = Task {
            try await Task.sleep(nanoseconds: 10_000_000_000)
            XCTFail("the calls never came")
            self.end(id)
        }
        await withCheckedContinuation { done in
            let isMetNow = locked { state in
                if isMet(state.calls) { return true }
                state.waiting.append((id, isMet, done))
                return false
            }
            if isMetNow { done.resume() }
        }
        limit.cancel()
    }

    func post(_ request: Request) async -> Answer? {
        await pause()
        if isOffline {
            locked { state in state.lost += 1 }
            notify()
            return nil
        }
        let fields = (try? JSONSerialization.jsonObject(with: request.body)) as? [String: Any] ?? [:]
        let path = request.url.components(separatedBy: "/sdk/v1/").last ?? ""
        let call = Call(
            path: path, headers: request.headers, body: fields.compactMapValues { $0 as? String })
        locked { state in state.calls.append(call) }
        notify()
        let answer = (try? JSONSerialization.data(withJSONObject: self.answer(to: call))) ?? Data()
        return Answer(status: 200, body: answer)
    }

    private func answer(to call: Call) -> [String: String] {
        switch call.path {
        case "attest/challenge": return ["challenge": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]
        case "attest": return ["deviceToken": "dt_\(calls.filter { $0.path == "attest" }.count)"]
        default:
            let isDevice = call.headers["authorization"]?.hasPrefix("Bearer dt_") == true
            return call.body.merging(["verification": isDevice ? "verified" : "unverified"]) { $1 }
        }
    }

    private func pause() async {
        await withCheckedContinuation { answer in
            let isHeld = locked { state in
                state.held?.append(answer)
                return state.held != nil
            }
            if !isHeld { answer.resume() }
        }
    }

    private func notify() {
        let met = locked { state in
            let met = state.waiting.filter { $0.isMet(state.calls) }
            state.waiting.removeAll { one in met.contains { $0.id == one.id } }
            return met
        }
        for one in met { one.done.resume() }
    }

    private func end(_ id: UUID) {
        let ended = locked { state in
            defer { state.waiting.removeAll { $0.id == id } }
            return state.waiting.filter { $0.id == id }
        }
        for one in ended { one.done.resume() }
    }

    private func locked<T>(_ work: (inout State) -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return work(&state)
    }
}

import Foundation
import XCTest

@testable import WindfallCore

/// The actor, with its real timers and many threads.
final class CoreTests: XCTestCase {
    /// A network that accepts every call and counts them.
    private actor Acceptance: Network {
        private(set) var bodies: [JsonValue] = []

        func post(_ request: Request) async -> Answer? {
            guard let body = try? JsonValue(parsing: request.body) else { return nil }
            bodies.append(body)
            let names = ["appUserId", "bundleId", "originalTransactionId"]
            let fields = (body.object ?? [:]).filter { names.contains($0.key) }
            return Answer(status: 200, body: Json.data(JsonValue.object(fields)))
        }
    }

    private final class MemoryCell: Cell, @unchecked Sendable {
        func read() throws -> String? { nil }
        func write(_ text: String?) throws {}
    }

    private func core(_ network: any Network) -> Core {
        Core(
            environment: .standard(
                folder: FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString),
                anonymousId: MemoryCell(), enrolment: MemoryCell(), network: network, attester: AttestedDevice()))
    }

    func testCallsTakeEffectInTheirOrderFromWhateverThread() async {
        let network = Acceptance()
        let core = core(network)
        core.attributePurchase(Purchase(originalTransactionId: "1"))
        core.configure(Options(url: "https://a.example.com", bundleId: "b"))
        for number in 2...60 {
            core.attributePurchase(Purchase(originalTransactionId: String(number)))
        }
        await core.flush()
        let ids = await network.bodies.map { $0["originalTransactionId"]?.text }
        XCTAssertEqual(ids, (1...60).map(String.init))
    }

    func testCallsFromManyThreadsAllArrive() async {
        let network = Acceptance()
        let core = core(network)
        core.configure(Options(url: "https://a.example.com", bundleId: "b"))
        await withTaskGroup(of: Void.self) { group in
            for number in 1...40 {
                group.addTask {
                    await withCheckedContinuation { done in
                        core.attributePurchase(Purchase(originalTransactionId: String(number))) { done.resume() }
                    }
                    core.wake()
                    _ = await core.debugState()
                    await core.flush()
                }
            }
        }
        await core.flush()
        let ids = await network.bodies.compactMap { $0["originalTransactionId"]?.text }
        XCTAssertEqual(Set(ids), Set((1...40).map(String.init)))
        let state = await core.debugState()
        XCTAssertTrue(state.queue.isEmpty)
        XCTAssertEqual(state.storage, .ok)
    }

    func testNobodyWaitsForAConfigureThatDoesNotCome() async {
        let core = core(Acceptance())
        await withCheckedContinuation { done in
            core.attributePurchase(Purchase(originalTransactionId: "1")) { done.resume() }
        }
        core.configure(Options(url: "no address", bundleId: "b"))
        await withCheckedContinuation { done in core.identify("ann") { done.resume() } }
        await core.flush()
        let state = await core.debugState()
        XCTAssertFalse(state.configured)
    }

    func testWithoutAFolderMemoryKeepsTheQueue() async {
        let environment = Environment.standard(
            folder: URL(fileURLWithPath: "/proc/none"), anonymousId: MemoryCell(), enrolment: MemoryCell(),
            network: Acceptance(), attester: AttestedDevice())
        let core = Core(environment: environment)
        core.configure(Options(url: "https://a.example.com", bundleId: "b"))
        core.identify("ann")
        await core.flush()
        let state = await core.debugState()
        XCTAssertEqual(state.storage, .memory)
        XCTAssertEqual(state.lastAnswer, "200")
    }
}

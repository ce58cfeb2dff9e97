import Foundation
import XCTest

@testable import WindfallCore

/// The SDK against a model: random calls, kills between any two operations, a storage and a network that fail. No call is
/// lost, none applies to the wrong user, none takes effect twice, and the order of each user's calls is kept.
///
/// `WINDFALL_LONG=1` runs 20,000 sequences; `WINDFALL_SEED` is the seed of the first.
final class PropertyTests: XCTestCase {
    private let environment = ProcessInfo.processInfo.environment

    func testRandomSequences() {
        let count = environment["WINDFALL_LONG"] == "1" ? 20_000 : 500
        let first = environment["WINDFALL_SEED"].flatMap(UInt64.init) ?? 20_261_121
        print("\(count) sequences from seed \(first)")
        for seed in first..<first + UInt64(count) {
            guard let failure = failure(of: commands(seed)) else { continue }
            let (shortest, text) = shrunk(commands(seed), failure)
            XCTFail("WINDFALL_SEED=\(seed): \(text)\n\(shortest.map { "\($0)" }.joined(separator: "\n"))")
            return
        }
    }

    private func commands(_ seed: UInt64) -> [Command] {
        var source = SplitMix(seed: seed)
        return (0..<Int.random(in: 1...26, using: &source)).map { _ in .random(&source) }
    }

    private func failure(of commands: [Command]) -> String? {
        let run = Run()
        do {
            for one in commands { try run.execute(one) }
            try run.finish()
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Leaves out commands while what is left fails.
    private func shrunk(_ commands: [Command], _ failure: String) -> ([Command], String) {
        for at in commands.indices {
            var fewer = commands
            fewer.remove(at: at)
            if let next = self.failure(of: fewer) { return shrunk(fewer, next) }
        }
        return (commands, failure)
    }

    func testTheModelNoticesLostAndForeignCalls() throws {
        let run = Run()
        try run.execute(.call(.identify(user: "ann", value: 1)))
        try run.execute(.call(.attributePurchase(id: "1", isAsked: true, jws: nil)))
        run.server.links["1"] = ["ann", "bob"]
        XCTAssertThrowsError(try run.finish())
        run.server.links["1"] = nil
        XCTAssertThrowsError(try run.finish())
        run.server.links["1"] = ["ann"]
        XCTAssertNoThrow(try run.finish())
    }
}

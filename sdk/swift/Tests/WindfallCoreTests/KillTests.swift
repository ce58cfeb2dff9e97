import XCTest

@testable import WindfallCore

/// Kills in every gap between two operations: each scenario runs once for each operation of the storage and the network, is
/// killed before or after it, and goes on.
final class KillTests: XCTestCase {
    /// What comes before the kill, what is killed, and what comes after it.
    private typealias Scenario = (before: [Command], killed: [Command], after: [Command])

    func testKillsAtEachStep() throws {
        for (name, scenario) in Self.scenarios.sorted(by: { $0.key < $1.key }) {
            var steps = 0
            var isKilled = true
            while isKilled {
                steps += 1
                let run = Run()
                for one in scenario.before { try run.execute(one) }
                try run.execute(.doom(steps))
                for one in scenario.killed { try run.execute(one) }
                isKilled = run.kills > 0
                for one in scenario.after { try run.execute(one) }
                XCTAssertNoThrow(try run.finish(), "\(name): killed after \(steps) half operations")
            }
            XCTAssertGreaterThan(steps, 3, name)
        }
    }

    private static let scenarios: [String: Scenario] = [
        "attributes of the anonymous id": ([], [attributes], [identify("ann")]),
        "attributes that join": ([offline, attributes], [attributes], [open, .flush, identify("ann")]),
        "a purchase of the anonymous id": ([], [buy("1")], [identify("ann")]),
        "a login": ([attributes, buy("1"), buy("2")], [identify("ann")], [.flush]),
        "a login offline": ([offline, attributes, buy("1"), buy("2")], [identify("ann")], [open, .flush]),
        "a login, then a purchase that nobody asked for": (
            [buy("1")], [identify("ann")], [observe("1"), .call(.reset), observe("1")]
        ),
        "another user": ([identify("ann"), buy("1")], [identify("bob")], [buy("1"), attributes]),
        "a logout": ([identify("ann"), buy("1")], [.call(.reset)], [observe("1"), attributes]),
        "a logout with a full storage": ([identify("ann"), full], [.call(.reset)], [buy("1")]),
        "sending": (
            [offline, identify("ann"), buy("1"), attributes, .call(.reset), buy("1")], [open, .flush], [.flush]
        ),
        "a refused proof": ([], [buy("1", bad)], [identify("ann"), day]),
        "a login after a refused proof": ([buy("1", bad)], [identify("ann")], [day, .flush]),
        "a refused proof of a purchase that moved": (
            [identify("ann"), buy("1", bad), identify("bob")], [buy("1")], [day]
        ),
        "a proof refused after the login": (
            [offline, buy("1", bad), identify("ann")], [open, .flush], [day, .flush]
        ),
        "sending before a logout": (
            [offline, identify("ann"), buy("1")], [open, .flush], [.flush, .call(.reset), observe("1")]
        ),
        "a proof refused after another user has the purchase": (
            [offline, identify("ann"), buy("1", bad), identify("bob"), buy("1")], [open, .flush], [day, .flush]
        ),
        "a proof that moved, with a full storage": (
            [identify("ann"), buy("1", bad), identify("bob"), full], [buy("1", good)], [.storage(.good), day]
        ),
        "a purchase that moved, with a full storage": (
            [identify("ann"), buy("1", bad), identify("bob"), full], [buy("1")], [.storage(.good), day]
        ),
        "the daily try of a proof": ([identify("ann"), buy("1", bad)], [day], [identify("bob"), buy("1")]),
    ]

    private static func identify(_ user: String) -> Command { .call(.identify(user: user, value: 0)) }
    private static func buy(_ id: String, _ jws: String? = nil) -> Command {
        .call(.attributePurchase(id: id, isAsked: true, jws: jws))
    }
    private static func observe(_ id: String) -> Command {
        .call(.attributePurchase(id: id, isAsked: false, jws: nil))
    }
    private static var attributes: Command { .call(.setAttributes(name: "a", value: 0)) }
    private static var offline: Command { .network(.offline) }
    private static var open: Command { .network(.open) }
    private static var full: Command { .storage(.full) }
    private static var day: Command { .pass(26 * hour) }
    private static var good: String { ModelServer.goodProof }
    private static var bad: String { ModelServer.badProof }
}

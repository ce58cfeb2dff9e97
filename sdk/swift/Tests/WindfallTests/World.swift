import DeviceCheck
import Foundation
import Network
import Security
import StoreKit
import UIKit
import WindfallCore
import XCTest

@testable import Windfall

/// What outlives a process of the app.
final class Phone: @unchecked Sendable {
    let storage = Files()
    let anonymousId = Place()
    let server = Server()
    let warnings = Lines()
    private var launched: [Sdk] = []

    /// Starts a process of the app: an SDK, not configured yet.
    func launch(attester: (any Attester)? = nil, enrolment: any Cell = Place()) -> Sdk {
        let attester = attester ?? AppAttest(isSimulator: true, environment: "production")
        let id = AnonymousIdCell(defaults: anonymousId, keychain: Place())
        let environment = Environment(
            // Waits are so long that no timer is due in a test.
            now: { Date().timeIntervalSince1970 * 1000 }, random: { 1000 }, uuid: { UUID().uuidString.lowercased() },
            storage: storage, anonymousId: id, enrolment: enrolment, network: server, attester: attester,
            warn: { [warnings] in warnings.add($0) })
        let sdk = Sdk(environment: environment, anonymousId: id)
        launched.append(sdk)
        return sdk
    }

    /// Returns when no process has anything to do. The stand-ins are shared: the next test must not hear of this one.
    func rest() async {
        for sdk in launched { await sdk.core.flush() }
    }
}

extension Sdk {
    /// Configures the SDK; returns when it listens, watches, and has read what StoreKit has.
    func start(autoTrack: Bool = true) async {
        let options = Options(url: "https://windfall.example.com", bundleId: "com.example.lantern")
        configure(options, autoTrack: autoTrack, keychain: false)
        await lifecycle.watch(core: core, store: store)
        if autoTrack { await store.start() }
        await store.read()
    }
}

/// The tests of a device whose system the stand-ins are.
class DeviceTestCase: XCTestCase {
    var phone = Phone()
    var server: Server { phone.server }

    override func setUp() {
        super.setUp()
        phone = Phone()
        StubStore.shared.reset()
        StubAppAttest.shared.reset()
        StubApplication.shared.reset()
        StubNetwork.shared.reset()
        StubKeychain.shared.reset()
    }

    override func tearDown() async throws {
        await phone.rest()
        // The test case outlives the test, and would keep its processes.
        phone = Phone()
        try await super.tearDown()
    }

    /// Returns when `work` calls what it gets; fails the test if it does not.
    func waitForCall(_ work: (@escaping @Sendable () -> Void) -> Void) async {
        let called = expectation(description: "called")
        work { called.fulfill() }
        await fulfillment(of: [called], timeout: 10)
    }

    /// The ids of the transactions that were reported, in order.
    var reported: [String] { server.purchases.map { transactionId(in: $0.body["jws"] ?? "") } }
}

/// The transaction id in a signed transaction.
func transactionId(in jws: String) -> String {
    let parts = jws.split(separator: ".").map(String.init)
    guard parts.count == 3 else { return "" }
    let text = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    let padded = text.padding(toLength: (text.count + 3) / 4 * 4, withPad: "=", startingAt: 0)
    let payload = Data(base64Encoded: padded).flatMap { try? JSONDecoder().decode([String: String].self, from: $0) }
    return payload?["transactionId"] ?? ""
}

/// A storage in memory.
final class Files: Storage, @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String: String] = [:]

    func read(_ name: String) throws -> String? { locked { texts[name] } }
    func write(_ name: String, _ text: String) throws { locked { texts[name] = text } }
    func remove(_ name: String) throws { locked { texts[name] = nil } }
    func names() throws -> [String] { locked { Array(texts.keys) } }

    private func locked<T>(_ work: () -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return work()
    }
}

/// A place in memory.
final class Place: Cell, @unchecked Sendable {
    private let lock = NSLock()
    private var text: String?

    init(_ text: String? = nil) { self.text = text }

    func read() throws -> String? {
        lock.lock()
        defer { lock.unlock() }
        return text
    }

    func write(_ text: String?) throws {
        lock.lock()
        self.text = text
        lock.unlock()
    }
}

/// Lines in order.
final class Lines: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []

    func add(_ line: String) {
        lock.lock()
        lines.append(line)
        lock.unlock()
    }

    var all: [String] {
        lock.lock()
        defer { lock.unlock() }
        return lines
    }
}

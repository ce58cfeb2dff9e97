import Foundation
import XCTest

@testable import WindfallCore

/// Enrolments whose answers are lost, late or refusals, and keys that are lost.
final class EnrolmentTests: XCTestCase {
    private let world = World()
    private var attestations: [JsonValue] = []
    private var calls: [Request] = []
    /// The answers to the next attestations; then a token.
    private var answers: [Answer?] = []
    private var isChallengeLate = false

    override func setUp() {
        world.device.support = .works(environment: "production")
        world.answer = { [unowned self] in answer($0) }
    }

    private func answer(_ request: Request) -> World.Reply {
        if request.url.hasSuffix("/challenge") {
            let bytes = Data(repeating: UInt8(attestations.count), count: 32)
            let answer = answered(200, ["challenge": bytes.base64EncodedString()])
            return isChallengeLate ? .later(answer) : .now(answer)
        }
        if request.url.hasSuffix("/attest") {
            attestations.append((try? JsonValue(parsing: request.body)) ?? .null)
            if !answers.isEmpty { return .now(answers.removeFirst()) }
            return .now(answered(200, ["deviceToken": "dt_\(attestations.count)"]))
        }
        calls.append(request)
        return .now(answered(200, ["appUserId": "ann", "bundleId": "com.example.lantern"]))
    }

    private func answered(_ status: Int, _ fields: [String: String], retryAfter: String? = nil) -> Answer {
        Answer(status: status, body: Json.data(fields), retryAfter: retryAfter)
    }

    private func configure(_ url: String = "https://windfall.example.com") {
        world.process.run { $0.configure(Options(url: url, bundleId: "com.example.lantern")) }
    }

    private func restart() {
        world.boot()
        configure()
    }

    private func identify(_ value: AttributeValue) {
        world.process.run { $0.identify("ann", ["a": value], nil) }
    }

    private func credentials() -> [String] {
        calls.map { $0.headers["authorization"] ?? $0.headers["x-windfall-unattested"] ?? "" }
    }

    func testALostAnswerIsRepeatedAsTheSameRequestAlsoAfterARestart() {
        answers = [nil, nil]
        configure()
        world.advance(1500)
        restart()
        XCTAssertEqual(attestations.count, 3)
        XCTAssertEqual(Set(attestations.map { $0["attestation"]?.text }).count, 1)
        XCTAssertEqual(Set(attestations.map { $0["challenge"]?.text }).count, 1)
        XCTAssertEqual(world.device.keys, 1)
        identify(1)
        XCTAssertEqual(credentials(), ["Bearer dt_3"])
    }

    func testAfterTheFiveMinutesOfAChallengeTheKeyGetsANewOne() {
        answers = [nil]
        configure()
        let first = attestations
        world.boot()
        world.advance(301_000)
        configure()
        XCTAssertEqual(attestations.count, 2)
        XCTAssertNotEqual(attestations.last?["challenge"], first.last?["challenge"])
        XCTAssertEqual(attestations.last?["keyId"], first.last?["keyId"])
    }

    func testACallWaitsTenSecondsForAnEnrolmentAndNoLonger() {
        isChallengeLate = true
        configure()
        identify(1)
        world.advance(8000)
        XCTAssertEqual(credentials(), [])
        world.advance(2500)
        XCTAssertEqual(credentials(), ["pending"])
    }

    func testTheEnrolmentOfAnotherDestinationDoesNotHoldUpWhatWaits() {
        world.device.support = .unsupported
        world.answer = { _ in .now(nil) }
        configure()
        identify(1)
        world.device.support = .works(environment: "production")
        world.answer = { [unowned self] in answer($0) }
        isChallengeLate = true
        configure("https://other.example.com")
        XCTAssertEqual(calls.map(\.url), ["https://windfall.example.com/api/sdk/v1/identify"])
        XCTAssertEqual(credentials(), ["pending"])
    }

    func testAnEnrolmentWaitsAsLongAsTheServerSays() {
        answers = [answered(429, ["code": "rate_limited"], retryAfter: "60")]
        configure()
        restart()
        identify(1)
        world.advance(59_000)
        XCTAssertEqual(attestations.count, 1)
        XCTAssertEqual(credentials(), ["pending"])
        world.advance(3000)
        XCTAssertEqual(attestations.count, 2)
        identify(2)
        XCTAssertEqual(credentials().last, "Bearer dt_2")
    }

    func testThePageOfACaptivePortalIsNoRefusal() {
        answers = [Answer(status: 200, body: Data("<html>".utf8)), Answer(status: 302, body: Data())]
        configure()
        world.advance(5000)
        identify(1)
        XCTAssertEqual(credentials(), ["Bearer dt_3"])
    }

    func testAServerWithoutAttestationIsAskedOnceADay() {
        answers = [Answer(status: 404, body: Data("no".utf8))]
        configure()
        identify(1)
        world.advance(23 * 3_600_000)
        XCTAssertEqual(attestations.count, 1)
        XCTAssertEqual(credentials(), ["enroll-failed"])
        world.advance(2 * 3_600_000)
        XCTAssertEqual(attestations.count, 2)
    }

    func testAKeyIsReplacedOnceADay() {
        configure()
        world.device.firstKnown = 1
        identify(1)
        XCTAssertEqual(credentials(), ["Bearer dt_2"])
        world.device.firstKnown = 2
        identify(2)
        XCTAssertEqual(credentials().last, "enroll-failed")
        world.advance(25 * 3_600_000)
        identify(3)
        XCTAssertEqual(credentials().last, "Bearer dt_3")
        XCTAssertEqual(world.device.keys, 3)
    }

    func testAnotherEnvironmentOfAppAttestHasItsOwnKey() {
        world.device.support = .works(environment: "development")
        configure()
        world.device.support = .works(environment: "production")
        restart()
        identify(1)
        XCTAssertEqual(world.device.keys, 2)
        XCTAssertEqual(credentials(), ["Bearer dt_2"])
    }

    func testAnotherDestinationHasItsOwnEnrolment() {
        configure()
        configure("https://other.example.com")
        identify(1)
        XCTAssertEqual(world.device.keys, 2)
        XCTAssertEqual(credentials(), ["Bearer dt_2"])
    }
}

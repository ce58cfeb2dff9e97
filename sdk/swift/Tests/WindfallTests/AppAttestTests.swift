import DeviceCheck
import Foundation
import Security
import WindfallCore
import XCTest

@testable import Windfall

/// App Attest, its errors, and where the enrolment is kept.
final class AppAttestTests: DeviceTestCase {
    private let stub = StubAppAttest.shared
    private let hash = Data(repeating: 1, count: 32)
    private let enrolment = KeychainCell(service: "windfall.com.example.lantern", account: "enrolment")

    private func attester() -> AppAttest { AppAttest(isSimulator: false, environment: "production") }

    private func error(of work: () async throws -> Any) async -> AttestationError? {
        do {
            _ = try await work()
            return nil
        } catch {
            return error as? AttestationError
        }
    }

    func testTheSupportIsThatOfTheDevice() {
        XCTAssertEqual(attester().support, .works(environment: "production"))
        XCTAssertEqual(AppAttest(isSimulator: true, environment: "production").support, .simulator)
        stub.isSupported = false
        XCTAssertEqual(attester().support, .unsupported)
    }

    func testErrorsOfAKeyAndAnAttestation() async {
        let attester = attester()
        let expected: [(DCError.Code, AttestationError)] = [
            (.invalidKey, .invalidKey), (.serverUnavailable, .unavailable), (.invalidInput, .failed),
            (.featureUnsupported, .failed), (.unknownSystemFailure, .failed),
        ]
        for (code, mapped) in expected {
            stub.failure = code
            let ofKey = await error { try await attester.makeKey() }
            let ofAttestation = await error { try await attester.attest(keyId: "key 1", clientDataHash: self.hash) }
            XCTAssertEqual(ofKey, mapped)
            XCTAssertEqual(ofAttestation, mapped)
        }
    }

    func testErrorsOfAnAssertion() async {
        let attester = attester()
        let expected: [(DCError.Code, AttestationError)] = [
            (.invalidKey, .invalidKey), (.invalidInput, .invalidKey), (.serverUnavailable, .unavailable),
            (.unknownSystemFailure, .failed),
        ]
        for (code, mapped) in expected {
            stub.failure = code
            let found = await error { try await attester.assert(keyId: "key 1", clientDataHash: self.hash) }
            XCTAssertEqual(found, mapped)
        }
    }

    func testTheDeviceEnrolsOnceAndSignsItsCalls() async throws {
        let first = phone.launch(attester: attester(), enrolment: enrolment)
        await first.start()
        first.core.identify("user-1")
        await server.wait { $0.contains { $0.path == "identify" } }
        await phone.rest()
        let second = phone.launch(attester: attester(), enrolment: enrolment)
        await second.start()
        second.core.identify("user-2")
        await server.wait { $0.filter { $0.path == "identify" }.count >= 2 }
        XCTAssertEqual(server.calls.map(\.path), ["attest/challenge", "attest", "identify", "identify"])
        for call in server.calls.suffix(2) {
            XCTAssertEqual(call.headers["authorization"], "Bearer dt_1")
            XCTAssertNotNil(call.headers["x-windfall-assertion"])
        }
        XCTAssertEqual(stub.madeKeys, 1)
    }

    func testTheTokenIsInTheKeychainOfThisDevice() async throws {
        let sdk = phone.launch(attester: attester(), enrolment: enrolment)
        await sdk.start()
        sdk.core.identify("user-1")
        await server.wait { $0.contains { $0.path == "identify" } }
        let item = StubKeychain.shared.contents["windfall.com.example.lantern/enrolment"]
        XCTAssertTrue(String(decoding: item?.data ?? Data(), as: UTF8.self).contains("dt_1"))
        XCTAssertEqual(item?.accessible, "\(kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly)")
    }

    func testAfterAReinstallTheDeviceEnrolsWithANewKey() async {
        let first = phone.launch(attester: attester(), enrolment: enrolment)
        await first.start()
        first.core.identify("user-1")
        await server.wait { $0.contains { $0.path == "identify" } }
        // The Keychain survives a reinstall; the key and the files of the app do not.
        await phone.rest()
        stub.forgetKeys()
        phone = Phone()
        let second = phone.launch(attester: attester(), enrolment: enrolment)
        await second.start()
        second.core.identify("user-1")
        await server.wait { $0.contains { $0.path == "identify" } }
        XCTAssertEqual(server.calls.map(\.path), ["attest/challenge", "attest", "identify"])
        XCTAssertEqual(stub.madeKeys, 2)
    }

    func testAKeyOfADevelopmentBuildIsNotUsedInProduction() async {
        let development = AppAttest(isSimulator: false, environment: "development")
        let first = phone.launch(attester: development, enrolment: enrolment)
        await first.start()
        first.core.identify("user-1")
        await server.wait { $0.contains { $0.path == "identify" } }
        await phone.rest()
        let second = phone.launch(attester: attester(), enrolment: enrolment)
        await second.start()
        second.core.identify("user-2")
        await server.wait { $0.filter { $0.path == "identify" }.count >= 2 }
        XCTAssertEqual(stub.madeKeys, 2)
    }

    func testADeviceWithoutAppAttestSaysWhy() async {
        stub.isSupported = false
        let sdk = phone.launch(attester: attester(), enrolment: enrolment)
        await sdk.start()
        sdk.core.identify("user-1")
        await server.wait { !$0.isEmpty }
        XCTAssertEqual(server.calls.map { $0.headers["x-windfall-unattested"] }, ["unsupported"])
    }
}

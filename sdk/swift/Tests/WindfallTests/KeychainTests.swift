import Foundation
import Security
import XCTest

@testable import Windfall

final class KeychainTests: DeviceTestCase {
    private let cell = KeychainCell(service: "windfall.com.example.lantern", account: "anonymousId")

    func testAnItemIsWrittenReplacedAndRemoved() throws {
        XCTAssertNil(try cell.read())
        try cell.write("one")
        XCTAssertEqual(try cell.read(), "one")
        try cell.write("two")
        XCTAssertEqual(try cell.read(), "two")
        try cell.write(nil)
        XCTAssertNil(try cell.read())
        XCTAssertNoThrow(try cell.write(nil))
    }

    func testItemsOfAnotherAppOrNameAreOthers() throws {
        try cell.write("one")
        let others = [
            KeychainCell(service: "windfall.com.example.other", account: "anonymousId"),
            KeychainCell(service: "windfall.com.example.lantern", account: "enrolment"),
        ]
        for other in others { XCTAssertNil(try other.read()) }
    }

    func testALockedKeychainThrows() {
        StubKeychain.shared.fail(with: -25308)
        XCTAssertThrowsError(try cell.read()) { XCTAssertEqual($0 as? KeychainError, KeychainError(status: -25308)) }
        XCTAssertThrowsError(try cell.write("one"))
        XCTAssertThrowsError(try cell.write(nil))
    }

    func testTheAnonymousIdIsWhereConfigureChooses() throws {
        let defaults = Place("$anon_1")
        let id = AnonymousIdCell(defaults: defaults, keychain: cell)
        XCTAssertEqual(try id.read(), "$anon_1")
        id.choose(keychain: true)
        XCTAssertEqual(try id.read(), "$anon_1", "an id that only the other place has is taken from there")
        try id.write("$anon_2")
        XCTAssertEqual(try cell.read(), "$anon_2")
        XCTAssertEqual(try defaults.read(), "$anon_1")
        id.choose(keychain: false)
        XCTAssertEqual(try id.read(), "$anon_1")
    }
}

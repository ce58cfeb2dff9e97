import Foundation
import XCTest

@testable import WindfallCore

/// The cases of sdk/contract.
final class ContractTests: XCTestCase {
    func testWire() throws {
        let file = try Contract.read("wire.json")
        let cases = Contract.cases(file)
        XCTAssertGreaterThan(cases.count, 9)
        for one in cases {
            let options = (file["options"]?.object ?? [:]).merging(one["options"]?.object ?? [:]) { $1 }
            let steps =
                [.object(["call": .text("configure")])] + (one["calls"]?.list ?? [])
                + [.object(["expect": one["requests"] ?? .null])]
            run(one, file, options: .object(options), steps: steps, isWire: true)
        }
    }

    func testBehaviour() throws {
        let file = try Contract.read("behaviour.json")
        let cases = Contract.cases(file)
        XCTAssertGreaterThan(cases.count, 70)
        for one in cases {
            run(one, file, options: file["options"] ?? .null, steps: one["steps"]?.list ?? [], isWire: false)
        }
    }

    private func run(
        _ one: JsonValue, _ file: JsonValue, options: JsonValue, steps: [JsonValue], isWire: Bool
    ) {
        let attests = one["requires"]?.list?.contains(.text("attestation")) == true
        let runner = ContractRunner(
            device: one["device"] ?? file["device"] ?? .null, options: options, attests: attests, isWire: isWire)
        for (number, step) in steps.enumerated() {
            do {
                try runner.run(step)
            } catch {
                XCTFail("\(one["name"]?.text ?? ""): step \(number + 1): \(error)")
                return
            }
        }
    }

    func testHashes() throws {
        for one in try Contract.read("wire.json")["hashes"]?.list ?? [] {
            let bytes =
                try one["challenge"]?.text.map { try XCTUnwrap(base64Decoded($0)) }
                ?? Data("POST\n\(one["path"]?.text ?? "")\n\(one["body"]?.text ?? "")".utf8)
            XCTAssertEqual(sha256(bytes).base64EncodedString(), one["sha256"]?.text)
        }
    }

    func testHashesOfEachLengthAroundABlock() {
        let expected = [
            0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            55: "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
            56: "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
            64: "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
            1000: "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3",
        ]
        for (length, hash) in expected {
            let hex = sha256(Data(repeating: UInt8(ascii: "a"), count: length)).map { String(format: "%02x", $0) }
            XCTAssertEqual(hex.joined(), hash, "\(length)")
        }
    }
}

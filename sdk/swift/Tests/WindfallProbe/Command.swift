import Foundation
import WindfallCore

/// A line of the input.
struct Command: Decodable {
    var `do`: String
    var url: String?
    var key: String?
    var bundleId: String?
    var userId: String?
    var attributes: Attributes?
    var originalTransactionId: String?
    var productId: String?
    var jws: String?
    /// How many purchases to report, and the number of the first.
    var count: Int?
    var first: Int?
    /// The answer of App Attest to a question.
    var id: Int?
    var text: String?
    var error: String?

    func run(_ core: Core) {
        switch self.do {
        case "configure":
            core.configure(
                Options(
                    url: url ?? "", key: key, bundleId: bundleId,
                    device: Device(platform: "ios", osVersion: "27.0", deviceModel: "iPhone18,1", locale: "en_US"),
                    debug: { Line.print(["debug": .string($0)]) }))
        case "identify": core.identify(userId ?? "", attributes: attributes ?? [:])
        case "setAttributes": core.setAttributes(attributes ?? [:])
        case "reset": core.reset()
        case "wake": core.wake()
        case "purchase": core.attributePurchase(purchase)
        case "observe": core.attributePurchase(purchase, .observed)
        case "purchases": reportMany(core)
        case "answer": PipeAttester.shared.finish(self)
        case "flush": Task { await core.flush(); Line.print(["flushed": true]) }
        default: Task { Line.print(await core.debugState().fields) }
        }
    }

    private var purchase: Purchase {
        Purchase(originalTransactionId: originalTransactionId ?? "", productId: productId, jws: jws)
    }

    private func reportMany(_ core: Core) {
        let first = first ?? 1
        for number in first..<first + (count ?? 0) {
            core.attributePurchase(Purchase(originalTransactionId: String(number), productId: "pro")) {
                Line.print(["stored": .int(number)])
            }
        }
    }
}

extension DebugState {
    fileprivate var fields: Attributes {
        [
            "queue": .int(queue.count),
            "ids": .string(queue.compactMap(\.originalTransactionId).joined(separator: " ")), "refused": .int(refused.count),
            "appUserId": appUserId.map { .string($0) } ?? .null,
            "anonymousId": anonymousId.map { .string($0) } ?? .null,
            "lastAnswer": lastAnswer.map { .string($0) } ?? .null, "storage": .string(storage.rawValue),
        ]
    }
}

/// A line of the output.
enum Line {
    private static let lock = NSLock()

    static func print(_ fields: Attributes) {
        guard let data = try? JSONEncoder().encode(fields) else { return }
        lock.lock()
        FileHandle.standardOutput.write(data + Data("\n".utf8))
        lock.unlock()
    }
}

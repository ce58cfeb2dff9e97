import Foundation

@testable import WindfallCore

/// Runs the steps of a case of the contract.
final class ContractRunner {
    private let world = World()
    private let server: ContractServer
    private var bindings = Bindings()
    private var device: JsonValue
    private let options: JsonValue

    /// A case of `wire.json` sees the requests of the enrolment, too.
    init(device: JsonValue, options: JsonValue, attests: Bool, isWire: Bool = false) {
        self.device = device
        self.options = options
        server = ContractServer(world.device, showsEnrolments: isWire)
        world.device.support = attests ? .works(environment: "production") : .unsupported
        world.answer = { [server] in .now(server.answer($0)) }
    }

    func run(_ step: JsonValue) throws {
        guard let times = step["repeat"]?.number else { return try runPlain(step) }
        for number in 1...Int(times) {
            for one in step["steps"]?.list ?? [] { try runPlain(one.numbered(number)) }
        }
    }

    private func runPlain(_ step: JsonValue) throws {
        for (name, value) in step.object ?? [:] where !Self.details.contains(name) {
            if try !change(name, value, step), try !check(name, value) {
                throw Failure(text: "there is no step \(name)")
            }
        }
    }

    private static let details: Set<String> = ["options", "userId", "attributes", "purchase", "after"]

    private func change(_ name: String, _ value: JsonValue, _ step: JsonValue) throws -> Bool {
        switch name {
        case "call": try make(step)
        case "observe":
            let purchase = try purchase(value)
            world.process.run { $0.attributePurchase(purchase, .observed, nil) }
        case "wake": world.process.run { $0.wake() }
        case "restart":
            world.boot()
            try make(.object(["call": .text("configure")]))
        default: return changeWorld(name, value, step)
        }
        return true
    }

    private func changeWorld(_ name: String, _ value: JsonValue, _ step: JsonValue) -> Bool {
        switch name {
        case "answers": server.set(value.list ?? [], after: step["after"] ?? .text("accept"))
        case "pass": world.advance((value.number ?? 0) * 1000)
        case "turnClock": world.turnClock((value.number ?? 0) * 1000)
        case "device":
            device = .object((device.object ?? [:]).merging(value.object ?? [:]) { $1 })
        case "storage": world.fault = Self.fault(value.text)
        case "attestation": setAttestation(value.text ?? "")
        case "enrolment": server.enrolment = value
        default: return false
        }
        return true
    }

    private func setAttestation(_ mode: String) {
        world.device.support =
            mode == "unsupported"
            ? .unsupported : mode == "simulator" ? .simulator : .works(environment: "production")
        if mode == "invalid key" { world.device.firstKnown = world.device.keys }
    }

    private func check(_ name: String, _ value: JsonValue) throws -> Bool {
        switch name {
        case "expect": try expectSent(value.list ?? [])
        case "expectCount": try expect("requests", value, server.takeSent().count)
        case "expectState": try expectState(value)
        case "expectWarnings": try expect("warnings", value, world.warnings)
        case "expectEnrolments": try expect("enrolments", value, server.takeEnrolments())
        case "expectKeys": try expect("keys", value, world.device.keys)
        default: return false
        }
        return true
    }

    private func expect(_ what: String, _ expected: JsonValue, _ actual: Int) throws {
        if expected != .number(Double(actual)) { throw Failure(text: "expected \(expected) \(what), but \(actual)") }
    }

    private static func fault(_ mode: String?) -> (WindfallCoreTests.Operation) -> Fault {
        switch mode {
        case "refuses writes": return { $0 == .write ? .before : .no }
        case "refuses removals": return { $0 == .remove ? .before : .no }
        case "cannot be read": return { $0 == .read || $0 == .names ? .before : .no }
        default: return { _ in .no }
        }
    }
}

// Calls.
extension ContractRunner {
    private func make(_ step: JsonValue) throws {
        let attributes = (step["attributes"]?.object ?? [:]).compactMapValues(\.attribute)
        let purchase = try step["purchase"].map(purchase)
        world.process.run { engine in
            switch step["call"]?.text {
            case "configure": engine.configure(configuration(step["options"]))
            case "identify": engine.identify(step["userId"]?.text ?? "", attributes, nil)
            case "setAttributes": engine.setAttributes(attributes, nil)
            case "reset": engine.reset(nil)
            case "attributePurchase": engine.attributePurchase(purchase!, .asked, nil)
            default: engine.flush {}
            }
        }
    }

    private func configuration(_ more: JsonValue?) -> Options {
        let all = (options.object ?? [:]).merging(more?.object ?? [:]) { $1 }
        let facts = Device(
            platform: device["platform"]?.text, osVersion: device["osVersion"]?.text,
            deviceModel: device["deviceModel"]?.text, locale: device["locale"]?.text)
        return Options(
            url: all["url"]?.text ?? "", key: all["key"]?.text,
            bundleId: all["bundleId"]?.text ?? device["bundleId"]?.text, device: facts)
    }

    private func purchase(_ fields: JsonValue) throws -> Purchase {
        let known: Set<String> = ["originalTransactionId", "transactionId", "productId", "jws"]
        guard let all = fields.object, known.isSuperset(of: all.keys) else { throw Failure(text: "\(fields)") }
        return Purchase(
            originalTransactionId: all["originalTransactionId"]?.text ?? "",
            transactionId: all["transactionId"]?.text, productId: all["productId"]?.text, jws: all["jws"]?.text)
    }
}

// Expectations.
extension ContractRunner {
    private func expectSent(_ expected: [JsonValue]) throws {
        let actual = server.takeSent()
        var fits = actual.count == expected.count
        for (one, request) in zip(expected, actual) where fits { fits = try isRequest(one, request) }
        if !fits { throw Failure(text: "expected \(expected), but \(actual.map(shown))") }
    }

    private func isRequest(_ expected: JsonValue, _ request: Request) throws -> Bool {
        let path = expected["path"]?.text ?? ""
        var base = options["url"]?.text ?? ""
        if base.hasSuffix("/") { base.removeLast() }
        guard request.url == (path.hasPrefix("/") ? base + path : path) else { return false }
        for (name, value) in expected["headers"]?.object ?? [:] {
            let expectedText = value.text ?? ""
            let text = request.headers[name] ?? ""
            let prefix = "Bearer {"
            if expectedText.hasPrefix(prefix) {
                guard text.hasPrefix("Bearer "),
                    bindings.fits(.text(String(expectedText.dropFirst(7))), .text(String(text.dropFirst(7))), exactly: true)
                else { return false }
            } else if !bindings.fits(value, .text(text), exactly: true) {
                return false
            }
        }
        for name in expected["withoutHeaders"]?.list ?? [] where request.headers[name.text ?? ""] != nil {
            return false
        }
        return bindings.fits(expected["body"] ?? .null, try JsonValue(parsing: request.body), exactly: true)
    }

    private func shown(_ request: Request) -> String {
        "\(request.url) \(request.headers) \(String(decoding: request.body, as: UTF8.self))"
    }

    private func expectState(_ expected: JsonValue) throws {
        let state = JsonValue(world.process.run { $0.debugState() })
        if !bindings.fits(expected, state, exactly: false) {
            throw Failure(text: "expected \(expected), but \(state)")
        }
    }
}

extension JsonValue {
    /// Nil for a value that the types of Swift leave out.
    fileprivate var attribute: AttributeValue? {
        switch self {
        case .null: return .null
        case .bool(let bool): return .bool(bool)
        case .number(let number): return .double(number)
        case .text(let text): return .string(text)
        case .list, .object: return nil
        }
    }

    /// The state in the words of the contract.
    fileprivate init(_ state: DebugState) {
        let queue = state.queue.map { one in
            JsonValue.object([
                "call": .text(one.call.rawValue), "appUserId": .text(one.appUserId),
                "at": .number(one.at.timeIntervalSince1970 * 1000),
                "originalTransactionId": JsonValue(one.originalTransactionId),
            ])
        }
        let refused = state.refused.map { one in
            JsonValue.object([
                "code": .text(one.code), "appUserId": .text(one.appUserId),
                "originalTransactionId": .text(one.originalTransactionId), "productId": JsonValue(one.productId),
                "at": .number(one.at.timeIntervalSince1970 * 1000),
            ])
        }
        self = .object([
            "configured": .bool(state.configured), "appUserId": JsonValue(state.appUserId),
            "anonymousId": JsonValue(state.anonymousId), "queue": .list(queue), "refused": .list(refused),
            "storage": .text(state.storage.rawValue), "lastAnswer": JsonValue(state.lastAnswer),
        ])
    }

    private init(_ text: String?) { self = text.map(JsonValue.text) ?? .null }
}

import Foundation

@testable import WindfallCore

/// The server of a case: it answers calls and enrolments as the case says, and checks what App Attest signed.
final class ContractServer {
    private let device: AttestedDevice
    private let showsEnrolments: Bool
    private var sent: [Request] = []
    private var enrolments = 0
    private var answers: [JsonValue] = []
    private var otherwise = JsonValue.text("accept")
    private var challenges = 0
    var enrolment = JsonValue.text("dt_of_the_runner")

    init(_ device: AttestedDevice, showsEnrolments: Bool) {
        self.device = device
        self.showsEnrolments = showsEnrolments
    }

    func set(_ answers: [JsonValue], after: JsonValue) {
        self.answers = answers
        otherwise = after
    }

    func takeSent() -> [Request] {
        defer { sent = [] }
        return sent
    }

    func takeEnrolments() -> Int {
        defer { enrolments = 0 }
        return enrolments
    }

    func answer(_ request: Request) -> Answer? {
        guard request.url.contains("/attest") else { return answerCall(request) }
        if showsEnrolments { sent.append(request) }
        if request.url.hasSuffix("/challenge") {
            challenges += 1
            return answered(200, ["challenge": .text(challenge(challenges))])
        }
        enrolments += 1
        guard isAttested(request) else { return answered(400, ["code": .text("attested_something_else")]) }
        if let token = enrolment.text, token.hasPrefix("dt_") { return answered(200, ["deviceToken": .text(token)]) }
        return answered(enrolment)
    }

    private func challenge(_ number: Int) -> String {
        var bytes = [UInt8](repeating: 0xfb, count: 32)
        bytes[31] = UInt8(number % 256)
        return Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private func answerCall(_ request: Request) -> Answer? {
        sent.append(request)
        if request.headers["x-windfall-assertion"] != nil, !isAsserted(request) {
            return answered(400, ["code": .text("signed_something_else")])
        }
        let given = answers.isEmpty ? otherwise : answers.removeFirst()
        if given == .text("accept") { return accepted(request) }
        return answered(given)
    }

    private func accepted(_ request: Request) -> Answer? {
        guard let body = try? JsonValue(parsing: request.body) else { return nil }
        let isVerified = request.headers["authorization"]?.hasPrefix("Bearer dt_") == true
        var fields: [String: JsonValue] = [
            "appUserId": body["appUserId"] ?? .null, "verification": .text(isVerified ? "verified" : "unverified"),
        ]
        if request.url.hasSuffix("identify") {
            fields["bundleId"] = body["bundleId"]
        } else {
            fields["originalTransactionId"] = body["originalTransactionId"]
            fields["moved"] = .bool(false)
        }
        return answered(200, fields)
    }

    private func answered(_ status: Int, _ fields: [String: JsonValue]) -> Answer {
        Answer(status: status, body: Json.data(JsonValue.object(fields)))
    }

    /// Nil for the texts that say that there is no answer.
    private func answered(_ given: JsonValue) -> Answer? {
        guard let status = given["status"]?.number else { return nil }
        let body = given["body"].map { Json.data($0) } ?? Data((given["text"]?.text ?? "").utf8)
        return Answer(status: Int(status), body: body, retryAfter: given["headers"]?["retry-after"]?.text)
    }

    /// Whether the attestation is of the SHA-256 of the challenge's bytes, and of this key.
    private func isAttested(_ request: Request) -> Bool {
        guard let body = try? JsonValue(parsing: request.body), let challenge = body["challenge"]?.text,
            let bytes = base64Decoded(challenge), bytes.count == 32
        else { return false }
        return signed(body["attestation"]?.text) == [
            "attestation", body["keyId"]?.text, sha256(bytes).base64EncodedString(),
        ]
    }

    private func isAsserted(_ request: Request) -> Bool {
        guard let path = URL(string: request.url)?.path else { return false }
        let hash = sha256(Data("POST\n\(path)\n".utf8) + request.body).base64EncodedString()
        let parts = signed(request.headers["x-windfall-assertion"])
        return parts?.first == "assertion" && parts?.last == hash
    }

    /// Kind, key and hash of what the device signed.
    private func signed(_ text: String?) -> [String?]? {
        guard let data = text.flatMap({ Data(base64Encoded: $0) }) else { return nil }
        let parts = String(decoding: data, as: UTF8.self).split(separator: " ").map(String.init)
        return parts.count == 4 ? [parts[0], parts[2], parts[3]] : nil
    }
}

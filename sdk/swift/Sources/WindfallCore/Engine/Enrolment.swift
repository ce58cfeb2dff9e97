import Foundation

/// The enrolment of this device with App Attest.
struct Enrolment {
    /// What is stored.
    final class Record: Codable {
        /// A key and its token are of one destination and of one environment of App Attest.
        let lane: String
        let environment: String
        var keyId: String?
        var token: String?
        /// A request whose answer may be lost.
        var challenge: String?
        var attestation: String?
        var sentAt: Double?
        var wait: Wait?
        var isRefused = false
        /// Until then the device does not enrol again because of an answer, and the key is not replaced again.
        var again: Wait?
        var replaced: Wait?

        init(lane: String, environment: String) {
            self.lane = lane
            self.environment = environment
        }
    }

    var record: Record?
    var soft: State.Kept?
    /// Calls wait for the enrolment that is running.
    var isHolding = false
    var isRunning = false
    /// Counts enrolments, so that what belongs to an earlier one has no effect.
    var run = 0
}

/// The five minutes of a challenge, with some room.
private let challengeMs = 290_000.0
private let holdMs = 10_000.0
private let attestPath = "/api/sdk/v1/attest"

// What calls need.
extension Engine {
    /// The key and the token of this device at the destination of `item`.
    func deviceToken(for item: Item) -> (keyId: String, token: String)? {
        guard let record = enrolment.record, record.lane == item.lane, let keyId = record.keyId,
            let token = record.token, case .works(record.environment) = environment.attester.support
        else { return nil }
        return (keyId, token)
    }

    func unattestedReason(for item: Item) -> String {
        switch environment.attester.support {
        case .unsupported: return "unsupported"
        case .simulator: return "simulator"
        case .works:
            let record = enrolment.record
            return record?.lane == item.lane && record?.isRefused == true ? "enroll-failed" : "pending"
        }
    }

    /// The server does not know the token any more: enrols again, at most once a day.
    func enrolAgain() {
        guard enrolment.record?.token != nil, !isWaiting(enrolment.record?.again) else { return }
        enrolment.record?.again = Wait(dayMs, from: now)
        dropKey()
        saveEnrolment()
    }

    /// App Attest does not know the key any more: it is replaced at once, at most once a day.
    func replaceKey() {
        dropKey()
        if isWaiting(enrolment.record?.replaced) { return refuseEnrolment() }
        enrolment.record?.replaced = Wait(dayMs, from: now)
        enrolment.isRunning = false
        saveEnrolment()
    }

    private func isWaiting(_ wait: Wait?) -> Bool { (wait?.left(now) ?? 0) > 0 }

    fileprivate func dropKey() {
        enrolment.record?.keyId = nil
        enrolment.record?.token = nil
        enrolment.record?.attestation = nil
    }

    /// Returns false while what is stored cannot be read.
    fileprivate func loadEnrolment() -> Bool {
        if enrolment.record != nil { return true }
        do {
            enrolment.record = Json.value(Enrolment.Record.self, try environment.enrolment.read())
            return true
        } catch {
            return false
        }
    }

    fileprivate func saveEnrolment() {
        guard let record = enrolment.record else { return }
        try? environment.enrolment.write(Json.text(record))
    }
}

// Enrolling.
extension Engine {
    /// Enrols if the device is not enrolled and need not wait. Returns the milliseconds until it may.
    func enrolIfDue() -> Double {
        guard let target, case .works(let environment) = environment.attester.support else { return .infinity }
        guard loadEnrolment() else { return softMs }
        if enrolment.record?.lane != target.lane || enrolment.record?.environment != environment {
            enrolment.record = Enrolment.Record(lane: target.lane, environment: environment)
            enrolment.isRunning = false
        }
        guard enrolment.record?.token == nil, !enrolment.isRunning else { return .infinity }
        let left = max(enrolment.record?.wait?.left(now) ?? 0, enrolment.soft?.wait.left(now) ?? 0)
        if left == 0 { enrol(target) }
        return left > 0 ? left : .infinity
    }

    private func enrol(_ target: Target) {
        enrolment.isRunning = true
        enrolment.run += 1
        hold()
        if enrolment.record?.attestation != nil, let at = enrolment.record?.sentAt, now >= at, now - at < challengeMs {
            return postAttestation(target)
        }
        if let keyId = enrolment.record?.keyId { return askChallenge(target, keyId) }
        step(.makeKey, or: .key(.failure(.unavailable))) { [unowned self] outcome in
            guard case .key(let made) = outcome else { return }
            switch made {
            case .success(let keyId):
                enrolment.record?.keyId = keyId
                saveEnrolment()
                askChallenge(target, keyId)
            case .failure(.unavailable): endWithoutAnswer()
            case .failure: refuseEnrolment()
            }
        }
    }

    /// Lets calls wait for this enrolment, unless it repeats one that they waited for.
    private func hold() {
        if enrolment.soft != nil { return }
        enrolment.isHolding = true
        let run = enrolment.run
        ask(.timer(milliseconds: holdMs)) { [unowned self] _ in
            guard run == enrolment.run, enrolment.isHolding else { return }
            enrolment.isHolding = false
            pump()
        }
    }

    private func askChallenge(_ target: Target, _ keyId: String) {
        post(target, "\(attestPath)/challenge", [:]) { [unowned self] fields in
            guard let challenge = fields["challenge"] as? String, let bytes = base64Decoded(challenge) else {
                return endWithoutAnswer()
            }
            attest(target, keyId, challenge, bytes)
        }
    }

    private func attest(_ target: Target, _ keyId: String, _ challenge: String, _ bytes: Data) {
        let effect = Effect.attest(keyId: keyId, hash: sha256(bytes))
        step(effect, or: .signed(.failure(.unavailable))) { [unowned self] outcome in
            guard case .signed(let signed) = outcome else { return }
            switch signed {
            case .success(let attestation):
                enrolment.record?.challenge = challenge
                enrolment.record?.attestation = attestation.base64EncodedString()
                enrolment.record?.sentAt = now
                saveEnrolment()
                postAttestation(target)
            case .failure(.invalidKey):
                replaceKey()
                pump()
            case .failure(.unavailable): endWithoutAnswer()
            case .failure(.failed): refuseEnrolment()
            }
        }
    }

    private func postAttestation(_ target: Target) {
        var body = ["bundleId": target.bundleId]
        body["keyId"] = enrolment.record?.keyId
        body["attestation"] = enrolment.record?.attestation
        body["challenge"] = enrolment.record?.challenge
        post(target, attestPath, body) { [unowned self] fields in
            guard let token = fields["deviceToken"] as? String else { return endWithoutAnswer() }
            enrolment.record?.token = token
            enrolment.record?.attestation = nil
            enrolment.record?.wait = nil
            enrolment.record?.isRefused = false
            enrolment.soft = nil
            end()
        }
    }

    private func refuseEnrolment() {
        dropKey()
        enrolment.record?.isRefused = true
        enrolment.record?.wait = Wait(dayMs, from: now)
        end()
    }

    private func endWithoutAnswer() {
        let tries = enrolment.soft?.tries ?? 0
        let wait = Wait(jitter(environment.random(), tries, softMs), from: now)
        enrolment.soft = State.Kept(wait: wait, tries: tries + 1)
        end()
    }

    private func end() {
        enrolment.isRunning = false
        enrolment.isHolding = false
        saveEnrolment()
        pump()
    }

    /// Posts for this enrolment; `then` gets the fields of an answer with status 2xx.
    private func post(
        _ target: Target, _ path: String, _ body: [String: String], _ then: @escaping ([String: Any]) -> Void
    ) {
        var headers = ["content-type": "application/json"]
        if let key = target.key { headers["authorization"] = "Bearer \(key)" }
        let request = Request(url: target.url + path, headers: headers, body: Json.data(body))
        step(.post(request), or: .answer(nil)) { [unowned self] outcome in
            guard case .answer(let answer) = outcome else { return }
            let status = answer?.status ?? 0
            debug("\(path.dropFirst(12)): \(status == 0 ? "no connection" : String(status))")
            if isLate(status), let asked = retryAfterMs(answer?.retryAfter) {
                enrolment.record?.wait = Wait(asked + environment.random() * 1000, from: now)
                end()
            } else if isLate(status) || status < 400 {
                // Without our fields it is the answer of another, such as a captive portal.
                then(status == 0 || isLate(status) ? [:] : Json.fields(answer?.body ?? Data()))
            } else {
                refuseEnrolment()
            }
        }
    }

    /// Wants an effect for this enrolment. Its outcome has no effect if another enrolment began.
    private func step(_ effect: Effect, or late: Outcome, _ then: @escaping (Outcome) -> Void) {
        let run = enrolment.run
        ask(effect, or: late) { [unowned self] outcome in
            if run == enrolment.run, enrolment.isRunning { then(outcome) }
        }
    }
}

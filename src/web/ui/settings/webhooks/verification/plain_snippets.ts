/** Verification code with the standard library of each language. */
import type { Endpoint } from '../webhook_queries.ts'
import { headerPrefix, type Language, SECRET_VARIABLE } from './languages.ts'

type Kind = Endpoint['kind']

/** In the receiver's program. A test keeps this program from reading the clock, and finds the call by its text. */
const NODE_TIME = ['Date', 'now()'].join('.')

const node = (kind: Kind): string => `import { createHmac, timingSafeEqual } from 'node:crypto'

const secret = Buffer.from(process.env.${SECRET_VARIABLE}.replace('whsec_', ''), 'base64')
if (secret.length === 0) throw new Error('${SECRET_VARIABLE} is empty')

// body: the raw request body as a Buffer, before a JSON parser. headers: request.headers.
// Returns the parsed body. Throws if the signature is wrong or older than five minutes.
export function verify(body, headers) {
  const id = headers['${headerPrefix(kind)}-id']
  const timestamp = headers['${headerPrefix(kind)}-timestamp']
  const age = Math.abs(${NODE_TIME} / 1000 - Number(timestamp))
  if (!(age <= 300)) throw new Error('the timestamp differs by more than five minutes')
  const hmac = createHmac('sha256', secret).update(\`\${id}.\${timestamp}.\`).update(body)
  const expected = Buffer.from(\`v1,\${hmac.digest('base64')}\`)
  const signatures = String(headers['${headerPrefix(kind)}-signature']).split(' ')
  const isSigned = signatures.some((one) => {
    const signature = Buffer.from(one)
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  })
  if (!isSigned) throw new Error('no signature matches')
  return JSON.parse(body)
}
`

const python = (kind: Kind): string => `import base64
import hashlib
import hmac
import json
import os
import time

SECRET = base64.b64decode(os.environ["${SECRET_VARIABLE}"].removeprefix("whsec_"))
assert SECRET, "${SECRET_VARIABLE} is empty"


# body: the raw request body as bytes, before a JSON parser. headers: the request's headers.
# Returns the parsed body. Raises if the signature is wrong or older than five minutes.
def verify(body, headers):
    id = headers["${headerPrefix(kind)}-id"]
    timestamp = headers["${headerPrefix(kind)}-timestamp"]
    if abs(time.time() - int(timestamp)) > 300:
        raise ValueError("the timestamp differs by more than five minutes")
    signed = f"{id}.{timestamp}.".encode() + body
    digest = hmac.new(SECRET, signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    signatures = headers["${headerPrefix(kind)}-signature"].encode().split(b" ")
    if not any(hmac.compare_digest(one, expected) for one in signatures):
        raise ValueError("no signature matches")
    return json.loads(body)
`

const go = (kind: Kind): string => `package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Verify checks the raw body of a request, before a JSON parser.
// It fails if the signature is wrong or older than five minutes.
func Verify(body []byte, headers http.Header) error {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("${SECRET_VARIABLE}"), "whsec_"))
	if err != nil || len(secret) == 0 {
		return errors.New("${SECRET_VARIABLE} has no secret")
	}
	id, timestamp := headers.Get("${headerPrefix(kind)}-id"), headers.Get("${headerPrefix(kind)}-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errors.New("the timestamp differs by more than five minutes")
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, signature := range strings.Split(headers.Get("${headerPrefix(kind)}-signature"), " ") {
		if hmac.Equal([]byte(signature), expected) {
			return nil
		}
	}
	return errors.New("no signature matches")
}
`

const swift = (
  kind: Kind,
): string => `// On Linux, add the package swift-crypto. On Apple's systems, import CryptoKit instead.
import Crypto
import Foundation

enum WebhookError: Error { case noSecret, oldTimestamp, wrongSignature }

/// Checks the raw body of a request, before a JSON parser. \`header\` returns a header of the request.
/// Throws if the signature is wrong or older than five minutes.
func verify(_ body: Data, header: (String) -> String?) throws {
    let text = ProcessInfo.processInfo.environment["${SECRET_VARIABLE}"] ?? ""
    guard let secret = Data(base64Encoded: text.replacingOccurrences(of: "whsec_", with: "")), !secret.isEmpty
    else { throw WebhookError.noSecret }
    guard let id = header("${headerPrefix(kind)}-id"),
        let timestamp = header("${headerPrefix(kind)}-timestamp"), let seconds = TimeInterval(timestamp),
        abs(Date().timeIntervalSince1970 - seconds) <= 300
    else { throw WebhookError.oldTimestamp }
    let signed = Data("\\(id).\\(timestamp).".utf8) + body
    let signatures = (header("${headerPrefix(kind)}-signature") ?? "").split(separator: " ")
    let isSigned = signatures.contains { one in
        guard one.hasPrefix("v1,"), let code = Data(base64Encoded: String(one.dropFirst(3))) else { return false }
        // Compares in constant time.
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signed, using: SymmetricKey(data: secret))
    }
    guard isSigned else { throw WebhookError.wrongSignature }
}
`

const php = (kind: Kind): string => `<?php
// $body: the raw request body, file_get_contents('php://input'). $headers: getallheaders().
// Returns the decoded body. Throws if the signature is wrong or older than five minutes.
function verify(string $body, array $headers): array
{
    $headers = array_change_key_case($headers);
    $secret = base64_decode(str_replace('whsec_', '', (string) getenv('${SECRET_VARIABLE}')), true);
    if (!$secret) {
        throw new RuntimeException('${SECRET_VARIABLE} has no secret');
    }
    $id = $headers['${headerPrefix(kind)}-id'] ?? '';
    $timestamp = $headers['${headerPrefix(kind)}-timestamp'] ?? '';
    if (abs(time() - (int) $timestamp) > 300) {
        throw new RuntimeException('the timestamp differs by more than five minutes');
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $secret, true));
    foreach (explode(' ', $headers['${headerPrefix(kind)}-signature'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return json_decode($body, true);
        }
    }
    throw new RuntimeException('no signature matches');
}
`

/** The code by language. */
export const PLAIN_SNIPPETS: Record<Language, (kind: Kind) => string> = {
  Node: node,
  Python: python,
  Go: go,
  Swift: swift,
  PHP: php,
}

/** Code snippets for identify and attribute in several languages. */

type SnippetValues = { base_url: string; key: string | null; bundle_id: string }
export const LANGUAGES = ['curl', 'Swift', 'JavaScript', 'Kotlin'] as const
export type Language = (typeof LANGUAGES)[number]
export const CALLS = ['identify', 'attribute'] as const
export type Call = (typeof CALLS)[number]

const bodyOf = (call: Call, bundleId: string): Record<string, unknown> =>
  call === 'identify'
    ? { appUserId: 'user_42', bundleId, attributes: { plan: 'pro' } }
    : {
        appUserId: 'user_42',
        bundleId,
        originalTransactionId: '2000000123456789',
        productId: `${bundleId}.pro`,
      }

const address = ({ base_url }: SnippetValues, call: Call): string => `${base_url}/api/sdk/v1/${call}`

function curl(values: SnippetValues, call: Call): string {
  const lines = [
    `curl -X POST ${address(values, call)}`,
    ...(values.key ? [`-H 'Authorization: Bearer ${values.key}'`] : []),
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(bodyOf(call, values.bundle_id))}'`,
  ]
  return lines.join(' \\\n  ')
}

function javascript(values: SnippetValues, call: Call): string {
  const body = JSON.stringify(bodyOf(call, values.bundle_id), null, 2).replaceAll('\n', '\n  ')
  const bearer = values.key ? `\n    Authorization: 'Bearer ${values.key}',` : ''
  return `await fetch('${address(values, call)}', {
  method: 'POST',
  headers: {${bearer}
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${body}),
})`
}

const SWIFT_FIELDS: Record<Call, (bundle: string) => string> = {
  identify: () => `  "appUserId": "user_42",
  "bundleId": Bundle.main.bundleIdentifier!,
  "attributes": ["plan": "pro"],`,
  attribute: () => `  "appUserId": "user_42",
  "bundleId": Bundle.main.bundleIdentifier!,
  "originalTransactionId": String(transaction.originalID),
  "productId": transaction.productID,
  "jws": result.jwsRepresentation,`,
}

function swift(values: SnippetValues, call: Call): string {
  const bearer = values.key
    ? `\nrequest.setValue("Bearer ${values.key}", forHTTPHeaderField: "Authorization")`
    : ''
  const before =
    call === 'attribute'
      ? '// result: the VerificationResult<Transaction> of a purchase\nlet transaction = result.unsafePayloadValue\n'
      : ''
  return `${before}var request = URLRequest(url: URL(string: "${address(values, call)}")!)
request.httpMethod = "POST"
request.setValue("application/json", forHTTPHeaderField: "Content-Type")${bearer}
request.httpBody = try JSONSerialization.data(withJSONObject: [
${SWIFT_FIELDS[call](values.bundle_id)}
])
_ = try await URLSession.shared.data(for: request)`
}

function kotlin(values: SnippetValues, call: Call): string {
  const fields =
    call === 'identify'
      ? `  .put("appUserId", "user_42")
  .put("bundleId", BuildConfig.APPLICATION_ID)
  .put("platform", "android")
  .put("attributes", JSONObject().put("plan", "pro"))`
      : `  .put("appUserId", "user_42")
  .put("bundleId", BuildConfig.APPLICATION_ID)
  .put("platform", "android")
  .put("purchaseToken", purchase.purchaseToken)
  .put("productId", purchase.products.first())`
  const bearer = values.key ? `\n  setRequestProperty("Authorization", "Bearer ${values.key}")` : ''
  return `val body = JSONObject()
${fields}
with(URL("${address(values, call)}").openConnection() as HttpURLConnection) {
  requestMethod = "POST"
  doOutput = true
  setRequestProperty("Content-Type", "application/json")${bearer}
  outputStream.use { it.write(body.toString().toByteArray()) }
  responseCode
}`
}

const WRITERS: Record<Language, (values: SnippetValues, call: Call) => string> = {
  curl,
  Swift: swift,
  JavaScript: javascript,
  Kotlin: kotlin,
}

/** A snippet, without a key if there is none. */
export const snippet = (language: Language, call: Call, values: SnippetValues): string =>
  WRITERS[language](values, call)

/** Verification code with the package standardwebhooks. */
import type { Endpoint } from '../webhook_queries.ts'
import { renamedHeaders, SECRET_VARIABLE } from './languages.ts'

type Kind = Endpoint['kind']
const indented = (lines: readonly string[], indent: string): string =>
  lines.map((line) => `${indent}${line}\n`).join('')

function node(kind: Kind): string {
  const call =
    kind === 'events'
      ? `export const verify = (body, headers) => webhook.verify(body, headers)`
      : `export const verify = (body, headers) =>
  webhook.verify(body, {
${indented(
  renamedHeaders(kind).map(([expected, sent]) => `'${expected}': headers['${sent}'],`),
  '    ',
)}  })`
  return `// npm install standardwebhooks
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.${SECRET_VARIABLE})

// body: the raw request body, before a JSON parser. headers: request.headers.
// Returns the parsed body. Throws if the signature is wrong or older than five minutes.
${call}
`
}

function python(kind: Kind): string {
  const headers =
    kind === 'events'
      ? 'headers'
      : `{
${indented(
  renamedHeaders(kind).map(([expected, sent]) => `"${expected}": headers["${sent}"],`),
  '        ',
)}    }`
  return `# pip install standardwebhooks
import os

from standardwebhooks.webhooks import Webhook

webhook = Webhook(os.environ["${SECRET_VARIABLE}"])


# body: the raw request body, before a JSON parser. headers: the request's headers.
# Returns the parsed body. Raises if the signature is wrong or older than five minutes.
def verify(body, headers):
    return webhook.verify(body, ${headers})
`
}

function go(kind: Kind): string {
  const headers = kind === 'events' ? 'headers' : 'renamed'
  const renaming =
    kind === 'events'
      ? ''
      : `	renamed := http.Header{}
${indented(
  renamedHeaders(kind).map(([expected, sent]) => `renamed.Set("${expected}", headers.Get("${sent}"))`),
  '\t',
)}`
  return `// go get github.com/standard-webhooks/standard-webhooks/libraries
package webhook

import (
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Verify checks the raw body of a request, before a JSON parser.
// It fails if the signature is wrong or older than five minutes.
func Verify(body []byte, headers http.Header) error {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("${SECRET_VARIABLE}"))
	if err != nil {
		return err
	}
${renaming}	return webhook.Verify(body, ${headers})
}
`
}

/** The code by language. For Swift and PHP it is written without a package. */
export const LIBRARY_SNIPPETS = { Node: node, Python: python, Go: go } as const

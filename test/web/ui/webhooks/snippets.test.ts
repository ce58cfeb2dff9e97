/** The verification code of the dashboard runs as it is shown, wherever its language is installed. */
import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import {
  LANGUAGES,
  type Language,
  SECRET_VARIABLE,
} from '../../../../src/web/ui/settings/webhooks/verification/languages.ts'
import {
  variantsOf,
  verificationSnippet,
} from '../../../../src/web/ui/settings/webhooks/verification/snippets.ts'
import { temporaryFolder } from '../../../folders.ts'
import { isLong } from '../../../random.ts'

const PACKAGES = fileURLToPath(new URL('../../../../node_modules', import.meta.url))
const KEY = Buffer.from('a key of at least twenty-four bytes')
const OTHER_KEY = Buffer.from('another key of the same length, 35b')
const BODY = '{"type":"subscription.renewed","seq":7,"data":{"name":"Zoë – 東京"}}'
const KINDS = ['events', 'apple'] as const
type Kind = (typeof KINDS)[number]
type Request = { body: string; headers: Record<string, string> }

const signatureOf = (id: string, timestamp: number, key = KEY): string =>
  `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${BODY}`).digest('base64')}`

/** A request whose signature is of `age_s` seconds ago. */
function requestOf(kind: Kind, age_s = 0): Request {
  const timestamp = Math.floor(Date.now() / 1000) - age_s
  const prefix = kind === 'apple' ? 'windfall' : 'webhook'
  const headers = {
    [`${prefix}-id`]: 'evt_1',
    [`${prefix}-timestamp`]: String(timestamp),
    // During a rotation there are two, and the receiver knows one of the secrets.
    [`${prefix}-signature`]: `${signatureOf('evt_1', timestamp, OTHER_KEY)} ${signatureOf('evt_1', timestamp)}`,
  }
  return { body: BODY, headers }
}

const withHeader = ({ body, headers }: Request, part: string, value: string): Request => ({
  body,
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, one]) => [name, name.endsWith(part) ? value : one]),
  ),
})

/** Requests that a receiver must accept or refuse. */
function casesOf(kind: Kind): [name: string, request: Request, isAccepted: boolean][] {
  const good = requestOf(kind)
  return [
    ['two signatures', good, true],
    ['another body', { ...good, body: BODY.replace('7', '8') }, false],
    ['another id', withHeader(good, '-id', 'evt_2'), false],
    ['a signature of another key', withHeader(good, '-signature', signatureOf('evt_1', 1, OTHER_KEY)), false],
    ['a cut signature', withHeader(good, '-signature', 'v1,AAAA'), false],
    ['no signature', withHeader(good, '-signature', ''), false],
    ['four minutes old', requestOf(kind, 240), true],
    ['six minutes old', requestOf(kind, 360), false],
    ['six minutes ahead', requestOf(kind, -360), false],
    ['no number as timestamp', withHeader(good, '-timestamp', 'now'), false],
  ]
}

type Runner = { files: (code: string) => Record<string, string>; command: readonly [string, ...string[]] }
/** Programs that read requests from cases.json, verify each, and print whether they accept it. */
const RUNNERS: Partial<Record<Language, Runner>> = {
  Node: {
    files: (code) => ({
      'verify.mjs': code,
      'main.mjs': `import { readFileSync } from 'node:fs'
import { verify } from './verify.mjs'
const accepts = ({ body, headers }) => {
  try {
    return verify(Buffer.from(body), headers).type === 'subscription.renewed'
  } catch {
    return false
  }
}
process.stdout.write(JSON.stringify(JSON.parse(readFileSync('cases.json')).map(accepts)))
`,
    }),
    command: [process.execPath, 'main.mjs'],
  },
  Python: {
    files: (code) => ({
      'verification.py': code,
      'main.py': `import json
from verification import verify

def accepts(request):
    try:
        return verify(request["body"].encode(), request["headers"])["type"] == "subscription.renewed"
    except Exception:
        return False

print(json.dumps([accepts(one) for one in json.load(open("cases.json"))]))
`,
    }),
    command: ['python3', 'main.py'],
  },
  Go: {
    files: (code) => ({
      'go.mod': 'module receiver\n\ngo 1.21\n',
      'webhook/webhook.go': code,
      'main.go': `package main

import (
	"encoding/json"
	"net/http"
	"os"

	"receiver/webhook"
)

func main() {
	var requests []struct {
		Body    string
		Headers map[string]string
	}
	text, _ := os.ReadFile("cases.json")
	if err := json.Unmarshal(text, &requests); err != nil {
		panic(err)
	}
	results := []bool{}
	for _, request := range requests {
		headers := http.Header{}
		for name, value := range request.Headers {
			headers.Set(name, value)
		}
		results = append(results, webhook.Verify([]byte(request.Body), headers) == nil)
	}
	json.NewEncoder(os.Stdout).Encode(results)
}
`,
    }),
    command: ['go', 'run', '.'],
  },
  PHP: {
    files: (code) => ({
      'verify.php': code,
      'main.php': `<?php
require 'verify.php';
$results = [];
foreach (json_decode(file_get_contents('cases.json'), true) as $request) {
    try {
        $results[] = verify($request['body'], $request['headers'])['type'] === 'subscription.renewed';
    } catch (Throwable) {
        $results[] = false;
    }
}
echo json_encode($results);
`,
    }),
    command: ['php', 'main.php'],
  },
}

const VERSION_ARGUMENT: Partial<Record<Language, string>> = { Go: 'version' }
const isInstalled = (language: Language): boolean => {
  const program = RUNNERS[language]?.command[0]
  return (
    program !== undefined &&
    spawnSync(program, [VERSION_ARGUMENT[language] ?? '--version'], { stdio: 'ignore' }).status === 0
  )
}

/** Runs the code on requests. Returns which it accepts, and what it printed if it failed. */
function verdicts(language: Language, code: string, requests: Request[], secret: string) {
  const runner = RUNNERS[language]
  if (runner === undefined) throw new Error(`nothing runs ${language}`)
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries({
    ...runner.files(code),
    'cases.json': JSON.stringify(requests),
  })) {
    mkdirSync(join(folder.path, name, '..'), { recursive: true })
    writeFileSync(join(folder.path, name), text)
  }
  if (existsSync(PACKAGES)) symlinkSync(PACKAGES, join(folder.path, 'node_modules'))
  const [program, ...args] = runner.command
  const env = { ...process.env, [SECRET_VARIABLE]: secret, GOFLAGS: '-mod=mod', GOPROXY: 'off' }
  const { stdout, stderr, status } = spawnSync(program, args, { cwd: folder.path, env, encoding: 'utf8' })
  folder.remove()
  return { status, stderr, accepted: status === 0 ? (JSON.parse(stdout) as boolean[]) : [] }
}

const SECRET = `whsec_${KEY.toString('base64')}`
/** Go compiles its own library first, which takes half a minute on a fresh machine. */
const RUNNABLE = LANGUAGES.filter((language) => (language !== 'Go' || isLong) && isInstalled(language))
/** Runs the code on the cases of a kind. */
function resultsOf(language: Language, code: string, kind: Kind) {
  const cases = casesOf(kind)
  const { accepted, stderr } = verdicts(
    language,
    code,
    cases.map(([, request]) => request),
    SECRET,
  )
  return {
    stderr,
    results: Object.fromEntries(cases.map(([name], at) => [name, accepted[at]])),
    expected: Object.fromEntries(cases.map(([name, , isAccepted]) => [name, isAccepted])),
  }
}

describe.for(RUNNABLE)('the %s code', (language) => {
  test.for(KINDS)('accepts signed requests of kind %s and refuses the others', (kind) => {
    const code = verificationSnippet(language, 'plain', kind)
    const { results, expected, stderr } = resultsOf(language, code, kind)
    expect(results, stderr).toEqual(expected)
  })

  test('refuses everything without a secret', () => {
    const timestamp = Math.floor(Date.now() / 1000)
    const empty = createHmac('sha256', '').update(`evt_1.${timestamp}.${BODY}`).digest('base64')
    const request = withHeader(
      withHeader(requestOf('events'), '-timestamp', String(timestamp)),
      '-signature',
      `v1,${empty}`,
    )
    const code = verificationSnippet(language, 'plain', 'events')
    expect(verdicts(language, code, [request], 'whsec_').accepted).not.toContain(true)
  })
})

describe.skipIf(!existsSync(join(PACKAGES, 'standardwebhooks')))('the Node code with the package', () => {
  test.for(KINDS)('accepts signed requests of kind %s and refuses the others', (kind) => {
    const code = verificationSnippet('Node', 'library', kind)
    const { results, expected, stderr } = resultsOf('Node', code, kind)
    expect(results, stderr).toEqual(expected)
  })
})

test('at least Node runs here', () => {
  expect(RUNNABLE).toContain('Node')
})

test('no code has a secret, and each reads the environment and the headers of its kind', () => {
  for (const language of LANGUAGES) {
    for (const variant of variantsOf(language)) {
      for (const kind of KINDS) {
        const code = verificationSnippet(language, variant, kind)
        expect(code).toContain(SECRET_VARIABLE)
        expect(code).not.toMatch(/whsec_\w/)
        expect(code.includes('windfall-id')).toBe(kind === 'apple')
      }
    }
  }
  expect(LANGUAGES.filter((language) => variantsOf(language).includes('library'))).toEqual([
    'Node',
    'Python',
    'Go',
  ])
})

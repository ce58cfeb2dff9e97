import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Problem, read, write } from '../../../../src/web/ui/http.ts'

const FOREIGN = 'The answer is not Windfall’s. A proxy or a sign-in page may stand in between.'

/** The address of a server that gives one answer; `cut` ends the connection after half of its body. */
async function answering(status: number, type: string, body: string, cut = false): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
    if (!cut) response.end(body)
    else response.write(body.slice(0, body.length / 2), () => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/today`
}

async function problemOf(pending: Promise<unknown>): Promise<Pick<Problem, 'status' | 'code' | 'message'>> {
  const problem = await pending.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(problem instanceof Problem)) throw new Error(`${problem} is no Problem`)
  const { status, code, message } = problem
  return { status, code, message }
}

test.each([
  ['a sign-in page', 200, 'text/html', '<!doctype html><title>Sign in</title>'],
  ['JSON that is cut off', 200, 'application/json', '{"amount": 12'],
  ['JSON of a text', 200, 'application/json', '"welcome"'],
  ['JSON of nothing', 200, 'application/json', 'null'],
  ['the error page of a proxy', 502, 'text/html', '<h1>502 Bad Gateway</h1>'],
  ['an error without a body', 403, 'text/plain', ''],
  ['an error in the JSON of another program', 403, 'application/json', '{"error":"access denied"}'],
])('%s is not said to be an answer of Windfall', async (_, status, type, body) => {
  const address = await answering(status, type, body)
  const expected = { status, code: 'foreign_answer', message: FOREIGN }
  expect(await problemOf(read(address))).toEqual(expected)
  expect(await problemOf(write('POST', address))).toEqual(expected)
})

test('a problem of Windfall keeps its code and its words', async () => {
  const body = JSON.stringify({ status: 409, code: 'job_running', detail: 'import is already running' })
  const address = await answering(409, 'application/problem+json', body)
  const message = 'Import is already running'
  expect(await problemOf(read(address))).toEqual({ status: 409, code: 'job_running', message })
})

test('no server, and a connection that ends within an answer, are no connection', async () => {
  const offline = { status: 0, code: 'offline', message: 'Cannot reach the server.' }
  expect(await problemOf(read('http://127.0.0.1:1/api/v1/today'))).toEqual(offline)
  expect(await problemOf(read(await answering(200, 'application/json', '{"a":1}', true)))).toEqual(offline)
})

test('an abort stays an abort', async () => {
  const aborting = new AbortController()
  const pending = read(await answering(200, 'application/json', '{}'), {}, aborting.signal)
  aborting.abort()
  await expect(pending).rejects.toMatchObject({ name: 'AbortError' })
})

import { expect, test } from 'vitest'
import { type LogLevel, openLog, redact } from '../src/log.ts'

const at = Date.UTC(2026, 10, 21, 5, 6, 7, 89)

function openTestLog(format: 'pretty' | 'json', level: LogLevel = 'debug') {
  let text = ''
  const writes: string[] = []
  const write = (bytes: Uint8Array) => {
    writes.push(Buffer.from(bytes).toString())
    text += writes.at(-1)
  }
  const log = openLog({ format, level, write, clock: () => at })
  return {
    log,
    writes,
    logged() {
      log.flush()
      const now = text
      text = ''
      return now
    },
  }
}

const request = {
  method: 'POST',
  path: '/api/sdk/v1/identify',
  status: 200,
  ms: 1.2345,
  bytes: 84,
  request_id: 'req_1_a',
  code: null,
}

test('writes a JSON line as one object', () => {
  const { log, logged } = openTestLog('json')
  log.info('listening', { url: 'http://127.0.0.1:8787', port: 8787, tls: false, previous: null })
  expect(logged()).toBe(
    '{"time":"2026-11-21T05:06:07.089Z","level":"info","message":"listening",' +
      '"url":"http://127.0.0.1:8787","port":8787,"tls":false,"previous":null}\n',
  )
})

test('writes a pretty line with time, level, message and fields', () => {
  const { log, logged } = openTestLog('pretty')
  log.warn('a backup is late', { hours: 30, file: 'a b.db', where: { on: 'disk' } })
  expect(logged()).toBe('05:06:07 warn  a backup is late hours=30 file="a b.db" where={"on":"disk"}\n')
})

test('writes a request as one line in both formats', () => {
  const json = openTestLog('json')
  json.log.request(request)
  expect(JSON.parse(json.logged())).toEqual({
    time: '2026-11-21T05:06:07.089Z',
    level: 'info',
    message: 'request',
    method: 'POST',
    path: '/api/sdk/v1/identify',
    status: 200,
    ms: 1.2,
    bytes: 84,
    request_id: 'req_1_a',
  })
  json.log.request({ ...request, status: 404, bytes: null, code: 'not_found', path: '/"\\' })
  expect(JSON.parse(json.logged())).toMatchObject({ path: '/"\\', bytes: null, code: 'not_found' })

  const pretty = openTestLog('pretty')
  pretty.log.request(request)
  pretty.log.request({ ...request, status: 404, bytes: null, code: 'not_found' })
  expect(pretty.logged()).toBe(
    '05:06:07 POST /api/sdk/v1/identify 200 1.2ms 84B req_1_a\n' +
      '05:06:07 POST /api/sdk/v1/identify 404 1.2ms - req_1_a not_found\n',
  )
})

test('begins each line with its priority for the journal, which also has the stack of an error by lines', () => {
  let text = ''
  const write = (bytes: Uint8Array) => {
    text += Buffer.from(bytes).toString()
  }
  const json = openLog({ format: 'json', level: 'debug', hasPriorities: true, write, clock: () => at })
  for (const level of ['debug', 'info', 'warn', 'error'] as const) json[level]('words')
  json.flush()
  expect(
    text.match(/^<\d>\{"time":"[^"]+","level":"\w+"/gm)?.map((line) => line.replace(/\{.*:/, '')),
  ).toEqual(['<7>"debug"', '<6>"info"', '<4>"warn"', '<3>"error"'])
  text = ''
  const pretty = openLog({ format: 'pretty', level: 'debug', hasPriorities: true, write, clock: () => at })
  pretty.error('failed', { error: Object.assign(new Error('why'), { stack: 'Error: why\n    at once' }) })
  expect(text).toBe('<3>05:06:07 error failed\n<3>Error: why\n<3>    at once\n')
})

test('drops lines below the level, which can change', () => {
  const { log, logged } = openTestLog('pretty', 'warn')
  const all = () => {
    log.debug('d')
    log.info('i')
    log.request(request)
    log.warn('w')
    log.error('e')
    return logged()
      .split('\n')
      .filter((line) => line !== '').length
  }
  expect(all()).toBe(2)
  log.setLevel('error')
  expect(all()).toBe(1)
  log.setLevel('info')
  expect(all()).toBe(4)
  log.setLevel('debug')
  expect(all()).toBe(5)
})

test('writes repeated lines', () => {
  const { log, logged } = openTestLog('pretty')
  for (let i = 0; i < 20; i++) log.info('again')
  expect(logged().split('\n')).toHaveLength(21)
})

test.each([
  ['Bearer pk_live_abcdefghijklmnop', 'Bearer pk_live_abcd…'],
  ['key sk_live_abcdefghijklmnop.', 'key sk_live_abcd….'],
  ['dt_AbC-_123456789/wf_0123456789', 'dt_AbC-…/wf_0123…'],
  ['secrets whsec_AbC+/123456789/+0==, whsec_aaaabbbb', 'secrets whsec_AbC+…, whsec_aaaa…'],
  ['{"Authorization":"Bearer eyJhbGciOi","b":1}', '{"Authorization":"Bearer eyJh…","b":1}'],
  ['authorization: Basic dXNlcjpwYXNz', 'authorization: Basic dXNl…'],
  ['authorization=secret12', 'authorization=secr…'],
  ['{"body":"{\\"authorization\\": \\"token12345\\"}"}', '{"body":"{\\"authorization\\": \\"toke…\\"}"}'],
  ['sent Bearer abcdefghijk, twice', 'sent Bearer abcd… twice'],
  ['the bearer of news', 'the bearer of news'],
  ['created_at width_1', 'created_at width_1'],
])('%s is written as %s', (text, redacted) => {
  expect(redact(text)).toBe(redacted)
})

test.each(['json', 'pretty'] as const)('no secret is in a %s line, wherever it was', (format) => {
  const { log, logged } = openTestLog(format)
  const secret = 'sk_live_abcdSECRETSECRET'
  log.info(`refused ${secret}`)
  log.info('refused', { key: secret, deep: { list: [{ inside: `x${secret}` }] } })
  log.info('refused', { headers: { Authorization: 'Bearer SECRET', cookie: 'sid=SECRET' } })
  log.info('refused', { authorization: 'SECRET', 'set-cookie': ['sid=SECRET'] })
  log.error('broke', { error: new Error(`with ${secret}`, { cause: new Error(secret) }) })
  log.request({ ...request, path: `/links/${secret}` })
  const text = logged()
  expect(text).not.toContain('SECRET')
  expect(text.match(/sk_live_abcd…/g)?.length).toBeGreaterThanOrEqual(5)
})

test('writes an error with its stack', () => {
  const json = openTestLog('json')
  json.log.error('broke', { error: new TypeError('no') })
  expect(JSON.parse(json.logged()).error).toMatchObject({
    message: 'no',
    stack: expect.stringContaining('log.test.ts'),
  })
  const pretty = openTestLog('pretty')
  pretty.log.error('broke', { error: new TypeError('no') })
  expect(pretty.logged()).toMatch(/^05:06:07 error broke\nTypeError: no\n {4}at .*log\.test\.ts/)
})

test('a field cannot replace the message', () => {
  const { log, logged } = openTestLog('json')
  log.info('refused', { message: 'all is well', level: 'debug' })
  expect(JSON.parse(logged())).toMatchObject({ message: 'refused', level: 'info' })
})

test('writes a line with a value that JSON cannot represent', () => {
  const { log, logged } = openTestLog('json')
  const circle: Record<string, unknown> = {}
  circle.itself = circle
  log.info('big', { count: 12n })
  log.info('round', { circle, port: 1 })
  const [big, round] = logged()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(big).toMatchObject({ message: 'big', count: '12' })
  expect(round).toMatchObject({ message: 'round', port: 1 })
})

test('a field value cannot forge another line', () => {
  const { log, logged } = openTestLog('pretty')
  log.info('refused', { host: 'a\n05:06:07 info  all is well' })
  expect(logged().trim().split('\n')).toHaveLength(1)
})

test('writes an error immediately, with the lines before it', () => {
  const { log, writes } = openTestLog('pretty')
  log.info('first')
  expect(writes).toEqual([])
  log.error('second')
  expect(writes).toEqual(['05:06:07 info  first\n05:06:07 error second\n'])
})

test('writes buffered lines after a short time', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const write = (bytes: Uint8Array) => resolve(Buffer.from(bytes).toString())
  const log = openLog({ format: 'pretty', level: 'info', write, clock: () => at })
  log.info('first')
  log.info('second')
  expect(await promise).toBe('05:06:07 info  first\n05:06:07 info  second\n')
})

test('writes long and many lines completely and in order', () => {
  const { log, logged } = openTestLog('json')
  const numbers = Array.from({ length: 2000 }, (_, i) => i)
  for (const i of numbers) log.info('ä€😀', { i })
  log.info('long', { text: 'ä'.repeat(100_000) })
  log.info('last')
  const lines = logged()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.slice(0, 2000).map(({ i }) => i)).toEqual(numbers)
  expect(lines[0].message).toBe('ä€😀')
  expect(lines.slice(2000).map(({ message, text }) => [message, text?.length])).toEqual([
    ['long', 100_000],
    ['last', undefined],
  ])
})

import { expect, test } from 'vitest'
import { openRequestLines } from '../../../src/http/admission/refused_lines.ts'
import { handClock } from '../../helpers.ts'
import { openTestHttp } from '../wire.ts'

const REQUEST = { method: 'GET', path: '/', ms: 1, bytes: 0, request_id: 'req_1', code: null }
const entry = (status: number) => ({ ...REQUEST, status })

test('logs 600 refused requests a minute, then how many others there were, and every other request', () => {
  const clock = handClock(0)
  const lines: (number | object)[] = []
  const logRequest = openRequestLines(
    { request: ({ status }) => lines.push(status), info: (_, fields) => lines.push(fields ?? {}) },
    clock,
  )
  for (let n = 0; n < 1_000; n += 1) logRequest(entry(n % 2 === 0 ? 401 : 503))
  logRequest(entry(200))
  expect(lines).toHaveLength(601)
  clock.turn(60_000)
  logRequest(entry(200))
  expect(lines.slice(601)).toEqual([{ dropped: 400 }, 200])
  clock.turn(60_000)
  logRequest(entry(404))
  expect(lines.slice(603)).toEqual([404])
})

test('a flood of refused requests has no more lines', async () => {
  const { http, lines } = openTestHttp([])
  for (let n = 0; n < 700; n += 1) await http.app.request(`/${n}`)
  expect(lines().filter(({ message }) => message === 'request')).toHaveLength(600)
})

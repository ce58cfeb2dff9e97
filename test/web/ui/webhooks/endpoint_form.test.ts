/** The form of an endpoint: what it sends, and where it shows errors. */
import { expect, test } from 'vitest'
import { Problem } from '../../../../src/web/ui/http.ts'
import {
  changeBody,
  createBody,
  draftOf,
  emptyDraft,
  formProblem,
} from '../../../../src/web/ui/settings/webhooks/form/draft.ts'
import { endpointOf } from './endpoints.ts'

const URL = 'https://api.example.com/hooks'

test('a new endpoint sends what was entered, and leaves out an empty name and empty headers', () => {
  const draft = { ...emptyDraft('org_1'), url: ` ${URL} ` }
  expect(createBody(draft)).toEqual({
    organization_id: 'org_1',
    kind: 'events',
    url: URL,
    types: null,
    apps: null,
    environment: null,
    ordered: false,
    max_per_second: null,
    headers: {},
  })
  const headers = [
    { name: ' X-Key ', value: 'a b' },
    { name: '', value: 'ignored' },
  ]
  const full = { ...draft, name: ' Backend ', types: ['trial.started'], apps: ['app_1'], headers }
  expect(createBody(full)).toMatchObject({
    name: 'Backend',
    types: ['trial.started'],
    apps: ['app_1'],
    headers: { 'X-Key': 'a b' },
  })
})

test('an endpoint for Apple’s notifications has neither types nor order', () => {
  const body = createBody({ ...emptyDraft(null), kind: 'apple', types: ['trial.started'], ordered: true })
  expect(Object.keys(body)).not.toContain('types')
  expect(Object.keys(body)).not.toContain('ordered')
  expect(Object.keys(body)).not.toContain('organization_id')
})

test('a change sends only what differs, and stored headers only if they are replaced', () => {
  const before = draftOf(endpointOf({ header_names: ['X-Key'], apps: ['app_1'] }))
  expect(changeBody(before, before)).toEqual({})
  expect(changeBody({ ...before, ordered: true, apps: null }, before)).toEqual({ ordered: true, apps: null })
  expect(changeBody({ ...before, max_per_second: 5 }, before)).toEqual({ max_per_second: 5 })
  expect(changeBody({ ...before, headers: [] }, before)).toEqual({ headers: {} })
  const replaced = changeBody({ ...before, headers: [{ name: 'X-Key', value: 'new' }] }, before)
  expect(replaced).toEqual({ headers: { 'X-Key': 'new' } })
  const without = draftOf(endpointOf({ header_names: [] }))
  expect(changeBody({ ...without, headers: [] }, without)).toEqual({})
})

test('errors of the server appear at their fields', () => {
  const invalid = new Problem(400, 'invalid_request', 'url: has no host (and 2 more)', [
    { path: 'url', message: 'has no host' },
    { path: 'max_per_second', message: 'is more than 1000' },
    { path: 'headers.Host', message: 'is set by Windfall' },
    { path: 'headers.Bad', message: 'another' },
  ])
  expect(formProblem(invalid)).toEqual({
    fields: {
      url: 'The URL has no host.',
      max_per_second: 'The number of requests is more than 1000.',
      headers: 'The header Host is set by Windfall.',
    },
    permit: null,
    other: null,
  })
  const taken = formProblem(new Problem(409, 'name_taken', 'Another endpoint has the name Backend'))
  expect(taken.fields).toEqual({ name: 'Another endpoint has the name Backend.' })
  const offline = formProblem(new Problem(0, 'offline', 'Cannot reach the server.'))
  expect(offline).toEqual({ fields: {}, permit: null, other: 'Cannot reach the server.' })
  expect(formProblem(null)).toEqual({ fields: {}, permit: null, other: null })
})

test('a refused private address comes with lines that config.toml accepts', () => {
  const words =
    '127.0.0.1 is a loopback address. To permit it, set allow = ["[fd00::1/128]:8080", "127.0.0.1/32"] in [outbound] of config.toml, and reload or restart.'
  expect(formProblem(new Problem(400, 'address_not_allowed', words))).toEqual({
    fields: { url: '127.0.0.1 is a loopback address.' },
    permit: '[outbound]\nallow = ["[fd00::1/128]:8080", "127.0.0.1/32"]',
    other: null,
  })
})

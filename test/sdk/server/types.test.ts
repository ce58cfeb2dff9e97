/** The generated types are those of the OpenAPI document, and describe what Windfall sends. */
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../src/events/vocabulary.ts'
import { exampleOf } from '../../../src/forwarding/bodies/test_event.ts'
import { generatedFiles, jsonOf, type OpenApiDocument } from '../../../tools/sdk/server_types.ts'
import { openTestApp } from '../../helpers.ts'
import { read } from '../../tidy/files.ts'
import { faultsIn } from './compiling.ts'

async function servedDocument(): Promise<OpenApiDocument> {
  const app = await openTestApp()
  return (await app.request('/api/openapi.json')).json() as Promise<OpenApiDocument>
}

test('the generated types are up to date (node tools/sdk/write.ts)', async () => {
  for (const { file, text } of generatedFiles(await servedDocument())) expect(read(file), file).toBe(text)
})

test('the documented example of each type has the type of its event', () => {
  const bodies = EVENT_TYPES.map((type) => `  '${type}': ${JSON.stringify(exampleOf(type))},`)
  const code = [
    "import type { EventType, WebhookEvent, WebhookEventOf } from 'windfall-sdk/server'",
    `export const bodies: { [Type in EventType]: WebhookEventOf<Type> } = {\n${bodies.join('\n')}\n}`,
    'export const list: WebhookEvent[] = Object.values(bodies)',
  ]
  expect(faultsIn({ 'bodies.ts': code.join('\n') })).toEqual([])
  const wrong = code.join('\n').replace('"price_milli":', '"price":')
  expect(faultsIn({ 'bodies.ts': wrong })).not.toEqual([])
})

test('a change of a webhook changes the types, and one that the generator does not know stops it', async () => {
  const document = await servedDocument()
  const textsOf = () => generatedFiles(document).map(({ text }) => text)
  const body = jsonOf(document.webhooks['gap.found']?.post.requestBody)
  const { properties } = body.properties?.data ?? {}
  if (properties === undefined) throw new Error('there is no gap.found')
  const before = textsOf()
  properties.data = { type: 'object', properties: { gap: { type: 'string' } }, required: ['gap'] }
  const after = textsOf()
  expect(before.join()).not.toContain('gap: string')
  expect(after.join()).toContain('export interface GapSnapshot {\n  gap: string\n}')
  properties.novel = { type: 'string' }
  expect(textsOf).toThrow('the fields of gap.found differ')
  delete properties.novel
  properties.data = { type: 'object', properties: { gap: { type: 'tuple' } } }
  expect(textsOf).toThrow('no TypeScript is known')
})

/** The types of `windfall-sdk/server` that follow from the OpenAPI document: webhooks, events and answers. */
import { commentOf, interfaceOf, quoted, type Schema, unionLines } from './type_script.ts'

type Content = { content: Record<string, { schema: Schema }> }
type Operation = { summary: string; responses: Record<string, Content> }

/** The parts of the OpenAPI document that types are made from. */
export type OpenApiDocument = {
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: { summary: string; requestBody: Content } }>
  components: { schemas: Record<string, Schema> }
}

/** A generated file, relative to the root of the repository. */
type GeneratedFile = { file: string; text: string }

const FOLDER = 'sdk/js/src/server/'
const HOW = 'Generated from the OpenAPI document by `node tools/sdk/write.ts`.'

/** Names of the snapshots that events of several types have. Those of one type are named after it. */
const SHARED: Readonly<Record<string, string>> = {
  'trial.started': 'NotificationSnapshot',
  'trial.converted': 'TransactionSnapshot',
  'gap.found': 'GapSnapshot',
  'endpoint.paused': 'EndpointSnapshot',
}
/** Apple’s fields of a notification depend on its type. */
const OPEN_PARTS = new Set(['WebhookNotification'])
/** What an event of the feed and a webhook have in different forms. */
const DIFFERENT = new Set(['seq', 'type', 'data', 'customer'])
const REVENUE = ['revenue_milli', 'currency', 'proceeds']

/** The generated files of the package. */
export const generatedFiles = (document: OpenApiDocument): GeneratedFile[] => [
  { file: `${FOLDER}event_parts.ts`, text: eventParts(document) },
  { file: `${FOLDER}event_types.ts`, text: eventTypes(document) },
  { file: `${FOLDER}answer_types.ts`, text: answerTypes(document) },
]

const fileOf = (purpose: string, parts: readonly string[]): string =>
  `/** ${purpose} ${HOW} */\n\n${parts.join('\n\n')}\n`

/** The schema of the JSON in an answer or a request. */
export const jsonOf = (message: Content | undefined): Schema =>
  message?.content['application/json']?.schema ?? {}

/** The schema of a property. @throws Error if there is none. */
function propertyOf(schema: Schema, name: string): Schema {
  const found = schema.properties?.[name]
  if (!found) throw new Error(`the OpenAPI document has no ${name} where it is expected`)
  return found
}

/** An object with some of its properties. */
function some(schema: Schema, isWanted: (name: string) => boolean): Schema {
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => isWanted(name))
  return { properties: Object.fromEntries(properties), required: schema.required ?? [] }
}

function answerOf({ paths }: OpenApiDocument, method: string, path: string): Schema {
  const answer = paths[path]?.[method]?.responses['200']
  if (!answer) throw new Error(`the OpenAPI document has no ${method} ${path}`)
  return jsonOf(answer)
}

/** The declaration of one file with a description in place of the document's. */
const described = (name: string, description: string, schema: Schema): string =>
  interfaceOf(name, { ...schema, description })

function answerTypes(document: OpenApiDocument): string {
  const access = answerOf(document, 'get', '/api/v1/users/{app_user_id}/access')
  const product = propertyOf(access, 'products').items ?? {}
  const imported = answerOf(document, 'post', '/api/v1/links/import')
  const named = (schema: Schema, name: string, reference: string): Schema => ({
    ...schema,
    properties: { ...schema.properties, [name]: { ...propertyOf(schema, name), items: { $ref: reference } } },
  })
  const fault = propertyOf(imported, 'faults').items ?? {}
  return fileOf('Answers of the API.', [
    described('Identified', 'The answer of `identify`.', answerOf(document, 'post', '/api/sdk/v1/identify')),
    described(
      'Attributed',
      'The answer of `attribute`.',
      answerOf(document, 'post', '/api/sdk/v1/attribute'),
    ),
    described('AccessProduct', 'A subscription or a non-consumable of a user.', product),
    described('Access', 'What a user has access to.', named(access, 'products', 'AccessProduct')),
    described('ImportFault', 'A row that was not imported.', fault),
    described('ImportOutcome', 'What an import of links did.', named(imported, 'faults', 'ImportFault')),
  ])
}

type Body = { type: string; summary: string; data: Schema; snapshot: string }

/** The bodies of webhooks, and the snapshots that their events have, by name. */
function bodiesOf({ webhooks }: OpenApiDocument) {
  const snapshots = new Map<string, Schema>()
  const nameBySchema = new Map<string, string>()
  const bodies = Object.entries(webhooks).map(([type, { post }]): Body => {
    const data = propertyOf(jsonOf(post.requestBody), 'data')
    const schema = propertyOf(data, 'data')
    const key = JSON.stringify(schema)
    const snapshot = nameBySchema.get(key) ?? SHARED[type] ?? `${pascal(type)}Snapshot`
    nameBySchema.set(key, snapshot)
    snapshots.set(snapshot, schema)
    return { type, summary: post.summary, data, snapshot }
  })
  return { bodies, snapshots }
}

const pascal = (type: string): string =>
  type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())

const UNIONS = `/** The types of events. A newer Windfall can send others. */
export type EventType = keyof EventSnapshots

/** What the body of a webhook has in \`data\`. */
export type WebhookData<Type extends EventType = EventType> = EventFields &
  WebhookFields &
  (Type extends TypeWithoutRevenue ? unknown : RevenueFields) & { type: Type; data: EventSnapshots[Type] }

/** The body of a webhook of one type. */
export interface WebhookEventOf<Type extends EventType> {
  type: Type
  /** When the event occurred, in ISO 8601 */
  timestamp: string
  /** The position in the feed; null for a test event */
  seq: number | null
  data: WebhookData<Type>
}

/** The body of a webhook. \`type\` tells which one. */
export type WebhookEvent = { [Type in EventType]: WebhookEventOf<Type> }[EventType]

/** An event of the feed, of one type. */
export type FeedEventOf<Type extends EventType> = EventFields &
  FeedFields & { type: Type; data: EventSnapshots[Type] }

/** An event of the feed. \`type\` tells which one. */
export type FeedEvent = { [Type in EventType]: FeedEventOf<Type> }[EventType]`

function eventParts(document: OpenApiDocument): string {
  const parts = partsOf(document)
  return fileOf('What the data of events consists of.', [
    ...parts.map(([name, part]) => interfaceOf(name, part, { isOpen: OPEN_PARTS.has(name) })),
    ...[...bodiesOf(document).snapshots].map(([name, snapshot]) => interfaceOf(name, snapshot)),
  ])
}

const partsOf = ({ components }: OpenApiDocument): [string, Schema][] =>
  Object.entries(components.schemas).filter(([name]) => name.startsWith('Webhook'))

/** What is read with an event of the feed, and is not in the body of a webhook. */
const ONLY_IN_FEED = ['display_name', 'display_name_verified', 'mrr_effect']

function eventTypes(document: OpenApiDocument): string {
  const { bodies, snapshots } = bodiesOf(document)
  const event = propertyOf(answerOf(document, 'get', '/api/v1/events'), 'events').items ?? {}
  const isOfFeed = (name: string) => ['seq', 'customer', ...ONLY_IN_FEED].includes(name)
  const isOfBoth = (name: string) =>
    name in (event.properties ?? {}) && !DIFFERENT.has(name) && !ONLY_IN_FEED.includes(name)
  const isRevenue = (name: string) => REVENUE.includes(name)
  const isOfWebhook = (name: string) =>
    isOfFeed(name) || !(isOfBoth(name) || isRevenue(name) || DIFFERENT.has(name))
  const data =
    bodies.find((body) => REVENUE.every((name) => name in (body.data.properties ?? {})))?.data ?? {}
  assertAlike(bodies, data)
  const fields = [
    described('EventFields', 'What every event has.', some(event, isOfBoth)),
    described('WebhookFields', 'What every webhook adds to its event.', some(data, isOfWebhook)),
    described('FeedFields', 'What every event of the feed has.', some(event, isOfFeed)),
    described('RevenueFields', 'The revenue that Apple notified.', some(data, isRevenue)),
  ]
  const names = [...partsOf(document).map(([name]) => name), ...snapshots.keys()]
  const types = bodies.map(
    ({ type, summary, snapshot }) => `${commentOf(summary, '  ')}  ${quoted(type)}: ${snapshot}`,
  )
  const used = names.filter((name) => [...types, ...fields].some((text) => text.includes(`: ${name}`)))
  return fileOf('Events as webhooks and the feed have them.', [
    `import type {${used
      .sort()
      .map((name) => `\n  ${name},`)
      .join('')}\n} from './event_parts.ts'`,
    `/** What was true when an event happened, by its type. */\nexport interface EventSnapshots {\n${types.join('\n')}\n}`,
    ...fields,
    `/** The types whose webhooks have no revenue. */\nexport type TypeWithoutRevenue =${withoutRevenue(bodies)}`,
    UNIONS,
  ])
}

function withoutRevenue(bodies: readonly Body[]): string {
  const types = bodies
    .filter(({ data }) => !('revenue_milli' in (data.properties ?? {})))
    .map(({ type }) => type)
  return types.length === 1 ? ` ${types.map(quoted)}` : unionLines(types.map(quoted), '')
}

/** @throws Error if webhooks differ in more than their type, their snapshot and their revenue. */
function assertAlike(bodies: readonly Body[], data: Schema): void {
  const rest = (schema: Schema) =>
    JSON.stringify(some(schema, (name) => !['type', 'data', ...REVENUE].includes(name)).properties)
  const other = bodies.find((body) => rest(body.data) !== rest(data))
  if (other) throw new Error(`the fields of ${other.type} differ from those of other webhooks`)
}

/** What the owner enters for endpoints and replays: its schemas, and what follows from them. */
import * as v from 'valibot'
import { resolveApps } from '../../access/scope.ts'
import type { Apps } from '../../apps/apps.ts'
import { endpointHeaders, endpointName, endpointPace, endpointUrl } from '../../config/endpoint_values.ts'
import { Refusal } from '../../errors.ts'
import { adviceOnType } from '../../events/type_advice.ts'
import { EVENT_TYPES } from '../../events/vocabulary.ts'
import type { EndpointSettings, NewEndpoint } from '../../forwarding/endpoints/administration.ts'
import type { Endpoint, EndpointKind } from '../../forwarding/endpoints/endpoints.ts'
import type { ReplayFilter } from '../../forwarding/replays/selection.ts'
import { invalid } from '../../http/parse.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'

const MAX_APPS = 100
/** The maximum size of a request with headers, in bytes: ten of 4,096 characters, and room for the rest. */
export const MAX_ENDPOINT_BYTES = 65_536

const described = <Schema extends v.GenericSchema>(schema: Schema, text: string) =>
  v.pipe(schema, v.description(text))
const nullable = <Schema extends v.GenericSchema>(schema: Schema, text: string) =>
  v.optional(described(v.nullable(schema), text))
const nonEmptyList = <Schema extends v.GenericSchema>(schema: Schema, max: number) =>
  v.pipe(v.array(schema), v.minLength(1, 'must not be empty; null is the default'), v.maxLength(max))

const appNames = nonEmptyList(v.pipe(v.string(), v.nonEmpty(), v.maxLength(200)), MAX_APPS)
const environment = v.picklist(['production', 'sandbox'], 'must be production or sandbox')

/** An event type. */
export const EventTypeName = v.picklist(
  EVENT_TYPES,
  ({ input }) => `is not an event type. ${adviceOnType(String(input))}`,
)
const eventTypes = nonEmptyList(EventTypeName, EVENT_TYPES.length)

const SETTINGS = {
  name: v.optional(
    described(
      v.pipe(v.string(), v.trim(), endpointName),
      'Unique in its organization; by default the host of the URL',
    ),
  ),
  apps: nullable(appNames, 'App ids or bundle ids; null is all apps, now and later'),
  environment: nullable(environment, 'null is both'),
  types: nullable(eventTypes, 'Event types; null is the default types'),
  ordered: v.optional(
    described(v.boolean(), 'Send the events of one subscription one after another, in the order of the feed'),
  ),
  max_per_second: nullable(
    endpointPace,
    'The most requests in a second, from 1 to 1000; null is no limit. New events go before what waits and replays',
  ),
  headers: v.optional(
    described(endpointHeaders, 'At most 10 headers that each request contains; they replace those of before'),
  ),
}

/** The body that creates an endpoint. */
export const NewEndpointBody = v.strictObject({
  organization_id: nullable(v.string(), 'Required if there are several'),
  kind: v.optional(
    described(
      v.picklist(['events', 'apple']),
      'events: Windfall’s events in the form of Standard Webhooks. apple: Apple’s notifications as they came',
    ),
    'events',
  ),
  url: endpointUrl,
  ...SETTINGS,
})
/** The body that changes an endpoint. What is absent stays. */
export const EndpointChangesBody = v.strictObject({ url: v.optional(endpointUrl), ...SETTINGS })

const instant = (text: string) => nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), text)
const position = (text: string) => nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(1)), text)
/** What a replay sends. */
export const ReplaySelection = {
  delivery_id: position('Only this delivery'),
  failed: v.optional(described(v.boolean(), 'All deliveries that were given up and not dismissed'), false),
  from_seq: position('The first seq, inclusive'),
  until_seq: position('The last seq, inclusive'),
  from_at: instant('Events that took effect at this time or later, in milliseconds'),
  until_at: instant('Events that took effect before this time, in milliseconds'),
  types: nullable(eventTypes, 'Only these types'),
  apps: nullable(appNames, 'Only these apps: app ids or bundle ids'),
  environment: nullable(environment, 'Only this environment'),
}

type NewBody = v.InferOutput<typeof NewEndpointBody>
type ChangesBody = v.InferOutput<typeof EndpointChangesBody>
type ReplayBody = v.InferOutput<v.ObjectSchema<typeof ReplaySelection, undefined>>

type Deps = { apps: Apps; outgoing: Pick<Outgoing, 'dispatcher'> }

/** Opens the checks of endpoints that need the database or the network. */
export function openEndpointRequests({ apps, outgoing: { dispatcher } }: Deps) {
  /** A host that cannot be resolved now is not refused. @throws Refusal 400 `address_not_allowed` */
  async function assertAddress(url: string): Promise<void> {
    const failure = await dispatcher.check(url)
    if (failure?.kind !== 'address') return
    const errors = [{ path: 'url', message: failure.words }]
    throw new Refusal(400, 'address_not_allowed', failure.words, { errors })
  }

  /**
   * The endpoint that a body describes.
   *
   * @throws Refusal 400 `invalid_request` or `address_not_allowed`; 404 `unknown_app`.
   */
  async function newEndpoint(
    { name, url, kind, ...settings }: NewBody,
    { organization_id, source }: Pick<NewEndpoint, 'organization_id' | 'source'>,
  ): Promise<NewEndpoint> {
    assertFilters(kind, settings)
    const { apps: names = null, environment = null, types = null, ordered = false, headers = {} } = settings
    const { max_per_second = null } = settings
    const filters = { environment, types, apps: appIdsOf(apps, organization_id, names) }
    await assertAddress(url)
    return {
      name: name ?? null,
      url,
      kind,
      ...filters,
      is_ordered: ordered,
      max_per_second,
      headers,
      organization_id,
      source,
    }
  }

  /** The changes of an endpoint that a body describes. @throws Refusal as `newEndpoint` */
  async function changes(endpoint: Endpoint, body: ChangesBody): Promise<Partial<EndpointSettings>> {
    assertFilters(endpoint.kind, body)
    const { apps: names, ordered, ...fields } = body
    const ids = names === undefined ? undefined : appIdsOf(apps, endpoint.organization_id, names)
    if (fields.url !== undefined) await assertAddress(fields.url)
    return present({ ...fields, apps: ids, is_ordered: ordered })
  }

  return { newEndpoint, changes }
}

/**
 * The filter of a replay.
 *
 * @throws Refusal 400 `invalid_request` if nothing is selected, or contradictory; 404 `unknown_app`.
 */
export function replayFilterOf(apps: Apps, endpoint: Endpoint, selection: ReplayBody): ReplayFilter {
  const { delivery_id = null, failed, from_seq = null, until_seq = null } = selection
  const { from_at = null, until_at = null, types = null, environment = null, apps: names = null } = selection
  const limits = [from_seq, until_seq, from_at, until_at]
  const filters = [...limits, types, environment, names]
  if (delivery_id !== null && (failed || filters.some((one) => one !== null)))
    throw invalid([{ path: 'delivery_id', message: 'selects one delivery; omit everything else' }])
  if (delivery_id === null && !failed && limits.every((one) => one === null)) {
    const message = 'nothing is selected: send delivery_id, failed, or a limit such as from_seq or from_at'
    throw invalid([{ path: '', message }])
  }
  if (failed && (from_seq !== null || until_seq !== null))
    throw invalid([{ path: 'failed', message: 'cannot be limited by seq; use from_at and until_at' }])
  assertOrder('until_seq', from_seq, until_seq)
  assertOrder('until_at', from_at, until_at)
  assertFilters(endpoint.kind, { types })
  const appIds = appIdsOf(apps, endpoint.organization_id, names)
  return { delivery_id, failed, from_seq, until_seq, from_at, until_at, types, apps: appIds, environment }
}

/** The ids of apps of an organization. @throws Refusal 404 `unknown_app` */
function appIdsOf(apps: Apps, organization_id: string, names: readonly string[] | null): string[] | null {
  const scope = { organization_id, apps: null }
  return names && [...new Set(names.flatMap((name) => resolveApps(name, scope, apps)))]
}

/** @throws Refusal 400 `invalid_request` if filters do not apply to a kind */
function assertFilters(
  kind: EndpointKind,
  { types = null, ordered = false }: Pick<ChangesBody, 'types' | 'ordered'>,
): void {
  if (kind !== 'apple') return
  if (types !== null)
    throw invalid([{ path: 'types', message: 'cannot be set: Apple’s notifications have no event types' }])
  if (ordered)
    throw invalid([{ path: 'ordered', message: 'cannot be true: Apple’s notifications have no order' }])
}

function assertOrder(path: string, from: number | null, until: number | null): void {
  if (from !== null && until !== null && until < from)
    throw invalid([{ path, message: 'must not be before the beginning' }])
}

/** The fields that are not undefined. */
const present = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Fields]?: Exclude<Fields[Key], undefined>
  }

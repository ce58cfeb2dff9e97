/** The control verbs behind `windfall webhooks`: endpoints, deliveries and replays. */
import * as v from 'valibot'
import { type AuditActor, COMMAND_LINE } from '../access/audit.ts'
import { sendTestEvent, TestSelection } from '../api/forwarding/actions.ts'
import { DeliveryState } from '../api/forwarding/answers.ts'
import { openDeliveryDescriptions, openDescriptions } from '../api/forwarding/descriptions.ts'
import { dismissLosses } from '../api/forwarding/losses.ts'
import {
  NewEndpointBody,
  openEndpointRequests,
  ReplaySelection,
  replayFilterOf,
} from '../api/forwarding/requests.ts'
import { retryDelivery, retryEndpoint } from '../api/forwarding/retries.ts'
import type { Windfall } from '../app.ts'
import { Refusal } from '../errors.ts'
import type { Endpoint } from '../forwarding/endpoints/endpoints.ts'
import { isReached } from '../forwarding/sending/schedule.ts'
import { instantSince } from '../ledger/history/since.ts'
import { type Verbs, verb } from './socket.ts'

const HOUR_MS = 3_600_000
const MAX_OVERLAP_HOURS = 720
const text = v.pipe(v.string(), v.nonEmpty())
const organization = v.optional(v.nullable(v.string()), null)
const { organization_id: _, ...newEndpoint } = NewEndpointBody.entries
const NewEndpoint = v.strictObject({ ...newEndpoint, organization })
/** An endpoint by its name or id. */
const named = { name: text, organization }
const Named = v.object(named)
const Rotation = v.object({
  ...named,
  overlap_hours: v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_OVERLAP_HOURS)),
})
const Resumption = v.object({ ...named, from: v.picklist(['waiting', 'now']) })
/** `since` and `until`: instants as `instantSince` reads them. */
const Replay = v.object({
  ...named,
  ...ReplaySelection,
  since: v.optional(v.nullable(text), null),
  until: v.optional(v.nullable(text), null),
})
const ById = v.object({ id: text })
const LogQuery = v.object({
  name: v.nullable(text),
  organization,
  state: v.nullable(DeliveryState),
  type: v.nullable(text),
  limit: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1_000)),
})
const DeliveryById = v.object({ id: v.pipe(v.number(), v.safeInteger(), v.minValue(1)) })

/** The verbs `webhooks.*`. */
export const webhookVerbs = (windfall: Windfall): Verbs => ({
  ...endpointVerbs(windfall),
  ...stateVerbs(windfall),
  ...replayVerbs(windfall),
  ...retryVerbs(windfall),
  ...logVerbs(windfall),
})

/** Returns a function that finds an endpoint by its name or id. */
function openFinding({ forwarding: { endpoints }, organizations }: Windfall) {
  /** @throws Refusal 404 `unknown_endpoint`, 409 `ambiguous_endpoint` */
  return ({ name, organization }: v.InferOutput<typeof Named>): Endpoint => {
    const organization_id = organization === null ? null : organizations.resolve(organization).id
    const [found, another] = endpoints
      .list()
      .filter((one) => one.id === name || one.name === name)
      .filter((one) => organization_id === null || one.organization_id === organization_id)
    if (found === undefined)
      throw new Refusal(
        404,
        'unknown_endpoint',
        `there is no endpoint ${name.slice(0, 60)}; windfall webhooks list shows them`,
      )
    if (another === undefined) return found
    const detail = `several organizations have an endpoint ${name}; name one with --organization`
    throw new Refusal(409, 'ambiguous_endpoint', detail)
  }
}

function endpointVerbs(windfall: Windfall): Verbs {
  const { store, audit, forwarding, outgoing, organizations, http } = windfall
  const requests = openEndpointRequests(windfall)
  const describe = openDescriptions(forwarding)
  const find = openFinding(windfall)

  async function add({ organization: slug, ...body }: v.InferOutput<typeof NewEndpoint>) {
    const { id: organization_id } = organizations.resolve(slug)
    const settings = await requests.newEndpoint(body, { organization_id, source: 'command line' })
    const { endpoint, secret } = await store.commit(() => {
      const created = forwarding.endpoints.create(settings)
      const { id: subject, name: detail } = created.endpoint
      audit.note({ ...COMMAND_LINE, action: 'endpoint.made', subject, detail })
      return created
    })
    return { endpoint: describe.endpoint(endpoint), secret }
  }

  const rotate = ({ overlap_hours, ...name }: v.InferOutput<typeof Rotation>) =>
    store.commit(() => {
      const { id, name: detail } = find(name)
      audit.note({ ...COMMAND_LINE, action: 'endpoint.rotated', subject: id, detail })
      const { endpoint, secret } = forwarding.endpoints.rotate(id, overlap_hours * HOUR_MS)
      return { endpoint: describe.endpoint(endpoint), secret }
    })

  const remove = (name: v.InferOutput<typeof Named>) =>
    store.commit(() => {
      const { id, name: detail } = find(name)
      audit.note({ ...COMMAND_LINE, action: 'endpoint.deleted', subject: id, detail })
      return { name: detail, dropped: forwarding.endpoints.remove(id) }
    })

  const list = () => ({
    endpoints: forwarding.endpoints.list().map(describe.endpoint),
    held: outgoing.held.state(),
    is_serving: http.servingSince() !== null,
  })

  return {
    'webhooks.add': verb(NewEndpoint, add),
    'webhooks.list': verb(v.object({}), list),
    'webhooks.show': verb(Named, (name) => describe.endpoint(find(name))),
    'webhooks.rotate': verb(Rotation, rotate),
    'webhooks.remove': verb(Named, remove),
    'webhooks.findings.list': verb(v.object({}), () => ({ findings: forwarding.findings() })),
  }
}

function stateVerbs(windfall: Windfall): Verbs {
  const { store, clock, audit, forwarding } = windfall
  const describe = openDescriptions(forwarding)
  const find = openFinding(windfall)

  const pause = (name: v.InferOutput<typeof Named>) =>
    store.commit(() => {
      const paused = forwarding.endpoints.pause(find(name).id)
      audit.note({ ...COMMAND_LINE, action: 'endpoint.paused', subject: paused.id, detail: paused.name })
      return describe.endpoint(paused)
    })

  const resume = ({ from, ...name }: v.InferOutput<typeof Resumption>) =>
    store.commit(() => {
      const resumed = forwarding.endpoints.resume(find(name).id, from)
      const detail = `${resumed.name}: ${from === 'now' ? 'from now' : 'what waited'}`
      audit.note({ ...COMMAND_LINE, action: 'endpoint.resumed', subject: resumed.id, detail })
      return describe.endpoint(resumed)
    })

  async function dismiss(name: v.InferOutput<typeof Named>) {
    const { id, name: endpoint } = find(name)
    const commit = (work: (actor: AuditActor) => number) => store.commit(() => work(COMMAND_LINE))
    const dismissed = await dismissLosses({ forwarding, audit, commit }, id, clock())
    return { name: endpoint, dismissed }
  }

  async function test({ type, app_user_id, ...name }: v.InferOutput<typeof TestEvent>) {
    const { id, name: label } = find(name)
    const detail = `${label}: ${type}`
    await store.commit(() => audit.note({ ...COMMAND_LINE, action: 'endpoint.tested', subject: id, detail }))
    return openDeliveryDescriptions(windfall).delivery(
      await sendTestEvent(forwarding, id, { type, app_user_id }),
      true,
    )
  }

  return {
    'webhooks.pause': verb(Named, pause),
    'webhooks.resume': verb(Resumption, resume),
    'webhooks.dismiss': verb(Named, dismiss),
    'webhooks.test': verb(TestEvent, test),
  }
}
const TestEvent = v.object({ ...named, ...TestSelection })

function replayVerbs(windfall: Windfall): Verbs {
  const { store, clock, audit, apps, http, forwarding, outgoing } = windfall
  const { replays } = forwarding
  const find = openFinding(windfall)

  function select({ name, organization: slug, since, until, ...selection }: v.InferOutput<typeof Replay>) {
    const endpoint = find({ name, organization: slug })
    const now = clock()
    const from_at = since === null ? selection.from_at : instantSince(since, now)
    const until_at = until === null ? selection.until_at : instantSince(until, now)
    return { endpoint, filter: replayFilterOf(apps, endpoint, { ...selection, from_at, until_at }) }
  }

  function preview(request: v.InferOutput<typeof Replay>) {
    const { endpoint, filter } = select(request)
    return replays.preview(endpoint, filter)
  }

  const start = (request: v.InferOutput<typeof Replay>) =>
    store.commit(() => {
      const { endpoint, filter } = select(request)
      const replay = replays.start(endpoint, filter, COMMAND_LINE.actor)
      const { id: subject } = replay
      audit.note({ ...COMMAND_LINE, action: 'replay.started', subject, detail: endpoint.name })
      store.afterCommit(forwarding.wake)
      return replay
    })

  const stop = ({ id }: v.InferOutput<typeof ById>) =>
    store.commit(() => {
      const { state, waiting } = replays.get(id)
      if (state === 'running' || waiting > 0)
        audit.note({ ...COMMAND_LINE, action: 'replay.stopped', subject: id })
      return replays.stop(id)
    })

  /** The progress of a replay, what waits of it, and what it waits for: a server, held requests, or its endpoint. */
  function status({ id }: v.InferOutput<typeof ById>) {
    const replay = replays.get(id)
    const endpoint_state = forwarding.log.endpoint(replay.endpoint_id)?.state ?? null
    const is_serving = http.servingSince() !== null
    return {
      replay,
      waits: replays.waitsOf(id),
      endpoint_state,
      is_serving,
      is_held: outgoing.held.state() !== null,
    }
  }

  return {
    'webhooks.preview.show': verb(Replay, preview),
    'webhooks.replay': verb(Replay, start),
    'webhooks.replay.status': verb(ById, status),
    'webhooks.replay.stop': verb(ById, stop),
  }
}

function retryVerbs(windfall: Windfall): Verbs {
  const { store, http, forwarding } = windfall
  const { log } = forwarding
  const describe = openDescriptions(forwarding)
  const find = openFinding(windfall)
  const isServing = () => http.servingSince() !== null

  async function retry(name: v.InferOutput<typeof Named>) {
    const endpoint = await store.commit(() => retryEndpoint(windfall, find(name).id, COMMAND_LINE))
    return { endpoint: describe.endpoint(endpoint), is_serving: isServing() }
  }

  async function retryOne({ id }: v.InferOutput<typeof DeliveryById>) {
    const { delivery, replay } = await store.commit(() => retryDelivery(windfall, id, COMMAND_LINE))
    const endpoint_state = log.endpoint(delivery.endpoint_id)?.state ?? null
    const described = openDeliveryDescriptions(windfall).delivery(delivery, true)
    return { delivery: described, replay, endpoint_state, is_serving: isServing() }
  }

  return { 'webhooks.retry': verb(Named, retry), 'webhooks.delivery.retry': verb(DeliveryById, retryOne) }
}

function logVerbs(windfall: Windfall): Verbs {
  const { forwarding, http, clock } = windfall
  const describe = openDeliveryDescriptions(windfall)
  const find = openFinding(windfall)

  /** Until when the receiver of an endpoint asked to wait. */
  function holdOf(id: string) {
    const { name: endpoint_name = id, hold_until_at = null } = forwarding.log.endpoint(id) ?? {}
    return hold_until_at === null || isReached(hold_until_at, clock())
      ? []
      : [{ endpoint_name, hold_until_at }]
  }

  async function page({ name, organization: slug, state, type, limit }: v.InferOutput<typeof LogQuery>) {
    const endpoint_id = name === null ? null : find({ name, organization: slug }).id
    const everything = { organization_id: null, apps: null, event_id: null, customers: null, before: null }
    const rows = await forwarding.log.page({ ...everything, endpoint_id, state, type, limit })
    const nameOf = (id: string) => forwarding.log.endpoint(id)?.name ?? id
    const stateOf = (id: string) => forwarding.log.endpoint(id)?.state ?? null
    const deliveries = describe
      .summaries(rows)
      .map((one) => ({
        ...one,
        endpoint_name: nameOf(one.endpoint_id),
        endpoint_state: stateOf(one.endpoint_id),
      }))
    const waiting = deliveries.filter(({ state: now }) => now === 'waiting')
    const holds = [...new Set(waiting.map((one) => one.endpoint_id))].flatMap(holdOf)
    return { deliveries, holds, is_serving: http.servingSince() !== null }
  }

  function show({ id }: v.InferOutput<typeof DeliveryById>) {
    const delivery = forwarding.log.delivery(id)
    if (delivery !== null) return describe.delivery(delivery, true)
    throw new Refusal(404, 'unknown_delivery', `there is no delivery ${id}; windfall webhooks log lists them`)
  }

  return { 'webhooks.log.list': verb(LogQuery, page), 'webhooks.delivery.show': verb(DeliveryById, show) }
}

/** The expected content of a database, derived from the calls only. */
import { createHash } from 'node:crypto'
import type { Step } from '../../src/demo/world/steps.ts'
import type { Call } from './load.ts'

type Notification = Extract<Step, { kind: 'notification' }>
type Identify = Extract<Step, { kind: 'identify' }>
type Attribute = Extract<Step, { kind: 'attribute' }>

export type User = { os_version: string | null; locale: string | null; attributes: Record<string, unknown> }
export type Link = { app_user_id: string; proved_app_user_id: string | null }

/** A row's allowed states: `now` after the last answered call, `next` after a call that has no answer yet. */
export type Held<T> = { now: T | null; next: T | null }

/** Identifies a signed payload by the hash of its payload part. */
const factOf = (jws: string): string =>
  createHash('sha256')
    .update(jws.split('.')[1] ?? '')
    .digest('hex')

const userAfter = (user: User | null, { body }: Identify): User => ({
  os_version: body.osVersion ?? user?.os_version ?? null,
  locale: body.locale ?? user?.locale ?? null,
  attributes: { ...user?.attributes, ...body.attributes },
})

const linkAfter = (link: Link | null, { body, proof }: Attribute): Link => ({
  app_user_id: body.appUserId,
  proved_app_user_id: proof === null ? (link?.proved_app_user_id ?? null) : body.appUserId,
})

/** A sent payload. `uuid` is its notification's. `texts` has several items if the payload was signed several times. */
type Signed = { texts: Set<string>; bundle_id: string; uuid: string | null; answered: boolean }

function signedIn(step: Step): { text: string; bundle_id: string; uuid: string | null } | null {
  const { kind, bundle_id, body } = step
  if (kind === 'notification')
    return { text: body.signedPayload, bundle_id, uuid: step.payload.notificationUUID }
  return kind === 'attribute' && body.jws !== undefined ? { text: body.jws, bundle_id, uuid: null } : null
}

/** Returns the entry of a map; creates it if it does not exist. */
function heldIn<T>(map: Map<string, Held<T>>, key: string): Held<T> {
  const held = map.get(key) ?? { now: null, next: null }
  map.set(key, held)
  return held
}

export function openModel() {
  const users = new Map<string, Held<User>>()
  const links = new Map<string, Held<Link>>()
  /** The sent notifications by uuid. */
  const notifications = new Map<string, Notification>()
  /** The sent signed payloads by the hash of the payload part. */
  const signed = new Map<string, Signed>()

  const userOf = ({ bundle_id, body }: Identify): Held<User> =>
    heldIn(users, `${bundle_id} ${body.appUserId}`)

  const linkOf = ({ bundle_id, body }: Attribute): Held<Link> => {
    const store = body.platform === 'android' ? 'google' : 'apple'
    return heldIn(links, `${bundle_id} ${store} ${body.originalTransactionId ?? body.purchaseToken}`)
  }

  /** Records that a call is sent: its rows may exist from now on. */
  function sending({ step }: Call): void {
    if (step.kind === 'notification') notifications.set(step.payload.notificationUUID, step)
    if (step.kind === 'identify') userOf(step).next = userAfter(userOf(step).now, step)
    if (step.kind === 'attribute') linkOf(step).next = linkAfter(linkOf(step).now, step)
    const sent = signedIn(step)
    if (sent === null) return
    const { text, ...of } = sent
    const known = signed.get(factOf(text)) ?? { ...of, texts: new Set(), answered: false }
    signed.set(factOf(text), known)
    known.texts.add(text)
  }

  /** Records that a call was answered with 2xx: its rows must exist from now on. */
  function answered({ step }: Call): void {
    if (step.kind === 'identify') Object.assign(userOf(step), { now: userOf(step).next, next: null })
    if (step.kind === 'attribute') Object.assign(linkOf(step), { now: linkOf(step).next, next: null })
    const known = signed.get(factOf(signedIn(step)?.text ?? ''))
    if (known) known.answered = true
  }

  return { users, links, notifications, signed, sending, answered }
}

export type Model = ReturnType<typeof openModel>

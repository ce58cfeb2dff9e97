/** The steps of a simulation: Apple's notifications and the SDK calls of the apps. */
import type { Environment } from '../../apple/payloads.ts'
import type { Sign, SignAsync } from '../signing/signatures.ts'
import {
  signNotification,
  signNotificationAsync,
  type TransactionBody,
  type UnsignedNotification,
} from './unsigned.ts'

export type Scalar = string | number | boolean | null

/** POST /api/sdk/v1/identify. */
type IdentifyBody = {
  appUserId: string
  bundleId: string
  platform: string
  osVersion?: string
  deviceModel?: string
  locale?: string
  attributes?: Record<string, Scalar>
}

/** POST /api/sdk/v1/attribute. */
export type AttributeBody = {
  appUserId: string
  bundleId: string
  originalTransactionId?: string
  purchaseToken?: string
  productId?: string
  platform: string
  jws?: string
}

type NotificationStep = { kind: 'notification'; environment: Environment; payload: UnsignedNotification }
type IdentifyStep = { kind: 'identify'; body: IdentifyBody; proof: null }
type AttributeStep = {
  kind: 'attribute'
  /** The unsigned payload of the signed transaction in the call. */
  payload?: TransactionBody | undefined
  proof: 'purchase' | null
}

/** `at` is the time of delivery in milliseconds since the epoch. `bundle_id` names the app, also on Android. */
type StepFields = { at: number; bundle_id: string }

/** A step before it is signed. */
export type Draft = StepFields & (NotificationStep | IdentifyStep | (AttributeStep & { body: AttributeBody }))

/** A signed step. `body` is the HTTP body. `payload` is the signed payload, for tests that change and sign it again. */
export type Step = StepFields &
  (
    | (NotificationStep & { body: { signedPayload: string } })
    | IdentifyStep
    | (AttributeStep & { body: AttributeBody })
  )

/** Signs a draft. */
export function signStep(draft: Draft, sign: Sign): Step {
  if (draft.kind === 'notification') return { ...draft, body: signNotification(draft.payload, sign) }
  if (draft.kind === 'identify' || draft.payload === undefined) return draft
  return { ...draft, body: { ...draft.body, jws: sign(draft.payload) } }
}

/** The same as `signStep`, with an asynchronous `sign`. */
export async function signStepAsync(draft: Draft, sign: SignAsync): Promise<Step> {
  if (draft.kind === 'notification')
    return { ...draft, body: await signNotificationAsync(draft.payload, sign) }
  if (draft.kind === 'identify' || draft.payload === undefined) return draft
  return { ...draft, body: { ...draft.body, jws: await sign(draft.payload) } }
}

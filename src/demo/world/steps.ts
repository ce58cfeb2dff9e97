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

type NotificationPart = { kind: 'notification'; environment: Environment; payload: UnsignedNotification }
type IdentifyPart = { kind: 'identify'; body: IdentifyBody; proof: null }
type AttributePart = {
  kind: 'attribute'
  /** The signed transaction that comes with the call, before it is signed. */
  payload?: TransactionBody | undefined
  proof: 'purchase' | null
}

/** `at`: when it is delivered, in milliseconds since the epoch. `bundle_id` is the app's, on Android too. */
type Common = { at: number; bundle_id: string }

/** Decided, not signed yet. */
export type Draft = Common & (NotificationPart | IdentifyPart | (AttributePart & { body: AttributeBody }))

/** `body` is the HTTP body exactly; `payload` is what was signed, for tests that tamper with it and sign again. */
export type Step = Common &
  (
    | (NotificationPart & { body: { signedPayload: string } })
    | IdentifyPart
    | (AttributePart & { body: AttributeBody })
  )

/** The draft with its signatures made. */
export function signStep(draft: Draft, sign: Sign): Step {
  if (draft.kind === 'notification') return { ...draft, body: signNotification(draft.payload, sign) }
  if (draft.kind === 'identify' || draft.payload === undefined) return draft
  return { ...draft, body: { ...draft.body, jws: sign(draft.payload) } }
}

/** The same, where signing takes its time. */
export async function signStepAsync(draft: Draft, sign: SignAsync): Promise<Step> {
  if (draft.kind === 'notification')
    return { ...draft, body: await signNotificationAsync(draft.payload, sign) }
  if (draft.kind === 'identify' || draft.payload === undefined) return draft
  return { ...draft, body: { ...draft.body, jws: await sign(draft.payload) } }
}

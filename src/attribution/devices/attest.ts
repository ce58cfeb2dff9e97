/** Everything about attested devices: enrolment, tokens, assertions, and the counts of labelled calls. */
import { X509Certificate } from 'node:crypto'
import type { AttestEnvironment } from '../../apple/attest/attestation.ts'
import { APP_ATTEST_ROOTS } from '../../apple/attest/roots.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { Caller } from '../callers.ts'
import type { Erasures } from '../erasure/erasure.ts'
import type { CallLabel } from '../users.ts'
import { type AssertionPolicy, checkAssertion, type SentAssertion } from './assertions.ts'
import { openAttestedOnly } from './attested_only.ts'
import { type CountedCall, openCallCounts } from './call_counts.ts'
import { openChallenges } from './challenges.ts'
import { openDeviceList } from './device_list.ts'
import { openDeviceUsers } from './device_users.ts'
import { openDevices } from './devices.ts'
import { openEnrolment } from './enrolment.ts'
import { openPrefixSuggestions } from './prefix_suggestions.ts'

type AttestSettings = Readonly<{ accept: readonly AttestEnvironment[]; assertions: AssertionPolicy }>

/** `roots` are those of attestations, as PEM; by default Apple's. */
type Deps = {
  store: Store
  clock: Clock
  erasures: Pick<Erasures, 'onErase'>
  roots: readonly string[] | undefined
  /** The configuration. It is read on each call, because a reload can change it. */
  current: { readonly config: { readonly attest: AttestSettings } }
}

/** An SDK call that is being accepted: who calls, the user it names, and the counter of its checked assertion. */
type AcceptedCall = {
  caller: Caller
  endpoint: CountedCall['endpoint']
  app_user_id: string
  assertion: { wasSent: boolean; counter: number | null }
}

export type Attest = ReturnType<typeof openAttest>

/** Opens the devices. */
export function openAttest({ store, clock, erasures, current, ...options }: Deps) {
  const challenges = openChallenges(store, clock)
  const devices = openDevices(store, clock)
  const deviceUsers = openDeviceUsers(store, clock)
  const counts = openCallCounts(store, clock)
  const attestedOnly = openAttestedOnly(store, clock)
  const suggestions = openPrefixSuggestions()
  const roots = parsedOnce(options.roots ?? APP_ATTEST_ROOTS)
  const accepted = () => current.config.attest.accept
  const enrolment = openEnrolment({ store, clock, challenges, devices, suggestions, roots, accepted })
  erasures.onErase(deviceUsers.forget)

  /**
   * Checks the assertion of a call. Only calls of devices have one; others are not checked.
   *
   * @throws Refusal 401 `assertion_required`, 401 `invalid_assertion`.
   */
  async function checkCall({ device }: Caller, sent: SentAssertion | null) {
    const counter = device && (await checkAssertion(device, sent, current.config.attest.assertions))
    return { wasSent: device !== null && sent !== null, counter }
  }

  /**
   * Applies a call with `apply`, records its device, and counts it by its label, inside the unit of work of the call.
   *
   * @throws Refusal 401 `invalid_key`, 409 `stale_assertion`, and whatever `apply` throws.
   */
  function accept<Result extends CallLabel>(call: AcceptedCall, apply: () => Result): Result {
    const { device } = call.caller
    if (device !== null) {
      devices.recordCall(device, call.assertion.counter)
      deviceUsers.record(device.id, call.app_user_id)
    }
    const result = apply()
    counts.count(countedCall(call, result))
    return result
  }

  /** Deletes what is too old, inside a unit of work. Returns how many devices. */
  function expire(): number {
    enrolment.expire()
    counts.expire()
    return devices.expire()
  }

  const { enrol } = enrolment
  const list = openDeviceList(store)
  const calls = { counts, checkCall, accept }
  return { challenges, devices, deviceUsers, list, suggestions, attestedOnly, enrol, ...calls, expire }
}

function countedCall(
  { caller, endpoint, assertion: { wasSent, counter } }: AcceptedCall,
  { verification, unattested }: CallLabel,
): CountedCall {
  const checked = counter === null ? 'sent' : 'verified'
  const assertion = wasSent ? checked : 'none'
  return {
    app_id: caller.app.id,
    endpoint,
    credential: caller.credential,
    assertion,
    verification,
    unattested,
  }
}

/** Parses certificates when they are first needed: a start needs none. */
function parsedOnce(pems: readonly string[]): () => readonly X509Certificate[] {
  let parsed: readonly X509Certificate[] | null = null
  return () => {
    parsed ??= pems.map((pem) => new X509Certificate(pem))
    return parsed
  }
}

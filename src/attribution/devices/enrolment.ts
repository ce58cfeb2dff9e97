/** Enrols devices: exchanges an attestation of App Attest for a device token. */
import type { X509Certificate } from 'node:crypto'
import { AttestError } from '../../apple/attest/attest_error.ts'
import type { AttestEnvironment } from '../../apple/attest/attestation.ts'
import type { App } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { sha256Of } from '../../ids.ts'
import type { Store } from '../../store/store.ts'
import { type Challenges, openUsedChallenges } from './challenges.ts'
import { attestationFailed, type Devices } from './devices.ts'
import type { PrefixSuggestions } from './prefix_suggestions.ts'

/** The decoded fields of a request. `key_id` is the SHA-256 of the key. */
type EnrolmentRequest = { key_id: Buffer; attestation: Buffer; challenge: Buffer }

type Deps = {
  store: Store
  clock: Clock
  challenges: Pick<Challenges, 'faultOf'>
  devices: Pick<Devices, 'enrol'>
  suggestions: Pick<PrefixSuggestions, 'note' | 'clear'>
  /** The trusted roots of attestations. */
  roots: () => readonly X509Certificate[]
  /** The environments whose devices can enrol. */
  accepted: () => readonly AttestEnvironment[]
}

export type Enrolment = ReturnType<typeof openEnrolment>

/** Opens the enrolment. */
export function openEnrolment({ store, clock, challenges, devices, suggestions, roots, accepted }: Deps) {
  const used = openUsedChallenges(store, clock)

  /**
   * Verifies an attestation and returns a device token. `appOf` finds the app, after the challenge is checked. The same attestation with the same challenge may be
   * repeated within the challenge's five minutes, because the answer may have been lost. A failure changes nothing.
   *
   * @throws Refusal 403 `attestation_failed` with the step; 404 `unknown_app` while the app's prefix is not known.
   */
  async function enrol(appOf: () => App, request: EnrolmentRequest): Promise<string> {
    const fault = challenges.faultOf(request.challenge)
    if (fault !== null) throw attestationFailed('challenge', fault)
    const app = appOf()
    const app_identifier = await identifierOf(app, request)
    const attested = await verify(app, app_identifier, request)
    const key_id = request.key_id.toString('base64')
    return store.commit(() => {
      if (!used.use(request.challenge, request.attestation))
        throw attestationFailed('challenge', 'the challenge was used for another attestation')
      return devices.enrol({ ...attested, app, key_id, app_identifier })
    })
  }

  async function identifierOf(app: App, request: EnrolmentRequest): Promise<string> {
    if (app.team_id !== null) return `${app.team_id}.${app.bundle_id}`
    await suggest(app, request)
    throw new Refusal(
      404,
      'unknown_app',
      `the App ID prefix of ${app.bundle_id} is not known yet: connect an App Store Connect key, or set team_id`,
    )
  }

  async function verify(app: App, app_id: string, { attestation, key_id, challenge }: EnrolmentRequest) {
    // The decoders are large, and a start needs none of them.
    const { verifyAttestation } = await import('../../apple/attest/attestation.ts')
    const client_data_hash = sha256Of(challenge)
    try {
      const claim = { attestation, key_id, client_data_hash, app_id, accept: accepted(), at: clock() }
      const attested = verifyAttestation(claim, roots())
      suggestions.clear(app.id)
      return attested
    } catch (error) {
      if (!(error instanceof AttestError)) throw error
      if (error.step === 'app_id') await suggest(app, { attestation })
      throw attestationFailed(error.step, error.message)
    }
  }

  /** Notes the prefix that the certificate names, if it is one of this bundle id. */
  async function suggest(app: App, { attestation }: Pick<EnrolmentRequest, 'attestation'>): Promise<void> {
    const { suggestedAppId } = await import('../../apple/attest/attestation.ts')
    suggestions.note(app, suggestedAppId(attestation, roots(), clock()))
  }

  return { enrol, expire: used.expire }
}

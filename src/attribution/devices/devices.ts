/** Enrolled devices: one row for each app and attested key, with the hash of its token. */
import { randomBytes } from 'node:crypto'
import type { AttestEnvironment, Attested } from '../../apple/attest/attestation.ts'
import type { App } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import { addDays, dayOfUtc } from '../../days.ts'
import { Refusal } from '../../errors.ts'
import { newId, sha256Of } from '../../ids.ts'
import type { Store } from '../../store/store.ts'

export const DEVICE_TOKEN_PREFIX = 'dt_'
const TOKEN_BYTES = 32
/** A device that was not used for this long is deleted. */
const UNUSED_DAYS = 400

type StoredDevice = {
  id: string
  app_id: string
  key_id: string
  public_key: Buffer
  app_identifier: string
  environment: AttestEnvironment
  category: number | null
  bundle_version: string | null
  os_version: string | null
  details: string
  receipt: Buffer
  counter: number
  token_hash: Buffer | null
  enrolled_at: number
  used_on: string
  revoked_at: number | null
}

/** A device whose token is valid. */
export type Device = Pick<
  StoredDevice,
  'id' | 'app_id' | 'public_key' | 'app_identifier' | 'environment' | 'counter' | 'used_on'
> & { token_hash: Buffer }

/** What an attestation proved about a device of an app. */
export type Enrolled = Attested & { app: App; key_id: string; app_identifier: string }

export type Devices = ReturnType<typeof openDevices>

/** Opens the devices. */
export function openDevices(store: Store, clock: Clock) {
  const { byHash, byKey, insert, replaceToken, advance, touch, endToken, dropUsers, dropUnused } =
    prepareStatements(store)

  /** The device with this token; null if the token is unknown or ended. */
  const findByToken = (token: string): Device | null => byHash.get(sha256Of(token)) ?? null

  /**
   * Stores an attested key with a new token, inside a unit of work, and returns the token. A known key gets a new token
   * too, which ends its old one; its counter stays.
   *
   * @throws Refusal 403 `attestation_failed` if the device was revoked, or if the key id names another key.
   */
  function enrol(enrolled: Enrolled): string {
    const token = DEVICE_TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString('base64url')
    const { app, key_id, public_key } = enrolled
    const known = byKey.get(app.id, key_id)
    if (known === undefined) insert.run(rowOf(enrolled, sha256Of(token), clock()))
    else if (known.revoked_at !== null) throw attestationFailed('key_id', 'the owner revoked this device')
    else if (!known.public_key.equals(public_key))
      throw attestationFailed('key_id', 'the key id belongs to another key')
    else replaceToken.run(sha256Of(token), today(), known.id)
    return token
  }

  /**
   * Records an accepted call of a device, inside the unit of work of the call. `counter` is that of the call's
   * assertion, null without one.
   *
   * @throws Refusal 401 `invalid_key` if the token ended since the call began; 409 `stale_assertion` if the counter is
   * not above the stored one.
   */
  function recordCall({ id, token_hash, used_on }: Device, counter: number | null): void {
    if (byHash.get(token_hash)?.id !== id) throw tokenEnded()
    if (counter !== null && advance.run(counter, id, counter).changes === 0)
      throw new Refusal(
        409,
        'stale_assertion',
        'a later assertion of this key was accepted already; sign the call again',
      )
    if (used_on < today()) touch.run(today(), id)
  }

  /** Ends the token of a device for good, inside a unit of work. Idempotent. */
  const revoke = (id: string): void => void endToken.run(clock(), id)

  /** Deletes devices that were not used for 400 days, inside a unit of work. Returns how many. */
  function expire(): number {
    const before = addDays(today(), -UNUSED_DAYS)
    dropUsers.run(before)
    return dropUnused.run(before).changes
  }

  const today = (): string => dayOfUtc(clock())

  return { findByToken, enrol, recordCall, revoke, expire }
}

function prepareStatements(store: Store) {
  const byHash = store.prepare<[Buffer], Device>(`
    select id, app_id, public_key, app_identifier, environment, counter, used_on, token_hash
    from devices where token_hash = ?`)
  const byKey = store.prepare<[string, string], StoredDevice>(
    'select * from devices where app_id = ? and key_id = ?',
  )
  const insert = store.prepare<StoredDevice>(`
    insert into devices ( id,  app_id,  key_id,  public_key,  app_identifier,  environment,  category,  bundle_version,  os_version,  details,  receipt,  counter,  token_hash,  enrolled_at,  used_on,  revoked_at)
    values              (:id, :app_id, :key_id, :public_key, :app_identifier, :environment, :category, :bundle_version, :os_version, :details, :receipt, :counter, :token_hash, :enrolled_at, :used_on, :revoked_at)`)
  const replaceToken = store.prepare<[Buffer, string, string]>(
    'update devices set token_hash = ?, used_on = ? where id = ?',
  )
  const advance = store.prepare<[number, string, number]>(
    'update devices set counter = ? where id = ? and counter < ?',
  )
  const touch = store.prepare<[string, string]>('update devices set used_on = ? where id = ?')
  const endToken = store.prepare<[number, string]>(
    'update devices set token_hash = null, revoked_at = ? where id = ? and revoked_at is null',
  )
  const dropUsers = store.prepare<[string]>(
    'delete from device_users where device_id in (select id from devices where used_on < ?)',
  )
  const dropUnused = store.prepare<[string]>('delete from devices where used_on < ?')
  return { byHash, byKey, insert, replaceToken, advance, touch, endToken, dropUsers, dropUnused }
}

function rowOf(enrolled: Enrolled, token_hash: Buffer, now: number): StoredDevice {
  const { app, key_id, app_identifier, public_key, environment, details, os_version, receipt } = enrolled
  return {
    id: newId('dev'),
    app_id: app.id,
    key_id,
    public_key,
    app_identifier,
    environment,
    category: details.category,
    bundle_version: details.bundle_version,
    os_version,
    details: JSON.stringify(details.other),
    receipt,
    counter: 0,
    token_hash,
    enrolled_at: now,
    used_on: dayOfUtc(now),
    revoked_at: null,
  }
}

/** Refusal 403 `attestation_failed`, which names the step that failed. */
export const attestationFailed = (step: string, message: string): Refusal =>
  new Refusal(403, 'attestation_failed', `${step}: ${message}`)

/** Refusal 401 `invalid_key` for a device token that is unknown or ended. */
export const tokenEnded = (): Refusal =>
  new Refusal(401, 'invalid_key', 'the device token is unknown or was revoked; enrol the device again')

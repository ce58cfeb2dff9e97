/** Recovery codes, which replace a code of the authenticator app. Each works once; only hashes are stored. */
import { randomInt } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { sha256Of } from '../../ids.ts'
import type { Store } from '../../store/store.ts'

const CODES = 10
/** Crockford's base32: no i, l, o and u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
/** 16 characters of 5 bits: too many to guess, so that a fast hash is enough. */
const GROUPS = 4
const GROUP_LENGTH = 4

/** Opens the recovery codes. */
export function openRecoveryCodes(store: Store, clock: Clock) {
  const insert = store.prepare<[Buffer]>('insert into recovery_codes (hash) values (?)')
  const findUnused = store.prepare<[Buffer], { hash: Buffer }>(
    'select hash from recovery_codes where hash = ? and used_at is null',
  )
  const updateUsedAt = store.prepare<[number, Buffer]>(
    'update recovery_codes set used_at = ? where hash = ? and used_at is null',
  )
  const countUnused = store.prepare<[], { codes: number }>(
    'select count(*) as codes from recovery_codes where used_at is null',
  )
  const removeAll = store.prepare<[]>('delete from recovery_codes')

  /** Replaces all codes and returns the new ones, which are readable only here. Inside a unit of work. */
  function replace(): string[] {
    removeAll.run()
    const codes = Array.from({ length: CODES }, newCode)
    for (const code of codes) insert.run(hashOf(code))
    return codes
  }

  return {
    replace,
    isUnused: (code: string): boolean => findUnused.get(hashOf(code)) !== undefined,
    /** Uses a code. False if it was used before, or does not exist. Inside a unit of work. */
    use: (code: string): boolean => updateUsedAt.run(clock(), hashOf(code)).changes === 1,
    /** How many codes are unused. */
    left: (): number => countUnused.get()?.codes ?? 0,
    /** Inside a unit of work. */
    removeAll: (): void => void removeAll.run(),
  }
}

const newCode = (): string =>
  Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join(''),
  ).join('-')

/** The hash of a code, however it was written: in capitals, without hyphens, or with o for 0 and l or i for 1. */
const hashOf = (code: string): Buffer =>
  sha256Of(code.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1'))

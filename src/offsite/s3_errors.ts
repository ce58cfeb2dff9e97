/** Why a request to a bucket failed, and what to do. */
import { durationText } from '../health/findings.ts'
import type { Place } from './place.ts'
import { fieldOf } from './xml.ts'

/** A failed request to a bucket. The message says in whole sentences what happened. `status` is null without an answer. */
export class S3Error extends Error {
  override readonly name = 'S3Error'
  readonly status: number | null

  constructor(words: string, status: number | null = null) {
    super(words)
    this.status = status
  }
}

/** An answer that refuses a request. `action` is what was tried, as an infinitive. */
type Refused = Readonly<{ status: number; date: string; text: string; action: string }>

const MAX_MESSAGE = 300
const SKEWED = /^(RequestTimeTooSkewed|RequestExpired)$/
const ELSEWHERE =
  /^(PermanentRedirect|TemporaryRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/
const ALTERED = /^(XAmzContentSHA256Mismatch|XAmzContentChecksumMismatch|BadDigest)$/

/** The error for an answer with a status of 300 or more. `now` is in ms since the epoch. */
export function refusedError(refused: Refused, place: Place, now: number): S3Error {
  return new S3Error(wordsOf(refused, place, now), refused.status)
}

function wordsOf({ status, date, text, action }: Refused, place: Place, now: number): string {
  const { host, bucket, access_key_id } = place
  const code = fieldOf(text, 'Code') ?? ''
  if (code === 'InvalidAccessKeyId')
    return `${host} does not know the access key ${access_key_id}. Correct access_key_id in [backup], or create a key.`
  if (code === 'SignatureDoesNotMatch')
    return `${host} refuses the signature: the secret is not that of the access key ${access_key_id}. Correct secret_access_key in [backup].`
  if (SKEWED.test(code)) return skewWords(Date.parse(date), place, now)
  if (code === 'NoSuchBucket')
    return `There is no bucket ${bucket} at ${host}. Create it, or correct to, endpoint and region in [backup].`
  if (ELSEWHERE.test(code) || status < 400) return regionWords(fieldOf(text, 'Region'), place)
  if (ALTERED.test(code)) return `What arrived at ${host} is not what was sent. Try again.`
  if (status === 403)
    return `${host} does not permit the access key ${access_key_id} to ${action} in the bucket ${bucket}. Permit it to list the bucket, and to read, write and delete objects.`
  if (status >= 500) return `${host} answered with status ${status}${code && ` (${code})`}. Try again later.`
  if (code !== '')
    return `${host} answered ${code}: ${(fieldOf(text, 'Message') ?? '').slice(0, MAX_MESSAGE)}`
  return status === 404 && text === ''
    ? `${host} has no such object in the bucket ${bucket}.`
    : `${host} answered with status ${status}, but not as S3 does. Correct endpoint in [backup].`
}

function skewWords(theirs: number, { host }: Place, now: number): string {
  if (Number.isNaN(theirs))
    return `The clock of this machine differs too much from that of ${host}. Synchronize it with NTP.`
  const direction = theirs > now ? 'behind' : 'ahead of'
  return `The clock of this machine is ${durationText(Math.abs(theirs - now))} ${direction} that of ${host}. Synchronize it with NTP.`
}

const regionWords = (region: string | null, { host, bucket }: Place): string =>
  region === null
    ? `${host} redirects requests for the bucket ${bucket}. Correct region and endpoint in [backup].`
    : `The bucket ${bucket} is in another region: set region = "${region}" in [backup].`
